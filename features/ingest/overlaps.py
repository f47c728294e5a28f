"""Splits with the same pairs or texts: train and dev made from one file by mistake."""

from collections.abc import Iterator, Sequence

from features.core.types import SentenceId
from features.ingest.report import OverlapReport
from features.ingest.sentences import Sentences
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs

MOST = 0.5
"""Share of a split's pairs in `train` above which it is reported; smaller overlaps are up to the corpora."""


def overlaps(pairs: Sequence[SplitPairs], texts: Sequence[SplitLabels], sentences: Sentences) -> list[OverlapReport]:
    """Return the evaluation splits that share most of their pairs, or any text, with a split `train`.

    Args:
        pairs: splits of pairs.
        texts: splits of texts with labels; those with one class per text may repeat texts, and are left out.
        sentences: knows which texts are spellings of one.
    """
    found = [overlap for overlap in _of_pairs(pairs) if overlap.shared > MOST * overlap.pairs]
    return [*found, *_of_texts([split for split in texts if split.several], sentences)]


def _of_pairs(splits: Sequence[SplitPairs]) -> Iterator[OverlapReport]:
    known = [(split.report, _pairs(split)) for split in splits]
    for train, trained in known:
        for other, others in known:
            if train.split == "train" and other.split != "train":
                yield OverlapReport(
                    corpus=train.corpus,
                    other_corpus=other.corpus,
                    other_split=other.split,
                    pairs=len(others),
                    shared=len(others & trained),
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
