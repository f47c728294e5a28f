"""Calibration of a classifier's probabilities, fitted on dev pairs after training.

A classifier that goes on training while its cross-entropy on dev grows becomes more accurate, and more confident than
it should be (Guo et al. 2017). Its logits are calibrated by one temperature and a bias for each label, fitted to the
cross-entropy on dev (bias-corrected temperature scaling; Alexandari et al. 2020, §3; with two labels: Platt 1999):

    softmax(logits / T + b)

With two labels the ranking of pairs does not change; the more probable label of a pair may.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

LEAST_PAIRS = 50
"""Minimum number of dev pairs."""
LEAST_OF_A_LABEL = 10
NEEDED = f"{LEAST_PAIRS} dev pairs, {LEAST_OF_A_LABEL} of each label"
_CHI_SQUARED = 3.841  # 95 % quantile, one degree of freedom


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class Calibration:
    """Calibration of a classifier's probabilities."""

    temperature: Annotated[float, Field(gt=0)]  # T; above 1 if the classifier was overconfident
    biases: tuple[float, ...]  # b, one for each label; their sum is 0
    pairs: int  # number of dev pairs that it was fitted on
    loss_before: float  # mean cross-entropy of these without calibration, in nats
    loss: float  # the same with calibration
    loss_of_shares: float | None = None  # the same with the shares of the labels for all; None if not recorded

    @property
    def doubt(self) -> str:
        """Why the classifier may be of no use, as a sentence; empty if it clearly knows something of these pairs.

        By the likelihood ratio of the temperature: without any knowledge, 2 · pairs · (difference of the losses) is
        below 3.84 in 95 % of cases (Wilks 1938).
        """
        if self.loss_of_shares is None or 2 * self.pairs * (self.loss_of_shares - self.loss) > _CHI_SQUARED:
            return ""
        return (
            f"On the {self.pairs:,} dev pairs that calibrated it, the classifier is not clearly better than guessing "
            f"by the shares of their labels (cross-entropy {self.loss:.3f} vs {self.loss_of_shares:.3f}): it has "
            "learnt little or nothing."
        )

    @property
    def clause(self) -> str:
        """The calibration in words, to follow "probabilities"."""
        return (
            f"are calibrated on {self.pairs:,} dev pairs, temperature {self.temperature:.2f}: their cross-entropy on "
            f"these is now {self.loss:.4f}, and was {self.loss_before:.4f}"
        )


def calibrate(logits: NDArray[np.float64], targets: NDArray[np.int64]) -> Calibration | None:
    """Fit the calibration of a classifier's probabilities; None if there are too few pairs, in total or of a label.

    Logits, (n_pairs, n_labels), and numbers of the labels, (n_pairs,), are those of dev pairs. The target probability
    of a pair's label is (n + 1) / (n + 2), where n is the number of pairs with it (Platt 1999, §2.2): a few dev pairs,
    even if all are classified correctly, are strong but not conclusive evidence.
    """
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    pairs, labels = logits.shape
    counts = np.bincount(targets, minlength=labels)
    if pairs < LEAST_PAIRS or counts.min() < LEAST_OF_A_LABEL:
        return None
    unsure = 1 / (counts[targets] + 2)
    wanted = np.repeat(unsure[:, None] / (labels - 1), labels, axis=1)
    own = np.arange(pairs), targets
    wanted[own] = 1 - unsure
    # Logits on a common scale, so that the first steps are neither far too long nor far too short.
    centred = logits - logits.mean(axis=1, keepdims=True)
    size = max(float(centred.std()), np.finfo(np.float64).tiny)

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the cross-entropy at the logarithm of size / T and the biases, and its gradient."""
        scaled = centred / size * np.exp(point[0])
        logarithms = log_softmax(scaled + point[1:], axis=1)
        wrong = (np.exp(logarithms) - wanted) / pairs
        slope = np.concatenate([[float((wrong * scaled).sum())], wrong.sum(axis=0)])
        return -float((wanted * logarithms).sum()) / pairs, slope

    def cross_entropy(logits: NDArray[np.float64]) -> float:
        return -float(log_softmax(logits, axis=1)[own].mean())

    # Bounds for an uninformative classifier, whose best temperature is not finite.
    low, high = -7.0, 7.0
    start = np.concatenate([[np.clip(np.log(size), low, high)], np.zeros(labels)])
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(low, high), *[(None, None)] * labels]).x
    temperature, biases = float(size / np.exp(optimum[0])), optimum[1:] - optimum[1:].mean()
    return Calibration(
        temperature=temperature,
        biases=tuple(biases.tolist()),
        pairs=pairs,
        loss_before=cross_entropy(logits),
        loss=cross_entropy(logits / temperature + biases),
        loss_of_shares=cross_entropy(np.log(np.tile(counts / pairs, (pairs, 1)))),
    )
