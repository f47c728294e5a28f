"""What the similarity of a facet means for its metric: learnt from pairs that the encoder did not learn from.

    metric
       1 ┤                         ●   similarity 1 is the metric's value of a sentence and itself
         │                 ┌──────╱
         │        ┌───────┘            isotonic regression: the mean of the metric, never falling
       0 ┤────────┘
         └──┬──────────────┬───────┬
           0.2            0.8      1   similarity of the facet

Isotonic regression (Barlow et al. 1972; scikit-learn's pool adjacent violators) assumes no shape and stays between the
lowest and the highest value that it has seen, so that no prediction leaves the range of the metric.
"""

import math
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from training.evaluation.correlation import spearman

LEAST_PAIRS = 10
"""Fewer dev pairs say nothing about a facet: it is neither calibrated nor called reliable."""

_SAME = 1e-6  # similarities nearer to 1 are those of equal embeddings, but for rounding
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
        near = np.where(similarities >= 1 - _SAME, 1.0, similarities)
        return np.asarray(np.interp(near, self.similarities, self.values))


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
    from sklearn.isotonic import IsotonicRegression

    # Pairs at similarity 1 (sentences that the encoder cannot tell apart) would contradict the last knot.
    apart = similarities < 1 - _SAME if identity is not None else np.ones(len(similarities), dtype=bool)
    knots = np.empty((0, 2))
    if apart.any():
        fitted = IsotonicRegression(out_of_bounds="clip").fit(similarities[apart], measured[apart].astype(np.float64))
        knots = np.column_stack([fitted.X_thresholds_, fitted.y_thresholds_])
    if identity is not None:
        knots = np.vstack([knots, [1.0, identity]])
    # Rounding keeps the file readable; of knots that it makes one, the last stands where the curve goes on.
    knots = knots.round(6)
    last = np.append(np.diff(knots[:, 0]) > 0, True)
    x, y = knots[last].T
    return Calibration(similarities=tuple(x.tolist()), values=tuple(y.tolist()))


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
