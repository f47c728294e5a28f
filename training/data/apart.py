"""Pairs that are both learnt from and chosen or scored by: moved in a file, or in two corpora.

train   (A, B)   (C, D)         train   (A, B)
dev     (D, C)   (E, F)   ──>   dev     (D, C)   (E, F)
"""

import logging
from typing import TypeVar

import polars as pl

from features.errors import InputError
from training.data.labelled_pairs import LabelledPairs
from training.data.measured_pairs import MeasuredPairs
from training.data.pair_tables import POSITIONS

Pairs = TypeVar("Pairs", LabelledPairs, MeasuredPairs)
_log = logging.getLogger("training")


def apart(data: Pairs, split: str) -> Pairs:
    """Return pairs without those of one split that are also in another split, in either order.

    Args:
        data: pairs of all splits, of the corpora that are learnt from.
        split: the split that is learnt from.

    Raises:
        InputError: when none of the split is left.
    """
    ends = data.pairs.select(
        pl.min_horizontal(*POSITIONS).alias("low"),
        pl.max_horizontal(*POSITIONS).alias("high"),
        is_learnt=pl.col("split") == split,
    )
    others = ends.filter(~pl.col("is_learnt")).select("low", "high", found=True).unique()
    found = ends.join(others, on=("low", "high"), how="left", maintain_order="left")["found"].fill_null(value=False)
    both = found & ends["is_learnt"]
    if not both.any():
        return data
    if both.sum() == ends["is_learnt"].sum():
        raise InputError(
            f"All {both.sum():,} pairs of the split {split!r} are also in another split: check `files` of the corpora."
        )
    _log.warning("pairs of split %r that are also in another split are not trained on: %s", split, f"{both.sum():,}")
    return data.keep(~both)
