"""The tables of a store, from the stages that make them: their columns, their keys, and which may gain columns.

Every table is partitioned by `shard` and `fingerprint`; `rejects` by `stage` as well. Partition values live in the
Delta log, so what is committed is known without opening a file.
"""

from collections.abc import Mapping

from features.schemas import LABELS, PAIRS, REJECTS, SENTENCES, Columns
from features.stages.registry import STAGES

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
