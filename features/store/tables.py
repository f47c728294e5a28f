"""The tables of a store, from the stages that make them: their columns, their keys, and which may gain columns.

Every table is partitioned by `shard` and `fingerprint`; `rejects` by `stage` as well. Partition values live in the
Delta log, so what is committed is known without opening a file.
"""

from collections.abc import Mapping

from features.schemas import LABELS, PAIRS, REJECTS, SENTENCES, Columns
from features.stages.registry import STAGES

_SOURCES: Mapping[str, tuple[Columns, tuple[str, ...]]] = {
    "sentences": (SENTENCES, ("sentence_id",)),
    "pairs": (PAIRS, ("pair_id",)),
    "labels": (LABELS, ("label_id",)),
}
"""Tables that ingest writes → their columns and key."""

SOURCES = tuple(_SOURCES)
"""The tables that ingest writes; the shards of sentences and of pairs define the work of the stages."""

TABLES: Mapping[str, Columns] = {
    **{name: columns for name, (columns, _) in _SOURCES.items()},
    **{stage.name: stage.columns for stage in STAGES.values()},
    "rejects": REJECTS,
}
"""Table → its columns."""

KEYS: Mapping[str, tuple[str, ...]] = {
    **{name: key for name, (_, key) in _SOURCES.items()},
    **{stage.name: stage.key for stage in STAGES.values()},
}
"""Table → key of a row."""
