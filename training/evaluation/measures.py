"""How well scores separate positive from negative pairs, with intervals.

    accuracy    share of the pairs that are classified correctly                             needs a threshold
    f1          2 · true positives / (positives + pairs predicted positive)                  needs a threshold
    mcc         Matthews' correlation of predictions and labels, in [-1, 1]                  needs a threshold
    ap          mean precision over the ranks of the positives (average precision)           uses the order only
    auroc       probability that a positive ranks above a negative, ties count half          uses the order only

All follow scikit-learn's definitions, and the tests compare them with it. They are computed here because an interval
needs them a thousand times for the same scores: these are sorted once, and every draw only weights the pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from features.metrics.corpus_scores import Bootstrap

MEASURES: tuple[str, ...] = ("accuracy", "f1", "average_precision", "mcc", "auroc")
"""The measures, in the order of `Scored.measure`."""
MEANS = frozenset({"accuracy"})
"""Those that are the mean of a number for each pair."""
THRESHOLDED = frozenset({"accuracy", "f1", "mcc"})
"""Those that only see on which side of the threshold a pair is."""

Weights = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of judged pairs, ready to be measured many times.

    Args:
        positive: whether each pair is positive, (n_pairs,).
        scores: higher where a pair is more likely positive, (n_pairs,), finite.
        threshold: pairs with at least this score are predicted positive; None where none was chosen.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    threshold: float | None

    @property
    def predicted(self) -> NDArray[np.bool_] | None:
        """Which pairs are predicted positive, (n_pairs,); None without a threshold."""
        return None if self.threshold is None else self.scores >= self.threshold

    def measure(self) -> dict[str, float | None]:
        """Return name → value of each measure, None where it is undefined."""
        values = _Sorted(self).measure(np.ones(len(self.positive)))
        return {name: None if np.isnan(value) else float(value) for name, value in zip(MEASURES, values, strict=True)}

    def draw(self, bootstrap: Bootstrap) -> dict[str, NDArray[np.float64]]:
        """Return name → value of each measure in each draw of pairs, (resamples,); NaN where it is undefined."""
        ready = _Sorted(self)
        found = np.array([ready.measure(times) for times in bootstrap.draws(len(self.positive))])
        found = found.reshape(bootstrap.resamples, len(MEASURES))
        return {name: found[:, column] for column, name in enumerate(MEASURES)}


def without_looking(pairs: int, positives: int, *, positive: bool) -> dict[str, float | None]:
    """Return name → value of each measure if all pairs are called the same.

    Args:
        pairs: number of pairs.
        positives: number of those that are positive.
        positive: whether all are called positive, or none is.
    """
    return Scored(np.arange(pairs) < positives, np.zeros(pairs), 0.0 if positive else 1.0).measure()


class _Sorted:
    """The pairs in the order of their scores, so that a draw takes only a few sums.

    Args:
        scored: the pairs.
    """

    def __init__(self, scored: Scored) -> None:
        order = np.argsort(-scored.scores, kind="stable")
        ranked = scored.scores[order]
        self._order, self._positive = order, scored.positive[order].astype(np.float64)
        # Pairs with equal scores share a rank: measures are read at the last of them.
        self._last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        self._called: int | None = None
        if scored.threshold is not None:
            self._called = int((ranked >= scored.threshold).sum())

    def measure(self, weights: Weights) -> NDArray[np.float64]:
        """Return the measures, (n_measures,), with each pair counted as often as its weight."""
        times = weights[self._order].astype(np.float64)
        positives = np.cumsum(times * self._positive)
        negatives = np.cumsum(times * (1 - self._positive))
        accuracy, f1, mcc = self._told(positives, negatives)
        precision, auroc = self._ranked(positives[self._last], negatives[self._last])
        return np.array([accuracy, f1, precision, mcc, auroc])

    def _told(self, positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> tuple[float, float, float]:
        if self._called is None:
            return np.nan, np.nan, np.nan
        right, wrong = (float(of[self._called - 1]) if self._called else 0.0 for of in (positives, negatives))
        missed, refused = float(positives[-1]) - right, float(negatives[-1]) - wrong
        f1 = 2 * right / (2 * right + wrong + missed) if right + wrong + missed else np.nan
        accuracy = (right + refused) / (right + wrong + missed + refused)
        if not (right + missed and wrong + refused):
            return accuracy, f1, np.nan
        product = (right + wrong) * (right + missed) * (refused + wrong) * (refused + missed)
        # Where all predictions are equal there is no correlation: 0, as in scikit-learn.
        return accuracy, f1, (right * refused - wrong * missed) / product**0.5 if product else 0.0

    @staticmethod
    def _ranked(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> tuple[float, float]:
        """Return average precision and AUROC from the cumulative counts at each rank, with ties grouped."""
        if not positives[-1] or not negatives[-1]:
            return np.nan, np.nan
        found, beside = np.diff(positives, prepend=0.0), np.diff(negatives, prepend=0.0)
        called = positives + negatives
        precision = np.divide(positives, called, out=np.zeros_like(called), where=called > 0)
        below = negatives[-1] - negatives + beside / 2
        return float((found * precision).sum() / positives[-1]), float((found * below).sum()) / float(
            positives[-1] * negatives[-1]
        )
