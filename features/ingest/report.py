"""Report of an ingest: counts by corpus and split, and what is suspicious, as sentences."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from features.core.pages import tell
from features.core.types import Split

_NOTES = "features.ingest/reports.txt"


class Report(BaseModel):
    """A part of the report of an ingest."""

    model_config = ConfigDict(extra="forbid")


class SplitReport(Report):
    """Counts of one split of one corpus; rows = new + known + dropped + joining + rejected + the skipped."""

    corpus: str
    split: Split
    rows: int = 0  # rows that were read; for captions, pairs
    new: int = 0  # pairs of the corpus, or texts with a new label, that were added
    known: int = 0  # those that were stored before, including texts whose labels an earlier row has given
    dropped: int = 0  # pairs and texts that were kept out because a sentence is in an evaluation set
    joining: int = 0  # pairs that were kept out because they would have joined two drawn splits
    rejected: int = 0  # rows that were wrong
    skipped: dict[str, int] = Field(default_factory=dict)  # rows left out by design, by reason
    repeats: int = 0  # exact repeats of a pair among new and known; all are kept
    leaked: int = 0  # pairs and texts with a sentence of an evaluation set, dropped or not
    leaked_stored: int = 0  # those of them that were stored before the guard knew; only a new store is free of them
    changed: int = 0  # known pairs whose score or label has changed; shards never change, so the stored one is kept
    negatives: int = 0  # negatives that were added
    without_negative: int = 0  # positives that have none, because every sentence of the split is paired with theirs
    labels: int = 0  # labels of texts that were added
    # known texts that the present settings would put into another split, and known pairs in a split into which they
    # would put none; shards never change, so the stored split is kept
    kept: int = 0


class ChangedJudgement(Report):
    """A known pair, or label of a text, whose score or label in the store and found in the file, `origin`, differ."""

    corpus: str
    pair_id: str
    origin: str
    stored_score: float | None = None
    found_score: float | None = None
    stored_label: str | None = None
    found_label: str | None = None


class ShrunkReport(Report):
    """A corpus of which some of the stored rows were not read again: its files or its settings have changed.

    Pairs that ingest drew do not count; `named` is whether the project still has the corpus, `added` the rows that are
    new.
    """

    corpus: str
    stored: int
    found: int
    added: int = 0
    what: Literal["pairs", "texts"]
    named: bool = True

    @property
    def was_cut_off(self) -> bool:
        """Whether its files hold so little that one may have been cut off; rows that moved to another split are new."""
        return self.found + self.added < self.stored / 2

    def __str__(self) -> str:
        return tell(_NOTES, "shrunk", self)


class Fault(Report):
    """What is suspicious about rows or settings of a corpus, as a sentence; the rows are kept."""

    corpus: str
    text: str

    @classmethod
    def of(cls, corpus: str, note: str, **values: object) -> Self:
        """Return the fault that a macro of `templates/reports.txt` describes."""
        return cls(corpus=corpus, text=tell(_NOTES, note, corpus, **values))

    def __str__(self) -> str:
        return self.text


class IngestReport(Report):
    """Report of an ingest: counts by corpus and split, what is suspicious, what was added.

    `unread` is the number of rows of corpora that have not changed and were not read again.
    """

    splits: list[SplitReport] = Field(default_factory=list)
    overlaps: list[Fault] = Field(default_factory=list)  # pairs of an evaluation split that are also in `train`
    changed: list[ChangedJudgement] = Field(default_factory=list)
    new_sentences: int = 0
    sentence_shards: int = 0
    pair_shards: int = 0
    label_shards: int = 0
    unread: int = 0
    faults: list[Fault] = Field(default_factory=list)
    draws: list[Fault] = Field(default_factory=list)  # splits for which far less, or far more, than asked was drawn
    shrunk: list[ShrunkReport] = Field(default_factory=list)
    neighbours: list[Fault] = Field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows that were read, now or before."""
        return sum(split.rows for split in self.splits)

    @property
    def rejected(self) -> int:
        """Rows that were wrong; what the guard dropped does not count."""
        return sum(split.rejected for split in self.splits)

    @property
    def new_pairs(self) -> int:
        """Pairs that were added, including those that were drawn."""
        return sum(split.negatives + (0 if split.labels else split.new) for split in self.splits)

    @property
    def new_labels(self) -> int:
        """Labels of texts that were added."""
        return sum(split.labels for split in self.splits)

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → rows that are left out by design, the most frequent first."""
        reasons: Counter[str] = Counter()
        for split in self.splits:
            reasons.update(split.skipped)
        return dict(reasons.most_common())

    def beside(self, before: "IngestReport", unread: Sequence[str], corpora: Sequence[str]) -> "IngestReport":
        """Return this report with what one from before says of unread corpora, in the order of all corpora."""
        order = {name: position for position, name in enumerate(corpora)}
        merged: dict[str, Any] = {"unread": sum(split.rows for split in before.splits if split.corpus in unread)}
        for name, value in self:
            if isinstance(value, list):
                # Overlaps are of all corpora: the pairs of unread ones were those of the store.
                earlier = getattr(before, name) if name != "overlaps" else ()
                kept = [each for each in earlier if each.corpus in unread]
                merged[name] = sorted([*kept, *value], key=lambda each: order.get(each.corpus, len(order)))
        return self.model_copy(update=merged)

    def settled(self) -> "IngestReport":
        """Return the report of the same corpora when the store holds what was new."""
        splits, shrunk = [], []
        for split in self.splits:
            now = {"known": split.new + split.known, "leaked_stored": split.leaked - split.dropped}
            splits.append(split.model_copy(update=now | dict.fromkeys(("new", "negatives", "labels"), 0)))
        for each in self.shrunk:
            now = {"stored": each.stored + each.added, "found": each.found + each.added, "added": 0}
            shrunk.append(each.model_copy(update=now))
        none = dict.fromkeys(("new_sentences", "sentence_shards", "pair_shards", "label_shards", "unread"), 0)
        return self.model_copy(update={"splits": splits, "shrunk": shrunk, **none})
