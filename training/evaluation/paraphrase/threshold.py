"""The score from which a pair is predicted positive: chosen on dev pairs, never on those that are scored.

dev pairs of the set ──(none with both labels)──> dev pairs of the corpora that the encoder was trained on
                                                                 │ (none with both labels)
                                                                 v
                                        .5 for a probability, nothing for a cosine
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from training.thresholds import HALF, best_f1

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
