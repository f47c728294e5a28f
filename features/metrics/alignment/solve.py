"""All pairs of a batch: the search compiled, then the integer programme for what it leaves open."""

from typing import Any

import numpy as np
import numpy.typing as npt

from features.metrics.alignment.integer_program import solve_exactly
from features.metrics.alignment.problem import Problem, build
from features.metrics.alignment.search import Budget, search
from features.metrics.compiled import kernel
from features.metrics.triples import TripleBatch

BUDGET = Budget(nodes=2000, root_iterations=100, node_iterations=30, work=6e9)
"""Some seconds at most. Every pair of the STS, SICK and MRPC sentences is proven with a fraction of it; what stays open
are unlabeled pairs of unlike graphs of more than some 45 nodes, which the integer programme rarely proves sooner."""


def best_matches(
    triples: TripleBatch,
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    budget: Budget = BUDGET,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the greatest number of matching triples of each pair.

    Args:
        triples: the graphs.
        first: position of the first graph of each pair, shape (n_pairs,).
        second: position of the second graph, shape (n_pairs,).
        budget: when the search gives way to the integer programme.

    Returns:
        Matches and whether they are proven to be the most possible, each of shape (n_pairs,).
    """
    arrays = (
        triples.node_offsets,
        triples.labels,
        triples.attribute_offsets,
        triples.attributes,
        triples.relation_offsets,
        triples.relations,
    )
    matched, proven = _search_all(arrays, first, second, budget)
    for pair in np.flatnonzero(~proven):
        problem = build_pair(arrays, first[pair], second[pair])
        matched[pair], proven[pair] = solve_exactly(problem, matched[pair])
    return matched, proven


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
def _search_all(arrays: Any, first: Any, second: Any, budget: Budget) -> Any:
    nodes = arrays[0]
    matched = np.zeros(len(first))
    proven = np.ones(len(first), np.bool_)
    for pair in range(len(first)):
        left, right = first[pair], second[pair]
        if nodes[left + 1] > nodes[left] and nodes[right + 1] > nodes[right]:
            matched[pair], proven[pair] = search(build_pair(arrays, left, right), budget)
    return matched, proven
