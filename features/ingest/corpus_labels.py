"""The labelled texts of one corpus during an ingest: new ones, known ones, and rows that are not texts.

A text with several labels in one aspect has one row for each, once. If a text has one label, rows are counted like
pairs: a text that occurs twice is two examples, and a label corrected at the source does not add another one.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from features.core.types import LabelId, PairId, RejectCode, SentenceId, Split
from features.corpora.reading import BadRow, Outcome, Skip, TextRow
from features.corpora.settings import CorpusSettings
from features.ingest.known import Known
from features.ingest.leaks import LeakageGuard
from features.ingest.report import ChangedJudgement, SplitReport
from features.ingest.sentences import Sentences
from features.schemas import LABELS, Reject
from features.sentences import label_id


@dataclass(slots=True)
class SplitTexts:
    """The texts of one split."""

    report: SplitReport
    occurrences: Counter[SentenceId] = field(default_factory=Counter)  # how often a text has occurred
    texts: dict[SentenceId, str] = field(default_factory=dict)  # the texts that are kept, new and known
    # the aspects in which each of them has a label
    aspects: dict[SentenceId, frozenset[str]] = field(default_factory=dict)


class CorpusLabels:
    """The labelled texts of one corpus."""

    def __init__(
        self,
        corpus: CorpusSettings,
        sentences: Sentences,
        guard: LeakageGuard,
        known: Known,
        admits: Callable[[PairId | LabelId], bool] | None,
    ) -> None:
        self.corpus = corpus
        self.multilabel = corpus.record.kind != "classes"  # whether a text may have several labels in one aspect
        self.splits: dict[Split, SplitTexts] = {}  # in the order in which the splits occur
        self.rejects: list[Reject] = []  # rows that are wrong or kept out, in the order of the files
        self.changed: list[ChangedJudgement] = []  # known texts whose one label has changed
        self.counts: Counter[tuple[str, str]] = Counter()  # texts by aspect and label, including known ones
        self.seen: set[LabelId] = set()  # the labels that occurred
        self.rows = pl.DataFrame(schema=LABELS)  # the new labels in the order in which they came
        self._new: list[tuple[LabelId, Split, SentenceId, str, str]] = []  # id, split, text, aspect, label
        self._sentences = sentences
        self._guard = guard
        self._known = known
        self._admits = admits

    @property
    def reports(self) -> dict[Split, SplitReport]:
        """The counts of each split."""
        return {name: split.report for name, split in self.splits.items()}

    def take(self, row: Outcome) -> None:
        """Count a row, and keep a text with its labels, or a reject."""
        if row.split not in self.splits:
            self.splits[row.split] = SplitTexts(SplitReport(corpus=self.corpus.name, split=row.split))
        report = self.splits[row.split].report
        report.rows += 1
        if isinstance(row, Skip):
            report.skipped[row.reason] = report.skipped.get(row.reason, 0) + 1
        elif isinstance(row, BadRow):
            report.rejected += 1
            self.rejects.append(row.reject)
        elif isinstance(row, TextRow):
            self._take_text(row, self.splits[row.split])
        else:
            raise TypeError(f"{row!r} is of another kind than its corpus")  # a corpus has rows of one kind

    def _take_text(self, row: TextRow, split: SplitTexts) -> None:
        report = split.report
        sentence, text, too_long = self._sentences.identify(row.text)
        occurrence = 0 if self.multilabel else split.occurrences[sentence]
        ids: dict[LabelId, tuple[str, str]] = {}
        for aspect, label in row.labels:
            own = label if self.multilabel else ""
            identity = label_id(report.corpus, report.split, sentence, aspect, own, occurrence)
            if self._admits is None or self._admits(identity):
                ids[identity] = (aspect, label)
        if not ids:
            return
        split.occurrences[sentence] += 1
        if too_long:
            report.rejected += 1
            why = self._sentences.too_long("the text", text)
            self.rejects.append(Reject(next(iter(ids)), RejectCode.SENTENCE_TOO_LONG, f"{row.origin}: {why}"))
            return
        leak = self._guard.leaks(report.split, text)
        is_known = not ids.keys().isdisjoint(self._known.label_of)
        if leak is not None:
            report.leaked += 1
            report.leaked_stored += is_known
            if self._guard.drops and not is_known:
                report.dropped += 1
                self.rejects.append(Reject(next(iter(ids)), RejectCode.LEAKED, f"{row.origin}: {leak}"))
                return
        report.kept += row.kept and sentence not in split.texts
        self._keep(ids, sentence, row.origin, split)
        self._sentences.take(sentence, text)
        split.texts[sentence] = text
        split.aspects[sentence] = split.aspects.get(sentence, frozenset()) | {aspect for aspect, _ in ids.values()}

    def _keep(
        self, ids: Mapping[LabelId, tuple[str, str]], sentence: SentenceId, origin: str, split: SplitTexts
    ) -> None:
        report, new = split.report, 0
        for identity, (aspect, label) in ids.items():
            before = self._known.label_of.get(identity)
            if before is not None and before != label:
                change = partial(ChangedJudgement, corpus=report.corpus, pair_id=identity, origin=origin)
                self.changed.append(change(stored_label=before, found_label=label))
                report.changed += 1
            if identity in self.seen:
                continue
            self.seen.add(identity)
            self.counts[aspect, label] += 1
            if before is None:
                new += 1
                self._new.append((identity, report.split, sentence, aspect, label))
        report.repeats += split.occurrences[sentence] > 1
        report.labels += new
        report.new += new > 0
        report.known += new == 0

    def place(self) -> None:
        """Place the texts in shards of sentences.

        New rows of a corpus that has grown follow the earlier ones, as shards that are made again require.
        """
        shard_of = self._sentences.place_taken()
        rows = [
            (identity, self.corpus.name, split, sentence, shard_of[sentence], aspect, label)
            for identity, split, sentence, aspect, label in self._new
        ]
        self.rows = pl.DataFrame(rows, schema=LABELS, orient="row")
