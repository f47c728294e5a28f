"""All pairs of a batch: the compiled search, then the integer program for the pairs that it leaves open."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from features.metrics.alignment.integer_program import solve_exactly
from features.metrics.alignment.problem import Problem, build
from features.metrics.alignment.search import OPEN, PROGRAM, START, Budget, search
from features.metrics.arrays import Positions
from features.metrics.compiled import kernel
from features.metrics.triples import TripleBatch

BUDGET = Budget(nodes=2000, root_iterations=40, node_iterations=20, work=6e9)
"""A few seconds at most. Every pair of the STS, SICK and MRPC sentences is proven with a fraction of it; the open ones
are unlabeled pairs of unlike graphs of more than some 45 nodes, which the integer program rarely proves sooner."""


@dataclass(frozen=True)
class Alignments:
    """The best alignment of each pair.

    Args:
        matched: number of matching triples, shape (n_pairs,).
        closed_by: what proved it optimal (`search.START` … `search.PROGRAM`), or `search.OPEN`, shape (n_pairs,).
        offsets: shape (n_pairs + 1,).
        images: `images[offsets[p]:offsets[p + 1]]` are the nodes of the second graph of pair p with which the nodes of
            its first graph are aligned, -1 for none; numbered within the graph, as in the `TripleBatch`. Nodes may be
            aligned although nothing of theirs matches.
    """

    matched: npt.NDArray[np.float64]
    closed_by: npt.NDArray[np.int8]
    offsets: Positions
    images: npt.NDArray[np.int32]

    @property
    def proven(self) -> npt.NDArray[np.bool_]:
        """Whether the alignment is proven optimal, shape (n_pairs,)."""
        return np.asarray(self.closed_by != OPEN, np.bool_)


def best_alignments(triples: TripleBatch, first: Positions, second: Positions, budget: Budget = BUDGET) -> Alignments:
    """Return the alignment of each pair under which most triples match.

    Args:
        triples: the graphs.
        first: position of the first graph of each pair, shape (n_pairs,).
        second: position of the second graph, shape (n_pairs,).
        budget: limits after which the search gives way to the integer program.
    """
    arrays = (
        triples.node_offsets,
        triples.labels,
        triples.attribute_offsets,
        triples.attributes,
        triples.relation_offsets,
        triples.relations,
    )
    sizes = np.diff(triples.node_offsets)[first]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    found = Alignments(
        np.zeros(len(first)), np.full(len(first), START, np.int8), offsets, np.full(offsets[-1], -1, np.int32)
    )
    _search_all(arrays, first, second, budget, found.matched, found.closed_by, offsets, found.images)
    for pair in np.flatnonzero(found.closed_by == OPEN):
        image = found.images[offsets[pair] : offsets[pair + 1]]
        problem = build_pair(arrays, first[pair], second[pair])
        swapped = len(image) != problem.n_rows
        known = _inverse(image, problem.n_rows) if swapped else image.astype(np.int64)
        found.matched[pair], columns, proven = solve_exactly(problem, found.matched[pair], known)
        image[:] = _inverse(columns, len(image)) if swapped else columns
        if proven:
            found.closed_by[pair] = PROGRAM
    return found


def best_matches(
    triples: TripleBatch, first: Positions, second: Positions, budget: Budget = BUDGET
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the greatest number of matching triples of each pair, and whether it is proven; see `best_alignments`."""
    found = best_alignments(triples, first, second, budget)
    return found.matched, found.proven


@kernel
def build_pair(arrays: Any, left: int, right: int) -> Problem:
    """Build the problem of two graphs of a batch, the smaller one first."""
    nodes, labels, attribute_offsets, attributes, relation_offsets, relations = arrays
    if nodes[left + 1] - nodes[left] > nodes[right + 1] - nodes[right]:
        left, right = right, left
    return build(
        labels[nodes[left] : nodes[left + 1]],
        attributes[attribute_offsets[left] : attribute_offsets[left + 1]],
        relations[relation_offsets[left] : relation_offsets[left + 1]],
        labels[nodes[right] : nodes[right + 1]],
        attributes[attribute_offsets[right] : attribute_offsets[right + 1]],
        relations[relation_offsets[right] : relation_offsets[right + 1]],
    )


@kernel
def _search_all(
    arrays: Any, first: Any, second: Any, budget: Budget, matched: Any, closed_by: Any, offsets: Any, images: Any
) -> None:
    """Search each pair, and fill in what was found (see `Alignments`)."""
    nodes = arrays[0]
    for pair in range(len(first)):
        left, right = first[pair], second[pair]
        n_left, n_right = nodes[left + 1] - nodes[left], nodes[right + 1] - nodes[right]
        if n_left == 0 or n_right == 0:
            continue
        matched[pair], column_of, closed_by[pair] = search(build_pair(arrays, left, right), budget)
        image = images[offsets[pair] : offsets[pair + 1]]
        for row in range(len(column_of)):
            if n_left <= n_right:
                image[row] = column_of[row]
            elif column_of[row] >= 0:
                image[column_of[row]] = row


def _inverse(image: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.int64]:
    """Return the node aligned with each of `size` nodes, -1 for none."""
    inverse = np.full(size, -1, np.int64)
    inverse[image[image >= 0]] = np.flatnonzero(image >= 0)
    return inverse
