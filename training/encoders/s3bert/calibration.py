"""Mapping of a facet's similarity to a value of its metric, fitted on pairs that the encoder was not trained on.

    metric
       1 ┤                         ●   similarity 1 is the metric's value of a sentence and itself
         │                 ┌──────╱
         │        ┌───────┘            the median of the metric, non-decreasing
       0 ┤────────┘
         └──┬──────────────┬───────┬
           0.2            0.8      1   similarity of the facet

Isotonic median regression (Robertson & Waltman 1968): it assumes no shape, has the least mean absolute error of all
non-decreasing maps, and stays between the lowest and the highest value of the fit, so no prediction leaves the range of
the metric. The mean, which scikit-learn offers, is not used because many metrics are 1 for most pairs and 0 for some
(negation). Hardly any pair has the mean of 0.9, and its absolute error on BAMBOO's dev pairs is larger, for quantifiers
even larger than without calibration.
"""

import math
from bisect import insort
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from features.core.closed import Closed
from training.similarity import spearman

LEAST_PAIRS = 10
"""With fewer dev pairs a facet is neither calibrated nor called reliable."""

_DIGITS = 6  # of a knot: a similarity of 1 in that many digits means equal embeddings, up to rounding
_NORMAL = 1.959964  # 97.5 % of a normal distribution lie below


class FacetCalibration(Closed):
    """A non-decreasing map from the similarity of a facet to the value of its metric."""

    similarities: Annotated[tuple[float, ...], Field(min_length=1)]  # of the knots, ascending; at least one
    values: tuple[float, ...]  # of the metric there, non-decreasing; linear between knots, constant beyond

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.values) != len(self.similarities):
            raise ValueError(f"{len(self.similarities)} similarities need as many values, got {len(self.values)}")
        if (np.diff(self.similarities) <= 0).any() or (np.diff(self.values) < 0).any():
            raise ValueError("similarities must ascend, and values must not decrease")
        return self

    def __call__(self, similarities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the calibrated value of the metric at similarities of any shape."""
        return np.asarray(np.interp(similarities.round(_DIGITS), self.similarities, self.values))


class Reliability(Closed):
    """How well a facet orders dev pairs as its metric does."""

    pairs: Annotated[int, Field(ge=0)]  # number of dev pairs
    spearman: float | None = None  # rank correlation with the metric, in [-1, 1]; None if one is constant
    low: float | None = None  # lower end of its 95 % interval; None if there is no correlation, or too few pairs
    high: float | None = None  # upper end

    @property
    def is_clear(self) -> bool:
        """Whether the whole interval of the correlation is above 0."""
        return self.low is not None and self.low > 0


def calibrate_facet(
    similarities: NDArray[np.float64], measured: NDArray[np.floating], identity: float | None
) -> FacetCalibration | None:
    """Fit the calibration of one facet from similarities and metric, (n_pairs,); None with fewer than `LEAST_PAIRS`.

    `identity` is the metric of a sentence and itself, which no other pair exceeds; None if it is not known, as for a
    project's own metric: similarity 1 then gets the value of the most similar pairs.
    """
    if len(similarities) < LEAST_PAIRS:
        return None
    rounded = similarities.astype(np.float64).round(_DIGITS)
    # Pairs at similarity 1 (sentences with equal embeddings) would contradict the last knot.
    kept = rounded < 1 if identity is not None else np.ones(len(rounded), dtype=bool)
    knots = _monotone_medians(rounded[kept], measured[kept].astype(np.float64).round(_DIGITS))
    if identity is not None:
        knots.append((1.0, identity))
    x, y = zip(*knots, strict=True)
    return FacetCalibration(similarities=x, values=y)


@dataclass(slots=True)
class _Level:
    """Neighbouring pairs with one common value, their median; `values` ascend."""

    first: float
    last: float
    values: list[float]

    @property
    def median(self) -> float:
        half = len(self.values) // 2
        return self.values[half] if len(self.values) % 2 else (self.values[half - 1] + self.values[half]) / 2

    def take_in(self, following: "_Level") -> "_Level":
        """Merge two neighbouring levels, the smaller into the larger."""
        small, large = sorted((self.values, following.values), key=len)
        for value in small:
            insort(large, value)
        return _Level(self.first, following.last, large)


def _monotone_medians(similarities: NDArray[np.float64], measured: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return the ends (similarity, value) of the levels of an isotonic median regression of pairs, (n_pairs,) each.

    Adjacent violators are pooled; similarities ascend, and values do not decrease.
    """
    order = np.argsort(similarities, kind="stable")
    distinct, starts = np.unique(similarities[order], return_index=True)
    levels: list[_Level] = []
    for similarity, values in zip(distinct.tolist(), np.split(measured[order], starts[1:]), strict=False):
        levels.append(_Level(similarity, similarity, sorted(values.tolist())))
        while len(levels) > 1 and levels[-2].median >= levels[-1].median:
            following = levels.pop()
            levels.append(levels.pop().take_in(following))
    ends = [(similarity, level.median) for level in levels for similarity in (level.first, level.last)]
    return list(dict.fromkeys(ends))


def measure_reliability(similarities: NDArray[np.float64], measured: NDArray[np.floating]) -> Reliability:
    """Return the rank correlation of a facet and its metric on some pairs, (n_pairs,) each, with a 95 % interval.

    The interval is Fisher's, with the variance of Bonett & Wright (2000) for Spearman's coefficient,
    (1 + r²/2) / (n - 3). At r = 0, where it decides, that is little more than the permutation variance,
    1 / (n - 1), with or without ties.
    """
    pairs = len(similarities)
    (correlation,) = spearman(similarities[:, None], measured)
    if correlation is None or pairs < LEAST_PAIRS:
        return Reliability(pairs=pairs, spearman=None if correlation is None else round(correlation, 4))
    centre = math.atanh(min(max(correlation, -1 + 1e-9), 1 - 1e-9))
    half = _NORMAL * math.sqrt((1 + correlation**2 / 2) / (pairs - 3))
    low, high = math.tanh(centre - half), math.tanh(centre + half)
    return Reliability(pairs=pairs, spearman=round(correlation, 4), low=round(low, 4), high=round(high, 4))
