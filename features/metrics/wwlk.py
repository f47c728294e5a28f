"""WWLK: the Wasserstein Weisfeiler-Leman kernel on AMR graphs, k = 2 (Opitz et al. 2021a; Togninalli et al. 2019).

    x₀(v)     mean of the word vectors of the node's label
    xᵢ₊₁(v)   xᵢ(v) + mean over the neighbours u, both ways, of 0.275 · xᵢ(u)
    x(v)      x₀, x₁, x₂ one after the other, scaled to length 1
    score     1 − Earth Mover's distance of the two sets of vectors, uniform masses, Euclidean costs

The score lies in [−1, 1] and is clipped at 0. The reference draws role weights from [0.25, 0.35] and the vectors of
unknown words at random; here both are fixed, so that the number is one number.
"""

from typing import Any

import numpy as np

from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, Statistics, mean, similarities
from features.metrics.transport import earth_movers_distance

ITERATIONS = 2
ROLE_WEIGHT = 0.275
_ROUNDING = 1e-12  # a squared distance below this is one vector, summed in another order


def _statistics(pairs: Comparison) -> Statistics:
    graphs = pairs.neighbourhoods
    scores = _scores(
        pairs.vectors.of_labels(graphs.label_names).astype(np.float64),
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
    scores = np.empty(len(first))
    for pair in range(len(first)):
        left = _embed(vectors, node_offsets, labels, offsets, neighbours, first[pair])
        right = _embed(vectors, node_offsets, labels, offsets, neighbours, second[pair])
        costs = np.dot(left, right.T)
        for i in range(costs.shape[0]):
            for j in range(costs.shape[1]):
                squared = 2.0 - 2.0 * costs[i, j]
                costs[i, j] = np.sqrt(squared) if squared > _ROUNDING else 0.0
        scores[pair] = 1.0 - earth_movers_distance(costs)
    return scores


@kernel
def _embed(vectors: Any, node_offsets: Any, labels: Any, offsets: Any, neighbours: Any, graph: int) -> Any:
    """Return the vectors of a graph's nodes, of length 1, shape (n_nodes, (k + 1) · n_dimensions)."""
    start, end = node_offsets[graph], node_offsets[graph + 1]
    n, d = end - start, vectors.shape[1]
    embedded = np.empty((n, (ITERATIONS + 1) * d))
    for node in range(n):
        embedded[node, :d] = vectors[labels[start + node]]
    for iteration in range(ITERATIONS):
        before, here = iteration * d, (iteration + 1) * d
        for node in range(n):
            first, last = offsets[start + node], offsets[start + node + 1]
            for x in range(d):
                embedded[node, here + x] = embedded[node, before + x]
            for t in range(first, last):
                other = neighbours[t] - start
                weight = ROLE_WEIGHT / (last - first)
                for x in range(d):
                    embedded[node, here + x] += weight * embedded[other, before + x]
    for node in range(n):
        squared = 0.0
        for x in range(embedded.shape[1]):
            squared += embedded[node, x] * embedded[node, x]
        if squared > 0:
            scale = 1.0 / np.sqrt(squared)
            for x in range(embedded.shape[1]):
                embedded[node, x] *= scale
    return embedded


WWLK = Metric(
    name="wwlk",
    summary="1 − Earth Mover's distance of contextualised node vectors",
    statistics=_statistics,
    number=mean,
    parameters={"k": str(ITERATIONS), "role_weight": str(ROLE_WEIGHT), "transport": "exact"},
    vacuous=None,
)
