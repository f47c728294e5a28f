"""Splits with the same pairs or texts: train and dev made from one file by mistake."""

from collections.abc import Sequence
from typing import Any, Literal

from features.ingest.report import OverlapReport, SplitReport
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs
from features.types import SentenceId

MOST = 0.5
"""Share of a split's pairs or texts in `train` above which it is reported; smaller overlaps are up to the corpora."""


def overlaps(pairs: Sequence[SplitPairs], texts: Sequence[SplitLabels]) -> list[OverlapReport]:
    """Return the evaluation splits that share most of their pairs or texts with a split `train`.

    Args:
        pairs: splits of pairs.
        texts: splits of texts with labels; those with one class per text may repeat texts, and are left out.
    """
    of_pairs = [(split.report, _pairs(split)) for split in pairs]
    of_texts = [(split.report, set(split.occurrences)) for split in texts if split.several]
    return [*_overlaps(of_pairs, "pairs"), *_overlaps(of_texts, "texts")]


def _overlaps(splits: Sequence[tuple[SplitReport, set[Any]]], what: Literal["pairs", "texts"]) -> list[OverlapReport]:
    found = [
        OverlapReport(
            corpus=train.corpus,
            other_corpus=other.corpus,
            other_split=other.split,
            pairs=len(others),
            shared=len(others & trained),
            what=what,
        )
        for train, trained in splits
        for other, others in splits
        if train.split == "train" and other.split != "train"
    ]
    return [overlap for overlap in found if overlap.shared > MOST * overlap.pairs]


def _pairs(split: SplitPairs) -> set[tuple[SentenceId, SentenceId]]:
    return {(a, b) if a < b else (b, a) for a, b in split.occurrences}
