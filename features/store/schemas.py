"""The tables of the store: their columns, and what one row is.

Every table is partitioned by `shard` and `fingerprint`; `rejects` by `stage` as well. Partition values live in the
Delta log, so what is committed is known without opening a file.
"""

import polars as pl

METRIC_NAMES: tuple[str, ...] = (
    "smatch",
    "unlabeled",
    "frames",
    "concepts",
    "named_entities",
    "negations",
    "coreference",
    "srl",
    "wlk",
    "wwlk",
    "max_indegree",
    "max_outdegree",
    "max_degree",
    "root",
    "quantifiers",
)
"""The fifteen AMR metrics, in the order of their columns and of the facets of S3BERT."""

ALIGNED_METRICS: tuple[str, ...] = ("smatch", "unlabeled", "coreference", "srl")
"""Metrics found by an alignment; each has a column `<name>_optimal`: True where the optimum is proven."""

SENTENCES = pl.Schema({"sentence_id": pl.String, "text": pl.String})
"""A unique sentence, in the shard where it was first seen."""

PAIRS = pl.Schema(
    {
        "pair_id": pl.String,
        "corpus": pl.String,
        "split": pl.String,
        "kind": pl.String,
        "sentence_a": pl.String,
        "sentence_b": pl.String,
        "shard_a": pl.String,
        "shard_b": pl.String,
        "score": pl.Float64,
        "label": pl.String,
        "positive_id": pl.String,
    }
)
"""A pair of sentences. `shard_a` and `shard_b` name their sentence shards; `positive_id` is set on negatives only."""

AMR = pl.Schema(
    {
        "sentence_id": pl.String,
        "penman": pl.String,
        "parser": pl.String,
        "concepts": pl.List(pl.String),
        "attribute_nodes": pl.List(pl.Int32),
        "attribute_roles": pl.List(pl.String),
        "attribute_values": pl.List(pl.String),
        "relation_sources": pl.List(pl.Int32),
        "relation_roles": pl.List(pl.String),
        "relation_targets": pl.List(pl.Int32),
    }
)
"""One AMR of one sentence: as PENMAN, and decoded once. Node 0 is the root; roles stand **as written** (`:ARG0-of`,
without the colon), source first, so that every metric can take its own view of the triples; constants keep their quotes."""

DEPENDENCIES = pl.Schema(
    {
        "sentence_id": pl.String,
        "parser": pl.String,
        "tokens": pl.List(pl.String),
        "lemmas": pl.List(pl.String),
        "tags": pl.List(pl.String),
        "starts": pl.List(pl.Int32),
        "heads": pl.List(pl.Int32),
        "relations": pl.List(pl.String),
    }
)
"""One dependency tree. `starts` are character offsets; `heads` are token positions, a root's head is itself."""

EMBEDDINGS = pl.Schema({"sentence_id": pl.String, "vector": pl.List(pl.Float32)})
"""One sentence embedding by the teacher, unit length."""

LABEL_VECTORS = pl.Schema({"label": pl.String, "vector": pl.List(pl.Float32)})
"""The vector of one word that occurs in the labels of the shard's graphs. The same word has the same vector in every shard."""

METRICS = pl.Schema(
    {"pair_id": pl.String}
    | {name: pl.Float64 for name in METRIC_NAMES}
    | {f"{name}_optimal": pl.Boolean for name in ALIGNED_METRICS}
)
"""One pair, measured."""

REJECTS = pl.Schema({"entity_id": pl.String, "code": pl.String, "message": pl.String})
"""An entity that a stage could not process. `stage`, `shard` and `fingerprint` are partition values."""

TABLES: dict[str, pl.Schema] = {
    "sentences": SENTENCES,
    "pairs": PAIRS,
    "amr": AMR,
    "dependencies": DEPENDENCIES,
    "embeddings": EMBEDDINGS,
    "label_vectors": LABEL_VECTORS,
    "metrics": METRICS,
    "rejects": REJECTS,
}
