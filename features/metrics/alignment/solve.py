"""The best alignments of all pairs of a batch."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from features.metrics.alignment.problem import build_pair
from features.metrics.alignment.search import START, search
from features.metrics.arrays import Positions
from features.metrics.compiled import kernel
from features.metrics.registry import STEPS
from features.metrics.triples import TripleBatch


class Alignments(NamedTuple):
    """The best alignment of each pair."""

    matched: npt.NDArray[np.float64]  # number of matching triples, (n_pairs,)
    bound: npt.NDArray[np.float64]  # upper bound on the number of matching triples, (n_pairs,)
    closed_by: npt.NDArray[np.int8]  # what proved that they are equal (`search.START` …), or `search.OPEN`, (n_pairs,)
    steps: Positions  # number of steps of the search, (n_pairs,)
    offsets: Positions  # (n_pairs + 1,)
    # `images[offsets[p]:offsets[p + 1]]` are the nodes of the second graph of pair p with which the nodes of its first
    # graph are aligned, -1 for none; numbered within the graph, as in the `TripleBatch`. Nodes may be aligned although
    # nothing of theirs matches.
    images: npt.NDArray[np.int32]

    @property
    def proven(self) -> npt.NDArray[np.bool_]:
        """Whether the alignment is proven optimal, shape (n_pairs,)."""
        return np.asarray(self.bound == self.matched, np.bool_)


def best_alignments(triples: TripleBatch, first: Positions, second: Positions, steps: int = STEPS) -> Alignments:
    """Return the alignment of each pair under which most triples match.

    Args:
        triples: the graphs.
        first: position of the first graph of each pair, shape (n_pairs,).
        second: position of the second graph, shape (n_pairs,).
        steps: number of steps after which the search of a pair ends, proven or not.
    """
    sizes = np.diff(triples.node_offsets)[first]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    alignments = Alignments(
        np.zeros(len(first)),
        np.zeros(len(first)),
        np.full(len(first), START, np.int8),
        np.zeros(len(first), np.int64),
        offsets,
        np.full(offsets[-1], -1, np.int32),
    )
    _search_all(triples, first, second, steps, alignments)
    return alignments


@kernel
def _search_all(triples: TripleBatch, first: Any, second: Any, steps: int, alignments: Alignments) -> None:
    """Search each pair, and fill in the alignments."""
    matched, bound, closed_by, taken, offsets, images = alignments
    nodes = triples.node_offsets
    for pair in range(len(first)):
        left, right = first[pair], second[pair]
        n_left, n_right = nodes[left + 1] - nodes[left], nodes[right + 1] - nodes[right]
        if n_left == 0 or n_right == 0:
            continue
        problem = build_pair(triples, left, right)
        matched[pair], column_of, bound[pair], closed_by[pair], taken[pair] = search(problem, steps)
        image = images[offsets[pair] : offsets[pair + 1]]
        for row in range(len(column_of)):
            if n_left <= n_right:
                image[row] = column_of[row]
            elif column_of[row] >= 0:
                image[column_of[row]] = row
