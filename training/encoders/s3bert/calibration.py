"""What the similarity of a facet means for its metric: learnt from pairs that the encoder did not learn from.

    metric
       1 ┤                         ●   similarity 1 is the metric's value of a sentence and itself
         │                 ┌──────╱
         │        ┌───────┘            the median of the metric, never falling
       0 ┤────────┘
         └──┬──────────────┬───────┬
           0.2            0.8      1   similarity of the facet

Isotonic regression to the median (Robertson & Waltman 1968): it assumes no shape, has the least mean absolute error of
all maps that never fall, and stays between the lowest and the highest value that it has seen, so that no prediction
leaves the range of the metric. Why not to the mean, which scikit-learn has: many metrics are 1 for most pairs and 0 for
some (negation). A mean of 0.9 is what hardly any pair has, and its absolute error on BAMBOO's dev pairs is larger, for
quantifiers larger than that of no calibration at all.
"""

import math
from bisect import insort
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from training.correlation import spearman

LEAST_PAIRS = 10
"""Fewer dev pairs say nothing about a facet: it is neither calibrated nor called reliable."""

_DIGITS = 6  # of a knot: a similarity that is 1 in so many digits is that of equal embeddings, but for rounding
_NORMAL = 1.959964  # 97.5 % of a normal distribution lie below

Number = Annotated[float, Field(allow_inf_nan=False)]


class Calibration(BaseModel):
    """A map from the similarity of a facet to the value of its metric that never falls.

    Args:
        similarities: of the knots, ascending; at least one.
        values: of the metric at the knots, not falling; between knots the map is linear, beyond them it is level.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    similarities: Annotated[tuple[Number, ...], Field(min_length=1)]
    values: tuple[Number, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.values) != len(self.similarities):
            raise ValueError(f"{len(self.similarities)} similarities need as many values, got {len(self.values)}")
        if (np.diff(self.similarities) <= 0).any() or (np.diff(self.values) < 0).any():
            raise ValueError("similarities must ascend, and values must not fall")
        return self

    def __call__(self, similarities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of the metric that is expected at some similarities, of any shape."""
        return np.asarray(np.interp(similarities.round(_DIGITS), self.similarities, self.values))


class Reliability(BaseModel):
    """How well a facet orders dev pairs as its metric does.

    Args:
        pairs: so many dev pairs.
        spearman: rank correlation of similarity and metric, in [-1, 1]; None where one of them is constant.
        low: lower end of its 95 % interval; None where there is no correlation, or too few pairs.
        high: upper end.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: Annotated[int, Field(ge=0)]
    spearman: Number | None = None
    low: Number | None = None
    high: Number | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the correlation is clearly above 0: its whole interval is."""
        return self.low is not None and self.low > 0


def calibrate(
    similarities: NDArray[np.float64], measured: NDArray[np.floating], identity: float | None
) -> Calibration | None:
    """Fit the calibration of one facet.

    Args:
        similarities: of the facet, (n_pairs,).
        measured: values of its metric, finite, (n_pairs,).
        identity: the metric's value of a sentence and itself, which no other pair exceeds; None where that is not
            known, as for a metric of the project's own: similarity 1 then means what the most similar pairs have.

    Returns:
        The calibration; None with fewer than `LEAST_PAIRS` pairs.
    """
    if len(similarities) < LEAST_PAIRS:
        return None
    places = similarities.astype(np.float64).round(_DIGITS)
    # Pairs at similarity 1 (sentences that the encoder cannot tell apart) would contradict the last knot.
    kept = places < 1 if identity is not None else np.ones(len(places), dtype=bool)
    knots = _monotone_medians(places[kept], measured[kept].astype(np.float64).round(_DIGITS))
    if identity is not None:
        knots.append((1.0, identity))
    x, y = zip(*knots, strict=True)
    return Calibration(similarities=x, values=y)


@dataclass(slots=True)
class _Level:
    """Neighbouring pairs that are given one value: their median.

    Args:
        first: least similarity of them.
        last: greatest.
        values: of the metric, ascending.
    """

    first: float
    last: float
    values: list[float]

    @property
    def median(self) -> float:
        half = len(self.values) // 2
        return self.values[half] if len(self.values) % 2 else (self.values[half - 1] + self.values[half]) / 2

    def take_in(self, following: "_Level") -> "_Level":
        """Return one level of two neighbours; the smaller goes into the larger."""
        small, large = sorted((self.values, following.values), key=len)
        for value in small:
            insort(large, value)
        return _Level(self.first, following.last, large)


def _monotone_medians(similarities: NDArray[np.float64], measured: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return the ends of the levels of an isotonic regression to the median, by pooling adjacent violators.

    Args:
        similarities: (n_pairs,).
        measured: (n_pairs,).

    Returns:
        (similarity, value), similarities ascending, values not falling.
    """
    order = np.argsort(similarities, kind="stable")
    places, starts = np.unique(similarities[order], return_index=True)
    levels: list[_Level] = []
    for place, values in zip(places.tolist(), np.split(measured[order], starts[1:]), strict=False):
        levels.append(_Level(place, place, sorted(values.tolist())))
        while len(levels) > 1 and levels[-2].median >= levels[-1].median:
            following = levels.pop()
            levels.append(levels.pop().take_in(following))
    ends = [(place, level.median) for level in levels for place in (level.first, level.last)]
    return list(dict.fromkeys(ends))


def measure_reliability(similarities: NDArray[np.float64], measured: NDArray[np.floating]) -> Reliability:
    """Return the rank correlation of a facet and its metric on some pairs, with a 95 % interval.

    The interval is Fisher's, with the variance of Bonett & Wright (2000) for Spearman's coefficient,
    (1 + r²/2) / (n - 3). At r = 0, where it decides, that is the variance of a permutation, with ties as without.

    Args:
        similarities: of the facet, (n_pairs,).
        measured: values of its metric, (n_pairs,).
    """
    pairs = len(similarities)
    (correlation,) = spearman(similarities[:, None], measured[:, None])
    if correlation is None or pairs < LEAST_PAIRS:
        return Reliability(pairs=pairs, spearman=None if correlation is None else round(correlation, 4))
    centre = math.atanh(min(max(correlation, -1 + 1e-9), 1 - 1e-9))
    half = _NORMAL * math.sqrt((1 + correlation**2 / 2) / (pairs - 3))
    low, high = math.tanh(centre - half), math.tanh(centre + half)
    return Reliability(pairs=pairs, spearman=round(correlation, 4), low=round(low, 4), high=round(high, 4))
