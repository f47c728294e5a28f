"""From which score on a pair is called positive: chosen on dev pairs, never on those that are scored.

dev pairs of the set ──(none with both labels)──> dev pairs of the corpora that the encoder learnt from
                                                                 │ (none with both labels)
                                                                 v
                                        .5 for a probability, nothing for a cosine
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Chooser = Literal["dev", "learnt", "half", "nothing"]
"""What chose a threshold: dev pairs of the set, of the corpora that were learnt from, .5, or nothing."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class DevPairs:
    """Pairs that a threshold may be chosen by.

    Args:
        of: names of the sets that they are of.
        positive: whether each pair is, (n_pairs,).
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
        """Whether there are positive and negative pairs: without, F1 chooses nothing."""
        return bool(self.positive.any() and not self.positive.all())


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which score on a pair is called positive.

    Args:
        value: the score; None where nothing chose one.
        by: what chose it.
        of: names of the sets whose dev pairs it was chosen on.
        pairs: how many those are.
    """

    value: float | None
    by: Chooser
    of: tuple[str, ...] = ()
    pairs: int = 0


def choose_threshold(own: DevPairs | None, learnt: DevPairs | None, *, probabilities: bool) -> Threshold:
    """Return the threshold of a set.

    Args:
        own: dev pairs of the set; None where it has none.
        learnt: those of the corpora that the encoder learnt from; None where there are none.
        probabilities: whether scores are probabilities, for which .5 has a meaning.
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


def best_f1(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the threshold whose F1 is highest.

    It lies halfway between two neighbouring scores, and at the lowest score where every pair is to be called positive.
    Of several that are as good it is the highest, the one that calls the fewest pairs positive.

    Args:
        positive: whether each pair is, (n_pairs,); some are.
        scores: (n_pairs,).
    """
    levels, where = np.unique(-scores, return_inverse=True)  # from the highest score down
    found = np.cumsum(np.bincount(where, weights=positive, minlength=len(levels)))
    called = np.cumsum(np.bincount(where, minlength=len(levels)))
    best = int(np.argmax(2 * found / (called + positive.sum())))  # the first of equal ones
    upper = float(-levels[best])
    if best + 1 == len(levels):
        return upper
    lower = float(-levels[best + 1])
    halfway = lower + (upper - lower) / 2
    return halfway if halfway > lower else upper
