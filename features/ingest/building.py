"""From corpora to new shards of sentences, pairs and labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from features.core.types import LabelId, PairId, Shard
from features.corpora.reading import read_outcomes
from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.ingest.corpus_labels import CorpusLabels
from features.ingest.corpus_pairs import KINDS, CorpusPairs
from features.ingest.drawing import Spellings, drawn_texts
from features.ingest.faults import (
    judgement_faults,
    key_faults,
    label_faults,
    language_faults,
    text_faults,
    unused_labels,
)
from features.ingest.known import Known
from features.ingest.leaks import LeakageGuard
from features.ingest.report import IngestReport
from features.ingest.sentences import Rows, Sentences, Shards, cut, next_number
from features.ingest.split_faults import drawn_before, pair_overlaps, shrunk, text_overlaps
from features.schemas import Reject

ALGORITHM_VERSION = "1"
"""Part of the fingerprint of ingest: incremented when the same files would give rows with other ids or negatives.

How new rows are cut into shards is not part of it: existing shards stay as they are.
"""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The new rows of each table by its name and shard, and the rows that are wrong or kept out."""

    tables: Mapping[str, Mapping[Shard, pl.DataFrame]]  # sentences come first, since the others point to them
    rejects: list[Reject]
    report: IngestReport


def ingest(
    corpora: Sequence[CorpusSettings],
    leakage: LeakageSettings,
    settings: IngestSettings,
    base: Path,
    known: Known,
    *,
    admits: Callable[[PairId | LabelId], bool] | None = None,
    spellings: Spellings = "together",
    unread: Sequence[str] = (),
) -> Ingested:
    """Read corpora and make shards from what is not yet in the store.

    Returned are new rows only, in shards numbered after the known ones; the same for the same input.

    Args:
        corpora: what to read; their names differ.
        leakage: the guard of evaluation sentences.
        settings: sizes of shards, longest sentence.
        base: folder that relative paths are resolved against: that of the project file.
        known: what is stored.
        admits: whether a pair or a label is read; every one by default. The others are treated as missing from the
            files, so that an earlier ingest can be repeated.
        spellings: `together` draws texts that differ only in case or punctuation into one split; `apart` draws each by
            its own hash, as if the others were not in the files.
        unread: names of corpora of the project that are not read, since they have not changed.

    Raises:
        InputError: a file cannot be read as a whole; a wrong row is a reject.
        StoreError: `known` has pairs without their sentences.
    """
    sentences = Sentences(known, settings)
    guard = LeakageGuard(leakage, base)
    drawn = drawn_texts(corpora, base, sentences, known, spellings)
    read: list[CorpusPairs | CorpusLabels] = []
    for corpus in corpora:
        if corpus.record.has_texts:
            labels = CorpusLabels(corpus, sentences, guard, known, admits)
            for row in read_outcomes(corpus, base):
                labels.take(drawn[corpus.name].place(row, corpus) if corpus.name in drawn else row)
            labels.place()
            read.append(labels)
        else:
            pairs = CorpusPairs(corpus, base, settings.max_words)
            pairs.take(sentences, guard, known, admits)
            read.append(pairs)
    of_pairs = [corpus for corpus in read if isinstance(corpus, CorpusPairs)]
    of_labels = [corpus for corpus in read if isinstance(corpus, CorpusLabels)]
    # Sentences and rows of corpora are cut in order of arrival, drawn pairs close together.
    new_pairs: dict[Shard, Rows] = {}
    for kind in KINDS:
        for each in of_pairs:
            first = next_number([*known.pair_shards, *new_pairs])
            new_pairs |= each.shards(kind, sentences.names, settings.pairs_per_shard, first)
    new_labels: dict[Shard, Rows] = {}
    for texts in of_labels:
        first = next_number([*known.label_shards, *new_labels])
        new_labels |= cut(texts.rows.height, texts.rows.__getitem__, "labels", settings.pairs_per_shard, first)
    report = IngestReport(
        changed=list(chain.from_iterable(corpus.changed for corpus in read)),
        splits=list(chain.from_iterable(corpus.reports.values() for corpus in read)),
        overlaps=pair_overlaps(of_pairs, known, unread),
        faults=[
            # An earlier ingest that is repeated is not told about again.
            *(key_faults(corpora, base) if admits is None else ()),
            *text_overlaps(of_labels, sentences),
            *drawn_before(of_pairs, known),
            *unused_labels(read),
            *label_faults(of_labels, known),
            *language_faults(read),
            *text_faults(of_labels, sentences),
            *judgement_faults(of_pairs),
        ],
        draws=list(chain.from_iterable(corpus.draws for corpus in of_pairs)),
        shrunk=list(shrunk(read, known, unread)),
        new_sentences=sentences.new,
        sentence_shards=len(sentences.shards),
        pair_shards=len(new_pairs),
        label_shards=len(new_labels),
    )
    rejects = list(chain.from_iterable(corpus.rejects for corpus in read))
    tables = {"sentences": sentences.shards, "pairs": Shards(new_pairs), "labels": Shards(new_labels)}
    return Ingested(tables, rejects, report)
