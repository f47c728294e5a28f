"""Each core role at most once in a frame (Punyakanok et al. 2008): no predicate has two agents.

Viterbi cannot enforce that, since it only sees neighbouring tags. If its best path gives a core role to several spans,
each of them in turn keeps the role while it is forbidden to the others, and the best of the new paths is used.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from features.parsers.srl.viterbi import Constraints

_CORE = re.compile(r"B-(ARG[0-9A])")
_NEVER = -1e4  # a log-probability; finite, so that sums are not NaN
_MOST_ROUNDS = 6

Path = NDArray[np.int64]
Scores = NDArray[np.float32]


class UniqueRoles:
    """Assigns each core role to at most one span.

    Args:
        labels: BIO tags, in the order of their indices.
        constraints: the decoder of the paths.
    """

    def __init__(self, labels: Sequence[str], constraints: Constraints) -> None:
        self._constraints = constraints
        index = {label: number for number, label in enumerate(labels)}
        self._inside = {
            number: index.get(f"I-{found[1]}", number)
            for number, label in enumerate(labels)
            if (found := _CORE.fullmatch(label))
        }

    def apply(self, path: Path, scores: Scores) -> Path:
        """Return the best path in which no core role has two spans.

        Args:
            path: the best unconstrained path, (length,).
            scores: log-probabilities, (length, n_labels).
        """
        for _ in range(_MOST_ROUNDS):
            repeated = self._repeated(path)
            if repeated is None:
                break
            options = [(self._decode(allowed), allowed) for allowed in self._choices(repeated, path, scores)]
            path, scores = max(options, key=lambda option: _likelihood(*option))
        return path

    def _decode(self, scores: Scores) -> Path:
        return self._constraints.decode(scores[None], [len(scores)])[0]

    def _repeated(self, path: Path) -> int | None:
        """Return a tag that begins a core role and occurs twice; None if there is none."""
        tags, counts = np.unique(path, return_counts=True)
        return next((tag for tag in tags[counts > 1].tolist() if tag in self._inside), None)

    def _choices(self, begin: int, path: Path, scores: Scores) -> Iterator[Scores]:
        """Yield the scores with the role forbidden to all but one of its spans."""
        inside = self._inside[begin]
        starts = np.flatnonzero(path == begin).tolist()
        ends = [start + 1 + int(np.argmin(np.append(path[start + 1 :] == inside, False))) for start in starts]
        for kept in starts:
            allowed = scores.copy()
            for start, end in zip(starts, ends, strict=True):
                if start != kept:
                    allowed[start:end, [begin, inside]] = _NEVER
            yield allowed


def _likelihood(path: Path, scores: Scores) -> float:
    return float(scores[np.arange(len(path)), path].sum())
