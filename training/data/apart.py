"""Pairs that are both learnt from and chosen or scored by: moved in a file, or in two corpora.

train   (A, B)   (C, D)         train   (A, B)
dev     (D, c!)  (E, F)   ──>   dev     (D, c!)  (E, F)

Sentences that differ only in case or punctuation are the same here, as for the leakage guard.
"""

import logging
from collections.abc import Sequence
from typing import TypeVar

import polars as pl

from features.core.faults import SplitsOverlap
from features.core.wording import all_of
from features.sentences import leakage_key
from training.data.labelled_pairs import LabelledPairs
from training.data.measured_pairs import MeasuredPairs
from training.data.pair_tables import POSITIONS

Pairs = TypeVar("Pairs", LabelledPairs, MeasuredPairs)
_log = logging.getLogger("training")


def apart(data: Pairs, split: str) -> Pairs:
    """Return pairs without those of one split that are also in another split, in either order and any spelling.

    Args:
        data: pairs of all splits, of the corpora that are learnt from.
        split: the split that is learnt from.

    Raises:
        InputError: when none of the split is left.
    """
    keys: dict[str, int] = {}
    # What is marks alone is like no other.
    numbers = [keys.setdefault(leakage_key(text) or text, len(keys)) for text in data.texts]
    found = _in_another(data, split, numbers)
    if not found.any():
        return data
    count = int(found.sum())
    if count == (data.pairs["split"] == split).sum():
        raise SplitsOverlap(
            f"{all_of(count, 'pair')} of the split {split!r} {'is' if count == 1 else 'are'} also in another split: "
            "check `files` of the corpora."
        )
    spelt = int((found & ~_in_another(data, split, range(len(data.texts)))).sum())
    _log.warning(
        "pairs of split %r that are also in another split are not trained on: %s%s",
        *(split, f"{count:,}", f" ({spelt:,} with other case or punctuation)" if spelt else ""),
    )
    return data.keep(~found)


def _in_another(data: Pairs, split: str, numbers: Sequence[int]) -> pl.Series:
    """Return whether each pair is of a split, and is in another one as well.

    Sentences with the same number of `numbers`, (n_texts,), count as the same.
    """
    number = pl.Series(list(numbers), dtype=pl.Int64)
    ends = pl.DataFrame([number.gather(data.pairs[position]).alias(position) for position in POSITIONS])
    ends = ends.select(
        pl.min_horizontal(*POSITIONS).alias("low"),
        pl.max_horizontal(*POSITIONS).alias("high"),
        (data.pairs["split"] == split).alias("is_learnt"),
    )
    others = ends.filter(~pl.col("is_learnt")).select("low", "high", found=True).unique()
    found = ends.join(others, on=("low", "high"), how="left", maintain_order="left")["found"].fill_null(value=False)
    return found & ends["is_learnt"]
