"""How the distribution of a metric moved between two sets of rows, and a word for how much that is."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 25
"""Number of equal parts of a metric's range in its plot."""
SMALL, LARGE = 0.05, 0.1
"""Kolmogorov-Smirnov distances from which a drift is called moderate, and large: the shares of the rows on one side of
a value differ by 5 and by 10 points."""
_CHANCE = 1.63
"""c(α) of the two-sample test at α = 0.01: two samples of one distribution differ by less than c·√((n+m)/(n·m)) in 99
of 100 cases."""
_DIGITS = 6

Size = Literal["none", "within chance", "small", "moderate", "large"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values of a metric: their number, mean, standard deviation, and quantiles at `QUANTILES`.

    `shares` are the shares of the rows in each of the `BINS` parts of the range of both releases; their sum is 1.
    """

    rows: int
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """How a metric moved between an old and a new release."""

    metric: str
    old: Distribution
    new: Distribution
    distance: float  # Kolmogorov-Smirnov: the largest difference of the shares of rows below any value, in [0, 1]
    transport: float  # Wasserstein-1: how far a value moved on average, in units of the metric
    # a word for the distance. Releases share most of their rows, so chance plays a smaller part than the test assumes:
    # `within chance` means that there are too few rows to tell, not that nothing moved
    size: Size
    # ends of the range that `shares` divide: 0 and 1 if all values lie there, as those of the metrics do; otherwise the
    # smallest and the largest value of both releases
    range: tuple[float, float]


def compare_values(metric: str, old: NDArray[np.float64], new: NDArray[np.float64]) -> Drift:
    """Compare two sets of values of a metric, shapes (n_old,) and (n_new,), each at least one, all finite."""
    from scipy.stats import wasserstein_distance

    # Equal values must stay equal on another machine: many pairs have 0 or 1, and their last digit would be drift.
    before, after = (np.sort(np.round(values, _DIGITS)) for values in (old, new))
    # `scipy.stats.ks_2samp` would add a test that does not hold here.
    values = np.concatenate([before, after])
    below = [np.searchsorted(side, values, side="right") / len(side) for side in (before, after)]
    distance = float(np.abs(below[0] - below[1]).max())
    ends = _range(min(before[0], after[0]), max(before[-1], after[-1]))
    return Drift(
        metric=metric,
        old=_describe(old, before, ends),
        new=_describe(new, after, ends),
        distance=distance,
        transport=float(wasserstein_distance(before, after)),
        size=_size(distance, len(old), len(new)),
        range=ends,
    )


def _size(distance: float, n_old: int, n_new: int) -> Size:
    if distance == 0:
        return "none"
    if distance <= _CHANCE * np.sqrt((n_old + n_new) / (n_old * n_new)):
        return "within chance"
    return "small" if distance < SMALL else "moderate" if distance < LARGE else "large"


def _range(low: float, high: float) -> tuple[float, float]:
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (float(low), float(high)) if low < high else (float(low) - 0.5, float(high) + 0.5)


def _describe(values: NDArray[np.float64], rounded: NDArray[np.float64], ends: tuple[float, float]) -> Distribution:
    """Describe values; the bins count the rounded values, which are also those compared."""
    counts, _ = np.histogram(rounded, BINS, ends)
    return Distribution(
        rows=len(values),
        mean=float(values.mean()),
        deviation=float(values.std()),
        quantiles=tuple(float(value) for value in np.quantile(values, QUANTILES)),
        shares=tuple(float(count) / len(values) for count in counts),
    )
