"""The score from which a pair is predicted positive, chosen on dev pairs; and whether probabilities are calibrated.

dev pairs of the set ──(none with both labels)──> dev pairs of the corpora that the encoder was trained on
                                                                 │ (none with both labels)
                                                                 v
                                        .5 for a probability, nothing for a cosine

Of the pairs with a predicted probability of p, is a share of p paraphrases (`reliability`)?

said    mean probability of the pairs in a bin   ┐
so      share of them that are paraphrases       ├─ a point of the curve, the diagonal where calibration is perfect
pairs   number of pairs                          ┘
error   mean of |said - so| over all pairs: expected calibration error (Naeini et al. 2015), of the positive label
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from training.evaluation.paraphrase.sets import JudgedSet
from training.thresholds import HALF, best_f1

BINS = 10
"""Number of bins of equal width over [0, 1] for the calibration."""
Chooser = Literal["dev", "learnt", "half", "nothing"]
"""What a threshold was chosen by: dev pairs of the set or of the training corpora, .5, or nothing."""


@dataclass(frozen=True, slots=True)
class DevPairs:
    """Pairs that a threshold may be chosen on.

    Args:
        of: names of their sets.
        positive: whether each pair is positive, (n_pairs,).
        scores: of the pairs, (n_pairs,).
    """

    of: tuple[str, ...]
    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.positive)

    @property
    def has_both(self) -> bool:
        """Whether there are both positive and negative pairs: otherwise F1 cannot choose."""
        return bool(self.positive.any() and not self.positive.all())


@dataclass(frozen=True, slots=True)
class Threshold:
    """The score from which a pair is predicted positive.

    Args:
        value: the score; None where none was chosen.
        by: what it was chosen by.
        of: names of the sets whose dev pairs it was chosen on.
        pairs: number of those pairs.
    """

    value: float | None
    by: Chooser
    of: tuple[str, ...] = ()
    pairs: int = 0

    def as_json(self, judged: JudgedSet) -> dict[str, Any]:
        """Return the threshold of a set, and whether it was chosen on the very pairs that are scored."""
        same = self.by == "dev" and judged.dev is not None and judged.dev.digest() == judged.pairs.digest()
        return {"value": self.value, "by": self.by, "corpora": list(self.of), "pairs": self.pairs, "same": same}


def choose_threshold(own: DevPairs | None, learnt: DevPairs | None, *, probabilities: bool) -> Threshold:
    """Return the threshold of a set.

    Args:
        own: dev pairs of the set; None where it has none.
        learnt: those of the corpora that the encoder was trained on; None where there are none.
        probabilities: whether scores are probabilities, for which .5 is meaningful.
    """
    for by, dev in (("dev", own), ("learnt", learnt)):
        if dev is not None and dev.has_both:
            return Threshold(best_f1(dev.positive, dev.scores), "dev" if by == "dev" else "learnt", dev.of, len(dev))
    return Threshold(HALF, "half") if probabilities else Threshold(None, "nothing")


def joined(parts: Sequence[DevPairs]) -> DevPairs | None:
    """Return the dev pairs of several sets as one; None where there are none."""
    if not parts:
        return None
    return DevPairs(
        of=tuple(name for part in parts for name in part.of),
        positive=np.concatenate([part.positive for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )


def reliability(positive: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> dict[str, Any]:
    """Return how well probabilities are calibrated, as JSON: `error`, `said`, `so` and `bins`.

    Args:
        positive: whether each pair is positive, (n_pairs,); at least one pair.
        probabilities: probability that it is, (n_pairs,), in [0, 1].

    Returns:
        `error`, the mean probability `said` and the share `so` of all pairs, in [0, 1]; and `said`, `so` and `pairs` of
        each bin that has pairs.
    """
    bins_of = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins_of, minlength=BINS)
    said, so = (
        np.bincount(bins_of, weights=values, minlength=BINS) for values in (probabilities, positive.astype(np.float64))
    )
    filled = np.flatnonzero(counts)
    return {
        "error": float(np.abs(said - so).sum() / len(positive)),
        "said": float(probabilities.mean()),
        "so": float(positive.mean()),
        "bins": [
            {"said": float(said[at] / counts[at]), "so": float(so[at] / counts[at]), "pairs": int(counts[at])}
            for at in filled
        ],
    }
