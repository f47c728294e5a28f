"""The labelled texts of one split of one corpus during an ingest: new ones, known ones, and rows that are not texts."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import polars as pl

from features.core.types import LabelId, PairId, RejectCode, SentenceId, Shard, Split
from features.corpora.rows import BadRow, Outcome, Skip, TextRow
from features.corpora.settings import CorpusSettings
from features.ingest.known import Known
from features.ingest.leaks import LeakageGuard
from features.ingest.report import ChangedJudgement, SplitReport
from features.ingest.sentences import Sentences
from features.schemas import LABELS
from features.sentences import label_id
from features.stage_output import Reject


@dataclass(slots=True)
class SplitLabels:
    """The labelled texts of one split of one corpus; of the new labels column by column.

    A text with several labels in one aspect has one row for each, once. If a text has one label, rows are counted like
    pairs: a text that occurs twice is two examples, and a label corrected at the source does not add another one.
    """

    report: SplitReport
    several: bool  # whether a text may have several labels in one aspect
    # counter shared by all splits of a corpus, one number per new label
    arrivals: Iterator[int] = field(default_factory=itertools.count)
    ids: list[LabelId] = field(default_factory=list)
    sentences: list[SentenceId] = field(default_factory=list)
    aspects: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    changes: list[ChangedJudgement] = field(default_factory=list)  # known texts whose one label has changed
    occurrences: Counter[SentenceId] = field(default_factory=Counter)  # how often a text has occurred
    texts: dict[SentenceId, str] = field(default_factory=dict)  # the texts that are kept, new and known
    # the aspects in which each of them has a label
    having: dict[SentenceId, frozenset[str]] = field(default_factory=dict)
    seen: set[LabelId] = field(default_factory=set)  # labels that occurred before in the split
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # texts by aspect and label, including known ones
    # known texts that the present settings would put into another split
    kept: set[SentenceId] = field(default_factory=set)

    def take(
        self,
        outcome: Outcome,
        sentences: Sentences,
        guard: LeakageGuard,
        known: Known,
        admits: Callable[[PairId | LabelId], bool] | None,
    ) -> Reject | None:
        """Count a row, and keep a text with its labels; return a reject if it is rejected."""
        report = self.report
        report.rows += 1
        if isinstance(outcome, Skip):
            report.skipped[outcome.reason] = report.skipped.get(outcome.reason, 0) + 1
            return None
        if isinstance(outcome, BadRow):
            report.rejected += 1
            return outcome.reject
        if not isinstance(outcome, TextRow):
            raise TypeError(f"{outcome!r} is of another kind than its corpus")  # a corpus has rows of one kind
        text = sentences.identify(outcome.text)
        occurrence = 0 if self.several else self.occurrences[text[0]]
        ids: dict[LabelId, tuple[str, str]] = {}
        for aspect, label in outcome.labels:
            own = label if self.several else ""
            identity = label_id(report.corpus, report.split, text[0], aspect, own, occurrence)
            if admits is None or admits(identity):
                ids[identity] = (aspect, label)
        if not ids:
            return None
        self.occurrences[text[0]] += 1
        if text[2]:
            report.rejected += 1
            words = text[1].count(" ") + 1
            message = (
                f"{outcome.origin}: the text has {words} words; expected at most {sentences.max_words} "
                f"({text[1][:40]!r}...)"
            )
            return Reject(next(iter(ids)), RejectCode.SENTENCE_TOO_LONG, message)
        leak = guard.leaks(report, text[:2])
        is_known = not ids.keys().isdisjoint(known.label_of)
        if leak is not None:
            report.leaked += 1
            report.leaked_stored += is_known
            if guard.drops and not is_known:
                report.dropped += 1
                return Reject(next(iter(ids)), RejectCode.LEAKED, f"{outcome.origin}: {leak}")
        if outcome.kept:
            self.kept.add(text[0])
            report.kept = len(self.kept)
        self._keep(ids, text[0], outcome.origin, known)
        sentences.take(text[0], text[1])
        self.texts[text[0]] = text[1]
        aspects = frozenset(aspect for aspect, _ in ids.values())
        self.having[text[0]] = self.having.get(text[0], aspects) | aspects
        return None

    def _keep(self, ids: Mapping[LabelId, tuple[str, str]], sentence: SentenceId, origin: str, known: Known) -> None:
        self.report.repeats += self.occurrences[sentence] > 1
        new = 0
        for identity, (aspect, label) in ids.items():
            before = known.label_of.get(identity)
            if before is not None and before != label:
                self.changes.append(
                    ChangedJudgement(
                        corpus=self.report.corpus,
                        pair_id=identity,
                        origin=origin,
                        stored_label=before,
                        found_label=label,
                    )
                )
            if identity in self.seen:
                continue
            self.seen.add(identity)
            self.counts[aspect, label] += 1
            if before is None:
                self.ids.append(identity)
                self.sentences.append(sentence)
                self.aspects.append(aspect)
                self.labels.append(label)
                self.arrived.append(next(self.arrivals))
                new += 1
        self.report.labels += new
        self.report.new += new > 0
        self.report.known += new == 0
        self.report.changed = len(self.changes)

    def frame(self, shard_of: Mapping[SentenceId, Shard]) -> pl.DataFrame:
        """Return the new labels as a table with the columns of `LABELS`."""
        n = len(self.ids)
        columns = {
            "label_id": self.ids,
            "corpus": [self.report.corpus] * n,
            "split": [self.report.split] * n,
            "sentence": self.sentences,
            "sentence_shard": [shard_of[sentence] for sentence in self.sentences],
            "aspect": self.aspects,
            "label": self.labels,
        }
        return pl.DataFrame(columns, schema=LABELS)


@dataclass(frozen=True, slots=True)
class CorpusLabels:
    """The labelled texts of one corpus: what became of them by split, the rejects, and new labels, as in `LABELS`."""

    corpus: CorpusSettings
    splits: Sequence[SplitLabels]
    rejects: Sequence[Reject]
    labels: pl.DataFrame

    @property
    def reports(self) -> dict[Split, SplitReport]:
        """The counts of each split."""
        return {split.report.split: split.report for split in self.splits}

    @property
    def changed(self) -> list[ChangedJudgement]:
        """Known texts whose one label has changed."""
        return [change for split in self.splits for change in split.changes]


def labels_of(splits: Sequence[SplitLabels], shard_of: Mapping[SentenceId, Shard], *, drawn: bool) -> pl.DataFrame:
    """Return the new labels of a corpus, columns of `LABELS`, split by split; in order of arrival if these are drawn.

    Then new rows of a corpus that has grown follow the earlier ones, as shards that are made again require.
    """
    rows = pl.concat([split.frame(shard_of) for split in splits])
    arrived = pl.Series("arrived", list(chain.from_iterable(split.arrived for split in splits)), dtype=pl.Int64)
    return rows.with_columns(arrived).sort("arrived", maintain_order=True).drop("arrived") if drawn else rows
