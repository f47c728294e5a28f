"""Training targets of the facets: the metrics, optionally scaled, and their weights."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Targets:
    """Scaled metrics: metric = offset + range x target.

    Args:
        values: (n_pairs, n_facets), float32.
        offsets: (n_facets,).
        ranges: (n_facets,), above 0.
        weights: weights of the facets in the decomposition objective, (n_facets,), mean 1.
    """

    values: NDArray[np.float32]
    offsets: NDArray[np.float64]
    ranges: NDArray[np.float64]
    weights: NDArray[np.float64]


def make_targets(
    metrics: NDArray[np.float32],
    train: NDArray[np.int64],
    *,
    scaling: Literal["raw", "minmax"],
    weighting: Literal["equal", "variance"],
) -> Targets:
    """Scale metrics and weight facets by statistics of the training pairs.

    Args:
        metrics: (n_pairs, n_facets), in [0, 1].
        train: positions of the training pairs.
        scaling: keep values, or scale each metric's training values to [0, 1]; a constant metric is only shifted.
        weighting: all 1, or 1 / variance of the target. Variances count as at least a hundredth of the highest one, so
            that a (nearly) constant metric does not outweigh all others.
    """
    known = metrics[train].astype(np.float64)
    offsets, ranges = np.zeros(metrics.shape[1]), np.ones(metrics.shape[1])
    if scaling == "minmax":
        offsets = known.min(axis=0)
        spread = known.max(axis=0) - offsets
        ranges = np.where(spread > 0, spread, 1.0)
    weights = np.ones(metrics.shape[1])
    if weighting == "variance":
        variances = (known / ranges).var(axis=0)
        weights = 1.0 / np.maximum(variances, max(_LEAST_SHARE * variances.max(), 1e-6))
        weights /= weights.mean()
    return Targets(((metrics - offsets) / ranges).astype(np.float32), offsets, ranges, weights)
