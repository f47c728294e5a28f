"""How well scores separate positive from negative pairs, with intervals.

    accuracy    share of the pairs that are classified correctly                             needs a threshold
    f1          2 · true positives / (positives + pairs predicted positive)                  needs a threshold
    mcc         Matthews' correlation of predictions and labels, in [-1, 1]                  needs a threshold
    ap          mean precision over the ranks of the positives (average precision)           uses the order only
    auroc       probability that a positive ranks above a negative, ties count half          uses the order only

All follow scikit-learn's definitions, and the tests compare them with it. They are computed here because an interval
needs them a thousand times for the same scores: these are sorted once, and every draw only weights the pairs.

Of the pairs with a predicted probability of p, is a share of p positive (`reliability`)?

said    mean probability of the pairs in a bin   ┐
so      share of them that are positive          ├─ a point of the curve, the diagonal where calibration is perfect
pairs   number of pairs                          ┘
error   mean of |said - so| over all pairs: expected calibration error (Naeini et al. 2015), of the positive label
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap

MEASURES: tuple[str, ...] = ("accuracy", "f1", "average_precision", "mcc", "auroc")
"""The measures, in the order of `Scored.measure`."""
MEANS = frozenset({"accuracy"})
"""Those that are the mean of a number for each pair."""
THRESHOLDED = frozenset({"accuracy", "f1", "mcc"})
"""Those that only see on which side of the threshold a pair is."""
BINS = 10
"""Number of bins of equal width over [0, 1] for the calibration."""

Weights = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of judged pairs, ready to be measured many times."""

    positive: NDArray[np.bool_]  # whether each pair is positive, (n_pairs,)
    scores: NDArray[np.float64]  # higher where a pair is more likely positive, (n_pairs,), finite
    threshold: float | None  # pairs with at least this score are predicted positive; None where none was chosen

    @property
    def predicted(self) -> NDArray[np.bool_] | None:
        """Which pairs are predicted positive, (n_pairs,); None without a threshold."""
        return None if self.threshold is None else self.scores >= self.threshold

    def measure(self) -> dict[str, float | None]:
        """Return name → value of each measure, None where it is undefined."""
        values = self._sorted()(np.ones(len(self.positive)))
        return {name: None if np.isnan(value) else float(value) for name, value in zip(MEASURES, values, strict=True)}

    def draw(self, bootstrap: Bootstrap) -> dict[str, NDArray[np.float64]]:
        """Return name → value of each measure in each draw of pairs, (resamples,); NaN where it is undefined."""
        values = np.array([*map(self._sorted(), bootstrap.draws(len(self.positive)))])
        return dict(zip(MEASURES, values.reshape(bootstrap.resamples, len(MEASURES)).T, strict=True))

    def _sorted(self) -> Callable[[Weights], NDArray[np.float64]]:
        """Return weights of the pairs → the measures: pairs are sorted by their scores once, a draw takes few sums."""
        order = np.argsort(-self.scores, kind="stable")
        ranked, positive = self.scores[order], self.positive[order].astype(np.float64)
        # Pairs with equal scores share a rank: measures are read at the last of them.
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        called = None if self.threshold is None else int((ranked >= self.threshold).sum())

        def measure(weights: Weights) -> NDArray[np.float64]:
            times = weights[order].astype(np.float64)
            positives, negatives = np.cumsum(times * positive), np.cumsum(times * (1 - positive))
            accuracy, f1, mcc = _at_threshold(positives, negatives, called)
            precision, auroc = _by_rank(positives[last], negatives[last])
            return np.array([accuracy, f1, precision, mcc, auroc])

        return measure


def without_looking(pairs: int, positives: int, *, positive: bool) -> dict[str, float | None]:
    """Return name → value of each measure if all of some pairs, `positives` of them positive, are called the same."""
    return Scored(np.arange(pairs) < positives, np.zeros(pairs), 0.0 if positive else 1.0).measure()


def reliability(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, Any]:
    """Return how well probabilities, (n_pairs,), are calibrated: `error`, `said`, `so` and those of `bins`."""
    bins_of = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins_of)
    predicted, observed = (np.bincount(bins_of, weights=values) for values in (probabilities, positive))
    filled = np.flatnonzero(counts)
    return {
        "error": float(np.abs(predicted - observed).sum() / len(positive)),
        "said": float(probabilities.mean()),
        "so": float(positive.mean()),
        "bins": [
            {"said": float(predicted[n] / counts[n]), "so": float(observed[n] / counts[n]), "pairs": int(counts[n])}
            for n in filled
        ],
    }


def _at_threshold(
    positives: NDArray[np.float64], negatives: NDArray[np.float64], called: int | None
) -> tuple[float, float, float]:
    """Return accuracy, F1 and MCC from the cumulative counts, where so many pairs are called positive."""
    if called is None:
        return np.nan, np.nan, np.nan
    right, wrong = (float(counts[called - 1]) if called else 0.0 for counts in (positives, negatives))
    missed, refused = float(positives[-1]) - right, float(negatives[-1]) - wrong
    f1 = 2 * right / (2 * right + wrong + missed) if right + wrong + missed else np.nan
    accuracy = (right + refused) / (right + wrong + missed + refused)
    if not (right + missed and wrong + refused):
        return accuracy, f1, np.nan
    product = (right + wrong) * (right + missed) * (refused + wrong) * (refused + missed)
    # Where all predictions are equal there is no correlation: 0, as in scikit-learn.
    return accuracy, f1, (right * refused - wrong * missed) / product**0.5 if product else 0.0


def _by_rank(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> tuple[float, float]:
    """Return average precision and AUROC from the cumulative counts at each rank, with ties grouped."""
    if not positives[-1] or not negatives[-1]:
        return np.nan, np.nan
    positive, negative = np.diff(positives, prepend=0.0), np.diff(negatives, prepend=0.0)
    called = positives + negatives
    precision = np.divide(positives, called, out=np.zeros_like(called), where=called > 0)
    below = negatives[-1] - negatives + negative / 2
    auroc = float((positive * below).sum()) / float(positives[-1] * negatives[-1])
    return float((positive * precision).sum() / positives[-1]), auroc
