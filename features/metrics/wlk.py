"""WLK: the Weisfeiler-Leman kernel on AMR graphs, k = 2 (Opitz et al. 2021a; Shervashidze et al. 2011).

    iteration 0   which labels occur, and which labelled triples
    iteration 1   which labels occur once each node's label is extended by the sorted role_label of all its neighbours
    iteration 2   the same once more

Features record that something occurs, not how often; those of iteration i have the weight 1 / (1 + i); the metric is
the cosine. Contextualised labels are stored as 64-bit hashes: two different ones would collide once in some 10¹²
graphs. In the reference implementation, one of the nodes with the same label, by the order of a set, gives its
neighbourhood to all of them; here each node has its own.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from features.metrics.arrays import Statistics, owners
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, mean, similarities
from features.metrics.overlap import count_common
from features.metrics.readings import Neighbourhoods

ITERATIONS = 2
_ROLE = np.uint64(0xD6E8FEB86659FD93)
_TRIPLE = np.uint64(0xA0761D6478BD642F)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@kernel
def _mix(value: Any) -> Any:
    """Scatter 64 bits, those of a number or of each number of an array (SplitMix64, Steele et al. 2014)."""
    value = value + _GOLDEN
    value = (value ^ (value >> np.uint64(30))) * _FIRST
    value = (value ^ (value >> np.uint64(27))) * _SECOND
    return value ^ (value >> np.uint64(31))


@kernel
def _contextualise(hashes: Any, offsets: Any, neighbours: Any, roles: Any) -> Any:
    """Return each node's label combined with those of its neighbours; a sum does not depend on their order."""
    contextualised = np.empty_like(hashes)
    for node in range(len(hashes)):
        around = np.uint64(0)
        for t in range(offsets[node], offsets[node + 1]):
            around += _mix(hashes[neighbours[t]] + _mix(np.uint64(roles[t]) ^ _ROLE))
        contextualised[node] = _mix(_mix(hashes[node]) + around)
    return contextualised


def _statistics(pairs: Comparison) -> Statistics:
    graphs = pairs.readings.neighbourhoods
    dot = np.zeros(len(pairs))
    lengths = np.zeros(len(pairs.graphs))
    for iteration, features in enumerate(_features(graphs)):
        offsets = graphs.node_offsets + (graphs.edge_offsets if iteration == 0 else 0)
        kept, distinct = _sets(offsets, features)
        weight = (1 + iteration) ** -2  # once for each side
        dot += weight * count_common(kept, distinct, pairs.first, pairs.second)
        lengths += weight * np.diff(kept)
    return similarities(dot / np.sqrt(lengths[pairs.first] * lengths[pairs.second]))


def _features(graphs: Neighbourhoods) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the features of each iteration, graph by graph: labels, and in the first also triples."""
    hashes = _mix(graphs.labels.astype(np.uint64))
    roles = _mix(graphs.roles.astype(np.uint64) ^ _TRIPLE)
    triples = _mix(_mix(hashes[graphs.sources] + roles) ^ hashes[graphs.targets])
    graph_of = np.concatenate([owners(graphs.node_offsets), owners(graphs.edge_offsets)])
    yield np.concatenate([hashes, triples])[np.argsort(graph_of, kind="stable")]
    for _ in range(ITERATIONS):
        hashes = _contextualise(hashes, graphs.offsets, graphs.neighbours, graphs.neighbour_roles)
        yield hashes


@kernel
def _sets(offsets: Any, features: Any) -> Any:
    """Return the distinct features of each graph, sorted: their offsets and the features."""
    kept = np.zeros_like(offsets)
    distinct = np.empty_like(features)
    end = 0
    for graph in range(len(offsets) - 1):
        own = np.sort(features[offsets[graph] : offsets[graph + 1]])
        for t in range(len(own)):
            if t == 0 or own[t] != own[t - 1]:
                distinct[end] = own[t]
                end += 1
        kept[graph + 1] = end
    return kept, distinct[:end]


WLK = Metric(
    name="wlk",
    summary="cosine of the labels, triples and contextualised labels that occur (Weisfeiler-Leman)",
    question="Do the same concepts stand beside the same concepts?",
    statistics=_statistics,
    number=mean,
    parameters={"k": str(ITERATIONS), "features": "occurrence", "weights": "linear"},
    vacuous=None,
)
