"""What an ingest did, by corpus and split."""

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from features.types import Split


class _Report(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SplitReport(_Report):
    """Counts of one split of one corpus; rows = new + known + dropped + rejected + the skipped.

    Args:
        corpus: its name.
        split: the split.
        rows: rows that were read; for captions, pairs.
        new: pairs of the corpus, or texts with a new label, that were added.
        known: those that were stored before; texts whose labels an earlier row has given count too.
        dropped: pairs that were kept out because a sentence is in an evaluation set.
        rejected: rows that were wrong.
        skipped: rows that are no pair by design, by reason.
        repeats: exact repeats of a pair among new and known; all are kept.
        leaked: pairs with a sentence of an evaluation set, dropped or not.
        leaked_stored: those of them that were stored before the guard knew; only a new store is free of them.
        changed: known pairs whose score or label is another now; shards never change, so the stored one stands.
        negatives: negatives that were added.
        without_negative: positives that have none, because every sentence of the split is paired with theirs.
        labels: labels of texts that were added.
    """

    corpus: str
    split: Split
    rows: int = 0
    new: int = 0
    known: int = 0
    dropped: int = 0
    rejected: int = 0
    skipped: dict[str, int] = Field(default_factory=dict)
    repeats: int = 0
    leaked: int = 0
    leaked_stored: int = 0
    changed: int = 0
    negatives: int = 0
    without_negative: int = 0
    labels: int = 0


class LeakReport(_Report):
    """How much of an evaluation set is in a corpus.

    Args:
        corpus: name of the corpus.
        split: its split.
        evaluation: name of the evaluation set.
        pairs: pairs of the corpus with a sentence of the set.
        sentences: different sentences of the corpus that are in the set.
    """

    corpus: str
    split: Split
    evaluation: str
    pairs: int
    sentences: int


class ChangedJudgement(_Report):
    """A known pair or text whose score or label is another now.

    Args:
        pair_id: the pair, or the label of the text.
        origin: `file:line` of what was read now.
        stored_score: in the store.
        found_score: in the file.
        stored_label: in the store.
        found_label: in the file.
    """

    pair_id: str
    origin: str
    stored_score: float | None
    found_score: float | None
    stored_label: str | None
    found_label: str | None


class OverlapReport(_Report):
    """How many pairs of a split are in a split `train` too, in either order of their sentences.

    Args:
        corpus: name of the corpus with the split `train`.
        other_corpus: name of the other corpus; may be the same.
        other_split: its split, `dev` or `test`.
        pairs: different pairs of the other split.
        shared: those of them that are in `train`.
    """

    corpus: str
    other_corpus: str
    other_split: Split
    pairs: int
    shared: int

    def __str__(self) -> str:
        count = "All" if self.shared == self.pairs else f"{self.shared:,} of"
        return (
            f"{count} {self.pairs:,} pairs of {self.other_split} of {self.other_corpus!r} are in train of "
            f"{self.corpus!r} too: scores on them say nothing about new sentences; give each split pairs of its own."
        )


class FileReport(_Report):
    """A file that was read.

    Args:
        corpus: name of the corpus.
        name: as the user wrote it.
        sha256: digest of the uncompressed file.
        known_as: name of the checked copy that it is equal to; None for any other copy.
    """

    corpus: str
    name: str
    sha256: str
    known_as: str | None


class IngestReport(_Report):
    """What an ingest did.

    Args:
        splits: counts by corpus and split.
        leaks: evaluation sentences found, by corpus, split and set.
        overlaps: splits that share most of their pairs with a split `train`.
        changed: judgements that changed at the source.
        files: what was read.
        new_sentences: sentences that were added.
        sentence_shards: sentence shards that were added.
        pair_shards: pair shards that were added.
        label_shards: label shards that were added.
    """

    splits: list[SplitReport]
    leaks: list[LeakReport]
    overlaps: list[OverlapReport]
    changed: list[ChangedJudgement]
    files: list[FileReport]
    new_sentences: int
    sentence_shards: int
    pair_shards: int
    label_shards: int = 0

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return sum(split.rows for split in self.splits)

    @property
    def rejected(self) -> int:
        """Rows that were wrong; what the guard dropped does not count."""
        return sum(split.rejected for split in self.splits)

    def frame(self) -> pl.DataFrame:
        """Return the counts as a table, one row a corpus and split; `skipped` is summed over reasons."""
        return pl.DataFrame(
            [{**split.model_dump(), "skipped": sum(split.skipped.values())} for split in self.splits],
            infer_schema_length=None,
        )
