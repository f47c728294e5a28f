"""From corpora to new shards of sentences, pairs and labels."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import TypeVar

import polars as pl

from features.core.faults import NameTaken
from features.core.types import LabelId, PairId, PairKind, Shard, Split
from features.corpora.digests import Digests
from features.corpora.reading import read_outcomes
from features.corpora.rows import BadRow, Outcome, PairRow, Skip, TextRow
from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.corpora.sources import identify, locate
from features.ingest.drawing import Placing, Spellings, placings
from features.ingest.judgement_faults import judgement_faults
from features.ingest.key_faults import key_faults
from features.ingest.known import Known
from features.ingest.label_faults import label_faults, text_faults, unused_labels
from features.ingest.leaks import LeakageGuard
from features.ingest.negatives import arrange
from features.ingest.report import FileReport, IngestReport, SplitReport
from features.ingest.sentences import Sentences, cut, next_number
from features.ingest.split_faults import overlaps, shrunk
from features.ingest.split_labels import SplitLabels, labels_of
from features.ingest.split_pairs import SplitPairs, pairs_of
from features.stage_output import Reject

ALGORITHM_VERSION = "1"
"""Part of the fingerprint of ingest: incremented when the same files would give rows with other ids or negatives.

How new rows are cut into shards is not part of it: existing shards stay as they are.
"""

AnySplit = TypeVar("AnySplit", SplitPairs, SplitLabels)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The new rows of each table by shard, and the rows that were wrong or that the leakage guard dropped."""

    sentences: dict[Shard, pl.DataFrame]
    pairs: dict[Shard, pl.DataFrame]
    labels: dict[Shard, pl.DataFrame]
    rejects: list[Reject]
    report: IngestReport

    @property
    def tables(self) -> dict[str, dict[Shard, pl.DataFrame]]:
        """Table → shard → its rows; sentences come first, since the others point to them."""
        return {"sentences": self.sentences, "pairs": self.pairs, "labels": self.labels}


def ingest(
    corpora: Sequence[CorpusSettings],
    leakage: LeakageSettings,
    settings: IngestSettings,
    base: Path,
    known_sentences: pl.DataFrame,
    known_pairs: pl.DataFrame,
    known_labels: pl.DataFrame | None = None,
    *,
    placed: pl.DataFrame | None = None,
    placed_labels: pl.DataFrame | None = None,
    admits: Callable[[PairId | LabelId], bool] | None = None,
    spellings: Spellings = "together",
    unread: Sequence[str] = (),
    digests: Digests | None = None,
) -> Ingested:
    """Read corpora and make shards from what is not yet in the store.

    Returned are new rows only, in shards numbered after the known ones; the same for the same input.

    Args:
        corpora: what to read; their names differ.
        leakage: the guard of evaluation sentences.
        settings: sizes of shards, longest sentence.
        base: folder that relative paths are resolved against: that of the project file.
        known_sentences: stored sentences, columns of `KNOWN_SENTENCES`; may be an empty frame, as the others.
        known_pairs: stored pairs, columns of `KNOWN_PAIRS`.
        known_labels: stored labels, columns of `KNOWN_LABELS`; none when None.
        placed: pairs whose splits are binding when splits are drawn; the stored pairs by default. Repeating an earlier
            ingest must give the same splits, which later pairs show.
        placed_labels: likewise labels, for texts.
        admits: whether a pair or a label is read; every one by default. The others are treated as missing from the
            files, so that an earlier ingest can be repeated.
        spellings: `together` draws texts that differ only in case or punctuation into one split; `apart` draws each by
            its own hash, as if the others were not in the files.
        unread: names of corpora of the project that are not read, since they have not changed.
        digests: the digests of the files; made when None.
    """
    repeated = [name for name, count in Counter(corpus.name for corpus in corpora).items() if count > 1]
    if repeated:
        raise NameTaken(f"{repeated[0]!r} is the name of two corpora: give each its own `name`.")
    known = Known(known_sentences, known_pairs, known_labels, placed, admits, placed_labels, unread)
    sentences = Sentences(known, settings)
    guard = LeakageGuard.from_settings(leakage, base)
    splits: list[SplitPairs | SplitLabels] = []
    rejects: list[Reject] = []
    places = placings(corpora, lambda corpus: read_outcomes(corpus, base), sentences, known, spellings)
    for corpus, place in zip(corpora, places, strict=True):
        sentences.open_shard()
        of_split: dict[Split, SplitPairs | SplitLabels] = {}
        arrivals = itertools.count()
        for outcome in read_outcomes(corpus, base):
            row = place.place(outcome)
            split = of_split.get(row.split)
            if split is None:
                split = of_split[row.split] = _split(corpus, row.split, arrivals)
            reject = _take(split, row, sentences, guard, known)
            if reject is not None:
                rejects.append(reject)
        for name, split in of_split.items():
            if isinstance(split, SplitPairs) and name in corpus.drawn_splits:
                split.add_negatives(known)
            if isinstance(split, SplitPairs) and name == "train" and corpus.neighbours:
                split.add_neighbours(corpus.neighbours, sentences, known)
        splits += of_split.values()
    files = _files(corpora, base, digests or Digests({}))
    ingested = _finish(places, splits, rejects, sentences, guard, known, settings, files, unread)
    if admits is None:  # an earlier ingest that is repeated is not told about again
        ingested.report.key_faults += key_faults(corpora, base)
    return ingested


def _split(corpus: CorpusSettings, split: Split, arrivals: Iterator[int]) -> SplitPairs | SplitLabels:
    report = SplitReport(corpus=corpus.name, split=split)
    if corpus.record.has_texts:
        return SplitLabels(report, several=corpus.record.kind != "classes", arrivals=arrivals)
    return SplitPairs(report, arrivals)


def _take(
    split: SplitPairs | SplitLabels, outcome: Outcome, sentences: Sentences, guard: LeakageGuard, known: Known
) -> Reject | None:
    """Count a row and keep it if it is of its split's kind; return a reject if it is rejected."""
    split.report.rows += 1
    if isinstance(outcome, Skip):
        split.report.skipped[outcome.reason] = split.report.skipped.get(outcome.reason, 0) + 1
        return None
    if isinstance(outcome, BadRow):
        split.report.rejected += 1
        return outcome.reject
    if isinstance(split, SplitPairs) and isinstance(outcome, PairRow):
        return split.take(outcome, sentences, guard, known)
    if isinstance(split, SplitLabels) and isinstance(outcome, TextRow):
        return split.take(outcome, sentences, guard, known)
    raise TypeError(f"{outcome!r} is of another kind than its corpus")  # a corpus has rows of one kind


def _files(corpora: Sequence[CorpusSettings], base: Path, digests: Digests) -> list[FileReport]:
    reports = []
    for corpus in corpora:
        for source in locate(corpus.record, corpus.files, base, corpus.files_key):
            for path in filter(None, (source.path, source.partner)):
                name = source.name if path is source.path else path.name
                copy = identify(corpus.record, path, digests)
                reports.append(FileReport(corpus=corpus.name, name=name, **copy._asdict()))
    return reports


def _finish(
    places: Sequence[Placing],
    splits: Sequence[SplitPairs | SplitLabels],
    rejects: list[Reject],
    sentences: Sentences,
    guard: LeakageGuard,
    known: Known,
    settings: IngestSettings,
    files: list[FileReport],
    unread: Sequence[str],
) -> Ingested:
    """Cut the new rows into shards: sentences and rows of corpora in order of arrival, drawn pairs close together."""
    of_pairs = [split for split in splits if isinstance(split, SplitPairs)]
    of_labels = [split for split in splits if isinstance(split, SplitLabels)]
    sentence_shards = sentences.shards()
    size = settings.pairs_per_shard
    shard_of = sentences.shard_of
    pair_shards: dict[Shard, pl.DataFrame] = {}
    kinds: tuple[PairKind, ...] = ("positive", "negative", "neighbour")
    drawn = {place.corpus.name for place in places if place.draws}
    for kind in kinds:
        for group in _by_corpus(of_pairs):
            rows = pairs_of(group, kind, shard_of, drawn=group[0].report.corpus in drawn)
            first = next_number("pairs", [*known.pair_shards, *pair_shards])
            pair_shards |= cut(rows if kind == "positive" else arrange(rows, size), "pairs", size, first)
    label_shards: dict[Shard, pl.DataFrame] = {}
    for texts in _by_corpus(of_labels):
        first = next_number("labels", [*known.label_shards, *label_shards])
        rows = labels_of(texts, shard_of, drawn=texts[0].report.corpus in drawn)
        label_shards |= cut(rows, "labels", size, first)
    changed = [split.changed(known) if isinstance(split, SplitPairs) else split.changes for split in splits]
    corpora = [place.corpus for place in places]
    report = IngestReport(
        changed=list(chain.from_iterable(changed)),
        splits=[split.report for split in splits],
        leaks=guard.reports(),
        overlaps=overlaps(of_pairs, of_labels, sentences, known, unread),
        label_faults=label_faults(corpora, of_labels, known),
        unused_labels=unused_labels(corpora, splits),
        text_faults=text_faults(corpora, of_labels, sentences),
        judgement_faults=judgement_faults(
            corpora,
            [(split, of) for split, of in zip(splits, changed, strict=True) if isinstance(split, SplitPairs)],
            sentences,
        ),
        draws=[report for place in places for report in place.reports()],
        shrunk=shrunk([corpus.name for corpus in corpora], splits, known, unread),
        files=files,
        new_sentences=len(sentences.new),
        sentence_shards=len(sentence_shards),
        pair_shards=len(pair_shards),
        label_shards=len(label_shards),
    )
    return Ingested(sentence_shards, pair_shards, label_shards, rejects, report)


def _by_corpus(splits: Sequence[AnySplit]) -> list[list[AnySplit]]:
    """Return the splits of each corpus, whose rows may share a shard."""
    return [list(group) for _, group in groupby(splits, key=lambda split: split.report.corpus)]
