"""The stages, in an order in which they can be made, and the tables of a store: those of ingest and one of each stage.

sentences ─┬─ amr ── label_vectors ─┐
           ├─ dependencies          ├─ metrics
           ├─ srl                   │
           └─ embeddings            │
pairs ──────────────────────────────┘

Every table is partitioned by `shard` and `fingerprint`; `rejects` by `stage` as well. Partition values live in the
Delta log, so what is committed is known without opening a file.
"""

from collections.abc import Mapping
from typing import Any

from features.schemas import LABELS, PAIRS, REJECTS, SENTENCES, Columns
from features.stages.amr import AMR_STAGE
from features.stages.dependencies import DEPENDENCY_STAGE
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from features.stages.metrics import METRIC_STAGE
from features.stages.srl import SRL_STAGE
from features.stages.stage import Stage

STAGES: Mapping[str, Stage[Any]] = {
    stage.name: stage
    for stage in (
        AMR_STAGE,
        DEPENDENCY_STAGE,
        SRL_STAGE,
        EMBEDDING_STAGE,
        LABEL_VECTOR_STAGE,
        METRIC_STAGE,
    )
}

SOURCES = ("sentences", "pairs", "labels")
"""The tables that ingest writes; the shards of sentences and of pairs define the work of the stages."""

TABLES: Mapping[str, Columns] = {
    "sentences": SENTENCES,
    "pairs": PAIRS,
    "labels": LABELS,
    **{stage.name: stage.columns for stage in STAGES.values()},
    "rejects": REJECTS,
}
"""Table → its columns."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "sentences": ("sentence_id",),
    "pairs": ("pair_id",),
    "labels": ("label_id",),
    **{stage.name: stage.key for stage in STAGES.values()},
}
"""Table → key of a row."""
