"""Splits that are the same pairs: a train and a dev that were made of one file, by mistake."""

from collections.abc import Sequence

from features.ingest.report import OverlapReport
from features.ingest.split_pairs import SplitPairs
from features.types import SentenceId

MOST = 0.5
"""Share of a split's pairs in `train` above which it is told; what is less is a matter of the corpora."""


def overlaps(splits: Sequence[SplitPairs]) -> list[OverlapReport]:
    """Return the splits of evaluation that have most of their pairs in common with a split `train`."""
    training = [split for split in splits if split.report.split == "train"]
    others = [split for split in splits if split.report.split != "train"]
    if not training or not others:
        return []
    pairs = {id(split): _pairs(split) for split in splits}
    found = [
        OverlapReport(
            corpus=train.report.corpus,
            other_corpus=other.report.corpus,
            other_split=other.report.split,
            pairs=len(pairs[id(other)]),
            shared=len(pairs[id(other)] & pairs[id(train)]),
        )
        for train in training
        for other in others
    ]
    return [overlap for overlap in found if overlap.shared > MOST * overlap.pairs]


def _pairs(split: SplitPairs) -> set[tuple[SentenceId, SentenceId]]:
    return {(a, b) if a < b else (b, a) for a, b in split.occurrences}
