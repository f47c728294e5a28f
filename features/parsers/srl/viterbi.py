"""The best well-formed sequence of BIO tags, for a whole batch at once: exactly, or as AllenNLP finds it.

`B-x` and `O` may follow any tag, `I-x` only `B-x` and `I-x`; a sequence does not start with `I-x`. So all tags except
the inside ones are reached from the same best tag, and a step costs O(labels), not O(labels²).

Our own taggers add up logarithms, so that the path is the most likely one. For AllenNLP's archives, two quirks of its
`viterbi_decode` are reproduced, in order to get the same tags: it adds up *probabilities* along a path; and it starts
each path at 100,000 in float32, which gives sums a resolution of 1/128. So near ties become ties, and `torch.topk`
breaks them in an order of its own.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_START = 100_000
_SENTINELS = 2  # AllenNLP has a start and an end among the tags that are compared
_CORE = re.compile(r"B-ARG[0-9A]")
_NEVER = -1e4  # a log-probability; finite, so that sums are not NaN
_MOST_ROUNDS = 6

Tags = NDArray[np.int64]
Scores = NDArray[np.float32]


class Constraints:
    """Which tag may follow which; `exact` compares paths exactly, and not after AllenNLP's rounding."""

    def __init__(self, labels: Sequence[str], *, exact: bool = False) -> None:
        self._start = np.float32(0 if exact else _START)
        index = {label: number for number, label in enumerate(labels)}
        inside = [number for number, label in enumerate(labels) if label.startswith("I")]
        self._n_labels = len(labels)
        self._inside = np.array(inside, np.int64)
        self._free = np.array([number for number in range(len(labels)) if number not in inside], np.int64)
        # An I- without its B- can be reached from itself only, so never.
        begins = [index.get(f"B{labels[number][1:]}", number) for number in inside]
        self._begin = np.array(begins, np.int64)
        # Tags that begin a core role, and those inside it.
        core = (number for number, label in enumerate(labels) if _CORE.fullmatch(label))
        self._core = {number: index.get(f"I{labels[number][1:]}", number) for number in core}

    def decode(self, scores: Scores, lengths: Sequence[int]) -> list[Tags]:
        """Return the tags of the best path of each sequence, indices (length,); no sequence is empty.

        The scores, (n_sequences, n_positions, n_labels), are finite, and padded beyond a sequence's length.
        """
        n, steps, n_labels = scores.shape
        rows = np.arange(n)
        sources = np.zeros((steps, n, n_labels), np.int32)
        last = np.zeros(n, np.int64)
        best = self._start + scores[:, 0]
        best[:, self._inside] = -np.inf
        ends = np.asarray(lengths) - 1
        for step in range(1, steps + 1):
            highest = self._first(best)
            last[ends == step - 1] = highest[ends == step - 1]
            if step == steps:
                break
            stay, enter = best[:, self._inside], best[:, self._begin]
            source = sources[step]
            source[:, self._free] = highest[:, None]
            source[:, self._inside] = np.where(enter > stay, self._begin, self._inside)
            self._break_ties(best, stay == enter, source)
            best = np.take_along_axis(best, source.astype(np.int64), axis=1) + scores[:, step]
        paths = np.zeros((n, steps), np.int64)
        tags = last
        for step in range(steps - 1, -1, -1):
            tags = np.where(step == ends, last, tags)
            paths[:, step] = tags
            tags = sources[step, rows, tags].astype(np.int64)
        return [path[:length] for path, length in zip(paths, lengths, strict=True)]

    def unique(self, path: Tags, scores: Scores) -> Tags:
        """Return the best path, (length,), in which no core role has two spans, from the best unconstrained one.

        Each round settles one role, and may disturb another: where the rounds do not suffice, one keeps two spans.
        """
        for _ in range(_MOST_ROUNDS):
            tags, counts = np.unique(path, return_counts=True)
            repeated = next((tag for tag in tags[counts > 1].tolist() if tag in self._core), None)
            if repeated is None:
                break
            choices = self._choices(repeated, path, scores)
            options = [(self.decode(allowed[None], [len(allowed)])[0], allowed) for allowed in choices]
            path, scores = max(options, key=lambda option: _likelihood(*option))
        return path

    def _choices(self, begin: int, path: Tags, scores: Scores) -> Iterator[Scores]:
        """Yield the scores with the role forbidden to all but one of its spans."""
        inside = self._core[begin]
        starts = np.flatnonzero(path == begin).tolist()
        ends = [start + 1 + int(np.argmin(np.append(path[start + 1 :] == inside, False))) for start in starts]
        for kept in starts:
            allowed = scores.copy()
            for start, end in zip(starts, ends, strict=True):
                if start != kept:
                    allowed[start:end, [begin, inside]] = _NEVER
            yield allowed

    def _first(self, scores: Scores) -> Tags:
        """Return the position of the highest score in each row, (n,); among several, the one that `topk` returns."""
        import torch

        sentinels = np.full((len(scores), _SENTINELS), -np.inf, np.float32)
        positions: Tags = torch.from_numpy(np.hstack([scores, sentinels])).topk(1, dim=1).indices[:, 0].numpy()
        return positions

    def _break_ties(self, best: Scores, ties: NDArray[np.bool_], source: NDArray[np.int32]) -> None:
        """Choose again, in place, where continuing and beginning a span are tied."""
        rows, columns = np.nonzero(ties & np.isfinite(best[:, self._inside]) & (self._begin != self._inside))
        if not len(rows):
            return
        scores = np.full((len(rows), self._n_labels), -np.inf, np.float32)
        for choices in (self._inside[columns], self._begin[columns]):
            scores[np.arange(len(rows)), choices] = best[rows, choices]
        source[rows, self._inside[columns]] = self._first(scores)


def _likelihood(path: Tags, scores: Scores) -> float:
    return float(scores[np.arange(len(path)), path].sum())
