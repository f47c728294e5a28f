"""What one row of each table is: its columns; and what a stage returns for a shard, rows and rejects.

`features.stages.registry` has the tables themselves, `features.metrics.registry` the columns of `metrics`.

A bad row never fails a shard, so every entity that goes in comes out exactly once, in `rows` or in `rejects`
(label vectors are the exception: their rows are words, not sentences).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from features.core.types import RejectCode

Columns = dict[str, pl.DataType | type[pl.DataType]]

_WORDS = pl.List(pl.String)
_POSITIONS = pl.List(pl.Int32)
_VECTOR = pl.List(pl.Float32)

SENTENCES: Columns = {"sentence_id": pl.String, "text": pl.String}
"""A unique sentence, in the shard where it was first seen."""

PAIRS: Columns = {
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
"""A pair of sentences, with its human score, its human label, both or neither. `kind` is `positive` for a row of the
corpus, whatever its label. Ingest drew those that are `negative` (with an unrelated sentence, for the pair
`positive_id`) or `neighbour` (with a sentence near it by the embeddings).
`shard_a` and `shard_b` name their sentence shards."""

LABELS: Columns = dict.fromkeys(
    ("label_id", "corpus", "split", "sentence", "sentence_shard", "aspect", "label"), pl.String
)
"""One label of a text in one aspect: the task of a paper, the sentiment of a review. A text has one row per label.
`sentence` is the id of the text in `sentences`; `sentence_shard` names its shard there."""

AMR: Columns = {
    "sentence_id": pl.String,
    "penman": pl.String,
    "parser": pl.String,
    "concepts": _WORDS,
    "attribute_nodes": _POSITIONS,
    "attribute_roles": _WORDS,
    "attribute_values": _WORDS,
    "relation_sources": _POSITIONS,
    "relation_roles": _WORDS,
    "relation_targets": _POSITIONS,
}
"""One AMR of one sentence: as PENMAN, and decoded once. Node 0 is the root; roles stand **as written** (`ARG0-of`),
source first, so that every metric can take its own view of the triples; constants keep their quotes."""

DEPENDENCIES: Columns = {
    "sentence_id": pl.String,
    "parser": pl.String,
    "tokens": _WORDS,
    "lemmas": _WORDS,
    "tags": _WORDS,
    "starts": _POSITIONS,
    "heads": _POSITIONS,
    "relations": _WORDS,
}
"""One dependency tree. `starts` are character offsets; `heads` are token positions, a root's head is itself."""

SRL: Columns = {
    "sentence_id": pl.String,
    "parser": pl.String,
    "words": _WORDS,
    "predicates": _POSITIONS,
    "span_frames": _POSITIONS,
    "span_labels": _WORDS,
    "span_starts": _POSITIONS,
    "span_ends": _POSITIONS,
}
"""The semantic roles of one sentence. `predicates` are word positions, one per frame; each span has the number of its
frame, its role (`V` for the predicate itself), its first word, and the position after its last."""

EMBEDDINGS: Columns = {"sentence_id": pl.String, "vector": _VECTOR}
"""One sentence embedding by the teacher, of unit length."""

LABEL_VECTORS: Columns = {"label": pl.String, "vector": _VECTOR}
"""The vector of one word in the labels of the shard's graphs. A word has the same vector in every shard."""

REJECTS: Columns = {"entity_id": pl.String, "code": pl.String, "message": pl.String}
"""An entity that a stage could not process. `stage`, `shard` and `fingerprint` are partition values."""
INGEST = "ingest"
"""Their stage where they are rows of the corpora that could not be read."""


@dataclass(frozen=True, slots=True)
class Reject:
    """One entity that could not be processed: its id, or `file:line` where none could be made, and what was wrong."""

    entity_id: str
    code: RejectCode
    message: str


def rejects_frame(rejects: Sequence[Reject]) -> pl.DataFrame:
    """Return rejects as a table with the columns of `REJECTS`."""
    return pl.DataFrame(rejects, schema=REJECTS)


@dataclass(frozen=True, slots=True)
class StageOutput:
    """Rows and rejects of one shard of one stage."""

    rows: pl.DataFrame
    rejects: pl.DataFrame = field(default_factory=lambda: rejects_frame(()))
