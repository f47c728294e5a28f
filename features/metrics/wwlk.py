"""WWLK: the Wasserstein Weisfeiler-Leman kernel on AMR graphs, k = 2 (Opitz et al. 2021a; Togninalli et al. 2019).

    x₀(v)     mean of the word vectors of the node's label
    xᵢ₊₁(v)   xᵢ(v) + mean over the neighbours u, in both directions, of 0.275 · xᵢ(u)
    x(v)      x₀, x₁, x₂ concatenated, scaled to length 1
    score     1 − Earth Mover's distance of the two sets of vectors, uniform masses, Euclidean costs

The score lies in [−1, 1] and is clipped at 0. The reference implementation draws role weights from [0.25, 0.35] and the
vectors of unknown words at random; here both are fixed, so that the score is deterministic.
"""

from typing import Any

import numpy as np

from features.metrics.arrays import Statistics
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, mean, similarities
from features.metrics.transport import earth_movers_distance

ITERATIONS = 2
ROLE_WEIGHT = 0.275
_ROUNDING = 1e-12  # a squared distance below this means the same vector, summed in another order


def _statistics(pairs: Comparison) -> Statistics:
    graphs = pairs.readings.neighbourhoods
    scores = _scores(
        pairs.label_vectors,
        graphs.node_offsets,
        graphs.labels,
        graphs.offsets,
        graphs.neighbours,
        pairs.first,
        pairs.second,
    )
    return similarities(np.maximum(scores, 0.0))


@kernel
def _scores(
    vectors: Any, node_offsets: Any, labels: Any, offsets: Any, neighbours: Any, first: Any, second: Any
) -> Any:
    lengths = np.empty(len(labels))
    for graph in range(len(node_offsets) - 1):
        products = _inner_products(vectors, node_offsets, labels, offsets, neighbours, graph, graph)
        for node in range(products.shape[0]):
            lengths[node_offsets[graph] + node] = np.sqrt(products[node, node])
    scores = np.empty(len(first))
    for pair in range(len(first)):
        left, right = first[pair], second[pair]
        costs = _inner_products(vectors, node_offsets, labels, offsets, neighbours, left, right)
        for i in range(costs.shape[0]):
            for j in range(costs.shape[1]):
                length = lengths[node_offsets[left] + i] * lengths[node_offsets[right] + j]
                squared = 2.0 - 2.0 * costs[i, j] / length if length > 0 else 2.0
                costs[i, j] = np.sqrt(squared) if squared > _ROUNDING else 0.0
        scores[pair] = 1.0 - earth_movers_distance(costs)
    return scores


@kernel
def _inner_products(
    vectors: Any, node_offsets: Any, labels: Any, offsets: Any, neighbours: Any, left: int, right: int
) -> Any:
    """Return x(v) · x(u) for the nodes of two graphs, before scaling, shape (n_left, n_right).

    Adding the neighbours is linear, so it is applied to the products of the labels' vectors, x₀(v) · x₀(u), and not to
    the vectors, which are much longer.
    """
    start, end = node_offsets[left], node_offsets[left + 1]
    other_start, other_end = node_offsets[right], node_offsets[right + 1]
    products = np.dot(_rows(vectors, labels[start:end]), _rows(vectors, labels[other_start:other_end]).T)
    total = products.copy()
    halfway = np.empty_like(products)
    for _ in range(ITERATIONS):
        _take_up_left(products, offsets, neighbours, start, halfway)
        _take_up_right(halfway, offsets, neighbours, other_start, products)
        total += products
    return total


@kernel
def _rows(vectors: Any, labels: Any) -> Any:
    """Return the vectors of some labels in double precision, which small distances require."""
    rows = np.empty((len(labels), vectors.shape[1]))
    for node in range(len(labels)):
        rows[node] = vectors[labels[node]]
    return rows


@kernel
def _take_up_left(products: Any, offsets: Any, neighbours: Any, start: int, result: Any) -> None:
    """Add to the row of each node of the left graph the weighted mean of its neighbours' rows."""
    for node in range(products.shape[0]):
        result[node] = products[node]
        first, last = offsets[start + node], offsets[start + node + 1]
        weight = ROLE_WEIGHT / max(last - first, 1)
        for t in range(first, last):
            other = neighbours[t] - start
            for column in range(products.shape[1]):
                result[node, column] += weight * products[other, column]


@kernel
def _take_up_right(products: Any, offsets: Any, neighbours: Any, start: int, result: Any) -> None:
    """Add to the column of each node of the right graph the weighted mean of its neighbours' columns."""
    for node in range(products.shape[1]):
        first, last = offsets[start + node], offsets[start + node + 1]
        weight = ROLE_WEIGHT / max(last - first, 1)
        for row in range(products.shape[0]):
            taken = 0.0
            for t in range(first, last):
                taken += products[row, neighbours[t] - start]
            result[row, node] = products[row, node] + weight * taken


WWLK = Metric(
    name="wwlk",
    summary="1 − Earth Mover's distance of contextualised node vectors",
    question="Do similar concepts stand beside similar concepts, a kitten being near a cat?",
    statistics=_statistics,
    number=mean,
    parameters={"k": str(ITERATIONS), "role_weight": str(ROLE_WEIGHT), "transport": "exact"},
    vacuous=None,
)
