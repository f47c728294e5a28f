"""From corpora to new shards of sentences and pairs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from features.corpora.leakage import LeakageGuard
from features.corpora.reading import read_outcomes
from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.corpora.sources import identify, locate
from features.errors import SettingsError
from features.ingest.known import Known
from features.ingest.leaks import LeakCounter
from features.ingest.negatives import arrange
from features.ingest.overlaps import overlaps
from features.ingest.report import FileReport, IngestReport, SplitReport
from features.ingest.sentences import Sentences
from features.ingest.shards import cut, next_number
from features.ingest.split_pairs import SplitPairs
from features.schemas import PAIRS, SENTENCES
from features.stages import Reject
from features.types import PairId, Shard, Split

ALGORITHM_VERSION = "1"
"""Part of the fingerprint of ingest: goes up when the same files would give other ids, negatives or shards."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What is new.

    Args:
        sentences: rows of `SENTENCES` by shard.
        pairs: rows of `PAIRS` by shard.
        rejects: rows that were wrong, and pairs that the leakage guard dropped.
        report: counts.
    """

    sentences: dict[Shard, pl.DataFrame]
    pairs: dict[Shard, pl.DataFrame]
    rejects: list[Reject]
    report: IngestReport


def ingest(
    corpora: Sequence[CorpusSettings],
    leakage: LeakageSettings,
    settings: IngestSettings,
    base: Path,
    known_sentences: pl.DataFrame,
    known_pairs: pl.DataFrame,
    *,
    admits: Callable[[PairId], bool] | None = None,
) -> Ingested:
    """Read corpora and make shards of what the store does not hold yet.

    Args:
        corpora: what to read; their names differ.
        leakage: the guard of evaluation sentences.
        settings: sizes of shards, longest sentence.
        base: what relative paths are relative to: the folder of the project file.
        known_sentences: what is stored: columns of `KNOWN_SENTENCES`; may be an empty frame.
        known_pairs: what is stored: columns of `KNOWN_PAIRS`; may be an empty frame.
        admits: says of a pair whether it is read; every pair by default. Pairs that are not are as if the files did not
            have them, so that an earlier ingest can be repeated.

    Returns:
        New rows only, in shards numbered after the known ones; the same for the same input.

    Raises:
        InputError: a file is missing, empty or in another form.
        SettingsError: two corpora have one name.
        StoreError: the known tables contradict each other.
    """
    repeated = [name for name, count in Counter(corpus.name for corpus in corpora).items() if count > 1]
    if repeated:
        raise SettingsError(f"{repeated[0]!r} is the name of two corpora: give each a `name` of its own.")
    known = Known(known_sentences, known_pairs, admits)
    sentences = Sentences(known, settings)
    guard = LeakCounter(LeakageGuard.from_settings(leakage, base), drops=leakage.mode == "drop")
    splits: list[SplitPairs] = []
    rejects: list[Reject] = []
    for corpus in corpora:
        of_split: dict[Split, SplitPairs] = {}
        for outcome in read_outcomes(corpus, base):
            split = of_split.get(outcome.split)
            if split is None:
                split = of_split[outcome.split] = SplitPairs(SplitReport(corpus=corpus.name, split=outcome.split))
            reject = split.take(outcome, sentences, guard, known)
            if reject is not None:
                rejects.append(reject)
        for name, split in of_split.items():
            if name in corpus.negatives:
                split.add_negatives(known)
        splits += of_split.values()
    return _finish(splits, rejects, sentences, guard, known, settings, _files(corpora, base))


def _files(corpora: Sequence[CorpusSettings], base: Path) -> list[FileReport]:
    reports = []
    for corpus in corpora:
        for source in locate(corpus.record, corpus.files, base, corpus.files_key):
            for path in (source.path, source.partner):
                if path is not None:
                    copy = identify(corpus.record, path)
                    name = source.name if path is source.path else path.name
                    reports.append(
                        FileReport(corpus=corpus.name, name=name, sha256=copy.sha256, known_as=copy.known_as)
                    )
    return reports


def _finish(
    splits: Sequence[SplitPairs],
    rejects: list[Reject],
    sentences: Sentences,
    guard: LeakCounter,
    known: Known,
    settings: IngestSettings,
    files: list[FileReport],
) -> Ingested:
    """Cut what is new into shards: sentences as they came, positives as they came, negatives near each other."""
    new_sentences = pl.DataFrame(
        {"sentence_id": list(sentences.new), "text": list(sentences.new.values())}, schema=SENTENCES
    )
    sentence_shards = cut(new_sentences, "sentences", settings.sentences_per_shard, sentences.first_shard)
    size = settings.pairs_per_shard
    shard_of = sentences.shard_of
    none = pl.DataFrame(schema=PAIRS)
    positives = pl.concat([none, *(split.positives.frame(split.report, "positive", shard_of) for split in splits)])
    negatives = pl.concat([none, *(split.negatives.frame(split.report, "negative", shard_of) for split in splits)])
    pair_shards = cut(positives, "pairs", size, next_number("pairs", known.pair_shards))
    pair_shards |= cut(
        arrange(negatives, size), "pairs", size, next_number("pairs", [*known.pair_shards, *pair_shards])
    )
    changed = [split.changed(known) for split in splits]
    report = IngestReport(
        changed=list(chain.from_iterable(changed)),
        splits=[split.finish(len(found)) for split, found in zip(splits, changed, strict=True)],
        leaks=guard.reports(),
        overlaps=overlaps(splits),
        files=files,
        new_sentences=new_sentences.height,
        sentence_shards=len(sentence_shards),
        pair_shards=len(pair_shards),
    )
    return Ingested(sentence_shards, pair_shards, rejects, report)
