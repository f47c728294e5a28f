"""Splits that are not what a corpus should give: the same rows as in train, or fewer than the store has."""

from collections.abc import Iterator, Sequence
from typing import Literal

from features.core.types import SentenceId
from features.ingest.known import Known
from features.ingest.report import OverlapReport, ShrunkReport
from features.ingest.sentences import Sentences
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs

_MOST = 0.5
"""Share of a split's pairs in `train` above which it is reported; smaller overlaps are up to the corpora."""


def overlaps(pairs: Sequence[SplitPairs], texts: Sequence[SplitLabels], sentences: Sentences) -> list[OverlapReport]:
    """Return the evaluation splits that share most of their pairs, or any text, with a split `train`.

    Train and dev may have been made from one file by mistake. Corpora with one class per text may repeat texts.
    """
    reports = [overlap for overlap in _of_pairs(pairs) if overlap.shared > _MOST * overlap.pairs]
    return [*reports, *_of_texts([split for split in texts if split.several], sentences)]


def _of_pairs(splits: Sequence[SplitPairs]) -> Iterator[OverlapReport]:
    pairs_of = [(split.report, _pairs(split)) for split in splits]
    for train, trained in pairs_of:
        for other, pairs in pairs_of:
            if train.split == "train" and other.split != "train":
                yield OverlapReport(
                    corpus=train.corpus,
                    other_corpus=other.corpus,
                    other_split=other.split,
                    pairs=len(pairs),
                    shared=len(pairs & trained),
                )


def _pairs(split: SplitPairs) -> set[tuple[SentenceId, SentenceId]]:
    return {(a, b) if a < b else (b, a) for a, b in split.occurrences}


def _of_texts(splits: Sequence[SplitLabels], sentences: Sentences) -> Iterator[OverlapReport]:
    for train in splits:
        others = [split for split in splits if split.report.split != "train"] if train.report.split == "train" else []
        trained = {sentences.shared_id(text) for text in train.texts.values()} if others else set()
        for other in others:
            shared = [each for each, text in other.texts.items() if sentences.shared_id(text) in trained]
            if shared:
                yield OverlapReport(
                    corpus=train.report.corpus,
                    other_corpus=other.report.corpus,
                    other_split=other.report.split,
                    pairs=len(other.texts),
                    shared=len(shared),
                    spelt=sum(sentence not in train.texts for sentence in shared),
                    what="texts",
                )


def shrunk(corpora: Sequence[str], splits: Sequence[SplitPairs | SplitLabels], known: Known) -> list[ShrunkReport]:
    """Return the corpora of whose stored pairs or texts some were not read again: deleted, edited, moved or cut off.

    Corpora that are stored and were not read are returned last.
    """
    reports = []
    of_pairs = dict(known.judgements.filter(kind="positive").group_by("corpus").len().iter_rows())
    stored_names = {name for name, _ in known.splits_of_text} | of_pairs.keys()
    for corpus in [*corpora, *sorted(stored_names - {*corpora})]:
        of_corpus = [split for split in splits if split.report.corpus == corpus]
        texts = {sentence for name, sentence in known.splits_of_text if name == corpus}
        if texts:
            came = {sentence for split in of_corpus if isinstance(split, SplitLabels) for sentence in split.occurrences}
            stored, read = len(texts), len(texts & came)
        else:
            stored = of_pairs.get(corpus, 0)
            read = sum(len(split.stored.pair_id) for split in of_corpus if isinstance(split, SplitPairs))
        if read < stored:
            what: Literal["texts", "pairs"] = "texts" if texts else "pairs"
            reports.append(ShrunkReport(corpus=corpus, stored=stored, found=read, what=what, named=corpus in corpora))
    return reports
