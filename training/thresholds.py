"""Which label of judged pairs is the positive one, and from which probability a pair is given it.

label       given from a probability of         best for
─────       ───────────────────────────         ────────
positive    .5: it is the more probable one     accuracy, if probabilities are calibrated
            best_f1(dev pairs)                  F1, which counts the positive pairs alone
"""

from collections.abc import Collection
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

POSITIVE = ("1", "paraphrase", "duplicate", "true", "yes")
"""Labels that mean a paraphrase where the encoder names no `positive_label`; case-insensitive."""
HALF = 0.5
"""The probability from which a label is the more probable one of two."""


def positive_of(labels: Collection[str], named: str | None = None) -> str | None:
    """Return which of all labels of pairs is the positive one, None if it is unclear; a `named` one goes first."""
    if named in labels:
        return named
    positive = [label for label in labels if label.casefold() in POSITIVE]
    return positive[0] if len(positive) == 1 else None


@dataclass(frozen=True, slots=True)
class LabelThreshold:
    """The probability from which a classifier of two labels gives a pair the positive one."""

    label: str  # positive label
    value: Annotated[float, Field(ge=0, le=1)]  # the probability
    pairs: int | None = None  # number of dev pairs whose F1 it is the best for; None if it was given by hand

    @property
    def sentence(self) -> str:
        """The threshold as a sentence."""
        chosen = "" if self.pairs is None else f", the best for F1 on the {self.pairs:,} dev pairs of its training"
        return f"The label is {self.label!r} from a probability of {self.value:.6g}{chosen}."


def best_f1(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the threshold with the highest F1, for scores of pairs, (n_pairs,), of which at least one is positive.

    It lies halfway between two neighbouring scores, or at the lowest score where every pair is predicted positive.
    Of several equally good ones it is the highest, which predicts the fewest positive pairs.
    """
    levels, where = np.unique(-scores, return_inverse=True)  # from the highest score down
    right = np.cumsum(np.bincount(where, weights=positive, minlength=len(levels)))
    called = np.cumsum(np.bincount(where, minlength=len(levels)))
    best = int(np.argmax(2 * right / (called + positive.sum())))  # the first of equal ones
    upper = float(-levels[best])
    if best + 1 == len(levels):
        return upper
    lower = float(-levels[best + 1])
    halfway = lower + (upper - lower) / 2
    return halfway if halfway > lower else upper
