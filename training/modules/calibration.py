"""Probabilities that say how often they are right: what is learnt from dev pairs once the weights are.

A classifier that learns on while its cross-entropy on dev grows tells labels better and better, and is surer of them
than it should be (Guo et al. 2017). What it says is put right by one temperature and a bias for each label, chosen by
the cross-entropy on dev (bias-corrected temperature scaling; Alexandari et al. 2020, §3; with two labels: Platt 1999):

    softmax(logits / T + b)

With two labels the order of pairs stays as it was; which label is the more probable one may be another.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

LEAST_PAIRS = 50
"""Dev pairs; fewer say too little."""
LEAST_OF_A_LABEL = 10
"""Dev pairs of each label; likewise."""
NEEDED = f"{LEAST_PAIRS} dev pairs, {LEAST_OF_A_LABEL} of each label"
"""What it takes, in words."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What puts the probabilities of a classifier right.

    Args:
        temperature: T, above 0; above 1 where the classifier was surer than it should be.
        biases: b, one for each label; their sum is 0.
        pairs: dev pairs that it was learnt from.
        loss_before: mean cross-entropy of these without it, in nats.
        loss: with it.
    """

    temperature: float
    biases: tuple[float, ...]
    pairs: int
    loss_before: float
    loss: float

    @property
    def told(self) -> str:
        """What was done to the probabilities, in words."""
        return (
            f"are put right by {self.pairs:,} dev pairs, temperature {self.temperature:.2f}: their cross-entropy on "
            f"these is {self.loss:.4f} now, and was {self.loss_before:.4f}"
        )

    def recorded(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def read(cls, recorded: Mapping[str, Any]) -> Self:
        """Return it from JSON.

        Raises:
            TypeError: when something is missing or superfluous.
        """
        return cls(**{**recorded, "biases": tuple(recorded["biases"])})


def calibrate(logits: NDArray[np.float64], targets: NDArray[np.int64]) -> Calibration | None:
    """Learn what puts the probabilities of a classifier right.

    The label of a pair is taken as (n + 1) / (n + 2) sure, n being how many pairs have it (Platt 1999, §2.2): where a
    few dev pairs are all told rightly, that says much and not everything.

    Args:
        logits: of dev pairs, (n_pairs, n_labels).
        targets: number of the label of each, (n_pairs,).

    Returns:
        None where there are too few pairs, of a label or of all.
    """
    from scipy.optimize import minimize

    pairs, labels = logits.shape
    counts = np.bincount(targets, minlength=labels)
    if pairs < LEAST_PAIRS or counts.min() < LEAST_OF_A_LABEL:
        return None
    unsure = 1 / (counts[targets] + 2)
    wanted = np.repeat(unsure[:, None] / (labels - 1), labels, axis=1)
    wanted[np.arange(pairs), targets] = 1 - unsure
    # Logits of one size, so that the first steps are neither far too long nor far too short.
    centred = logits - logits.mean(axis=1, keepdims=True)
    size = max(float(centred.std()), np.finfo(np.float64).tiny)

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the cross-entropy with the logarithm of size / T and the biases, and its slope."""
        scaled = centred / size * np.exp(point[0])
        logarithms = _log_softmax(scaled + point[1:])
        wrong = (np.exp(logarithms) - wanted) / pairs
        slope = np.concatenate([[float((wrong * scaled).sum())], wrong.sum(axis=0)])
        return -float((wanted * logarithms).sum()) / pairs, slope

    # Bounds for a classifier that tells nothing: its best temperature is not finite.
    low, high = -7.0, 7.0
    start = np.concatenate([[np.clip(np.log(size), low, high)], np.zeros(labels)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(low, high), *[(None, None)] * labels]).x
    temperature, biases = float(size / np.exp(found[0])), found[1:] - found[1:].mean()
    return Calibration(
        temperature=temperature,
        biases=tuple(biases.tolist()),
        pairs=pairs,
        loss_before=_cross_entropy(logits, targets),
        loss=_cross_entropy(logits / temperature + biases, targets),
    )


def _cross_entropy(logits: NDArray[np.float64], targets: NDArray[np.int64]) -> float:
    return -float(_log_softmax(logits)[np.arange(len(targets)), targets].mean())


def _log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import log_softmax

    found: NDArray[np.float64] = log_softmax(logits, axis=1)
    return found
