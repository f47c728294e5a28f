"""What a graph is about: the cosine of the label vectors of one node of each graph (Opitz & Frank 2022, §4.2).

    max_indegree, max_outdegree, max_degree   the best connected node
    root                                      the root

Degrees count relations between nodes, with inverse roles inverted back. Among nodes of equal degree, the one nearest
the root is taken (steps along relations in either direction), then the first label in order. A negative cosine counts
as 0.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from features.metrics.arrays import Positions, Statistics
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, mean, similarities
from features.metrics.readings import Readings

_NO_LENGTH = 1e-30


def _best_connected(readings: Readings, *ends: Positions) -> Positions:
    """Return the node of each graph with the greatest degree, then the smallest distance, then the first label."""
    order, offsets = readings.nearest_first, readings.graphs.node_offsets
    degrees = np.bincount(np.concatenate(ends), minlength=len(order))[order]
    greatest = np.maximum.reduceat(degrees, offsets[:-1])
    best = np.flatnonzero(degrees == np.repeat(greatest, np.diff(offsets)))
    return np.asarray(order[best[np.searchsorted(best, offsets[:-1])]], np.int64)


NODES: Mapping[str, Callable[[Readings], Positions]] = {
    "max_indegree": lambda readings: _best_connected(readings, readings.relations.targets),
    "max_outdegree": lambda readings: _best_connected(readings, readings.relations.sources),
    "max_degree": lambda readings: _best_connected(readings, readings.relations.sources, readings.relations.targets),
    "root": lambda readings: readings.graphs.node_offsets[:-1],
}
"""The node of each graph that each metric reads, numbered through the batch, (n_graphs,)."""


@kernel
def _clipped_cosines(vectors: Any, left: Any, right: Any) -> Any:
    """Return the cosine of two rows for each pair, at least 0; exactly 1 for a row and itself, despite rounding."""
    cosines = np.ones(len(left))
    for pair in range(len(left)):
        if left[pair] == right[pair]:
            continue
        product, length, other_length = 0.0, 0.0, 0.0
        for axis in range(vectors.shape[1]):
            x, y = np.float64(vectors[left[pair], axis]), np.float64(vectors[right[pair], axis])
            product += x * y
            length += x * x
            other_length += y * y
        cosines[pair] = max(product / max(np.sqrt(length * other_length), _NO_LENGTH), 0.0)
    return cosines


def _metric(name: str, summary: str, question: str) -> Metric:
    """Compare the labels of one node of each graph."""

    def statistics(pairs: Comparison) -> Statistics:
        labels = pairs.readings.neighbourhoods.labels_of_concepts[pairs.graphs.concepts[NODES[name](pairs.readings)]]
        return similarities(_clipped_cosines(pairs.label_vectors, labels[pairs.first], labels[pairs.second]))

    return Metric(
        name,
        f"cosine of the label vectors of the {summary}",
        question,
        statistics,
        mean,
        parameters={"vectors": "labels"},
        vacuous=None,
    )


MAX_INDEGREE = _metric(
    "max_indegree",
    "nodes with most incoming relations",
    "Are the concepts alike that most others point to?",
)
MAX_OUTDEGREE = _metric(
    "max_outdegree",
    "nodes with most outgoing relations",
    "Are the concepts alike that point to most others?",
)
MAX_DEGREE = _metric(
    "max_degree",
    "nodes with most relations",
    "Are the best connected concepts alike?",
)
ROOT = _metric(
    "root",
    "roots",
    "Are the main concepts alike, the roots of the graphs?",
)
