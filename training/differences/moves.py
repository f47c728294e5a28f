"""The pairs that two encoders place differently, one of them closer to the human rating or judgement.

    place, 0 to 100          A     B    people      moved
    a cat / a dog           80    30      20        + 50: |80 − 20| − |30 − 20|, towards people
    he ran / she ran        55    70      50        − 15: |55 − 50| − |70 − 50|, away from them

The **place** of a pair is the share of the pairs of its set that score lower, plus half of the ties: this is what
Spearman's correlation and AUROC use, so that the scales of the encoders do not matter. Where classifiers scored both
sides, the place is the probability itself. The human place of a judged pair is 1 or 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.differences.shared import SharedSet

SHOWN = 5
"""Pairs shown for each direction."""
_NOTHING = 1e-9
"""Moves up to this size are rounding errors."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The places of a set's pairs, (n_pairs,), in [0, 1]: by A and by B, means over their runs, and by people."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    wanted: NDArray[np.float64]

    @property
    def gains(self) -> NDArray[np.float64]:
        """How much closer to the human place B puts each pair than A, (n_pairs,), in [-1, 1]."""
        return np.abs(self.before - self.wanted) - np.abs(self.after - self.wanted)

    def towards(self) -> list[int]:
        """Return the pairs that moved most towards people, the furthest first."""
        return [int(row) for row in np.argsort(-self.gains, kind="stable")[:SHOWN] if self.gains[row] > _NOTHING]

    def furthest(self, rows: Sequence[int]) -> list[int]:
        """Return which of some pairs, by their positions, moved most in either direction, the furthest first."""
        return sorted(map(int, rows), key=lambda row: (-abs(self.gains[row]), row))[:SHOWN]

    def away(self) -> list[int]:
        """Return the pairs that moved most away from people, the furthest first."""
        return [int(row) for row in np.argsort(self.gains, kind="stable")[:SHOWN] if self.gains[row] < -_NOTHING]


def move(shared: SharedSet) -> Moves:
    """Return the places of a set's pairs by both encoders."""
    predicted = shared.scored.predicted
    columns = predicted if shared.by_probability else np.stack([places(column) for column in predicted.T], axis=1)
    before, after = shared.sides(columns)
    wanted = shared.expected if shared.is_judged else places(shared.expected)
    return Moves(before, after, wanted)


def places(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the share of values that are lower, plus half of the ties, (n,), in (0, 1).

    >>> places([0.2, 0.9, 0.2, 0.5]).tolist()
    [0.25, 0.875, 0.25, 0.625]
    """
    from scipy.stats import rankdata  # here: it takes over a second to import

    return np.asarray((rankdata(values) - 0.5) / len(values), dtype=np.float64)
