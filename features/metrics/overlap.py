"""Metrics that compare bags of labels: multiset F1, no alignment needed.

    concepts        concepts of all nodes
    frames          concepts that are PropBank frames, sense included (want-01, have-rel-role-91)
    named_entities  concepts of the nodes that have a :name
    negations       concepts of the nodes that have :polarity -

After FineSmatch (Damonte et al. 2017). A label that occurs 2 and 3 times counts as 2 matches.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from features.graphs.batch import GraphBatch
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, Statistics, f1
from features.metrics.triples import node_labels, owners

Mask = npt.NDArray[np.bool_]

_FRAME = re.compile(r"-[0-9]{2,}$")


def bag_statistics(
    graph_of: npt.NDArray[np.int64], items: npt.NDArray[np.integer[Any]], pairs: Comparison
) -> Statistics:
    """Return (matched, left, right) for bags of items.

    Args:
        graph_of: graph of each item, shape (n_items,).
        items: ids; equal items have equal ids, shape (n_items,).
        pairs: the pairs.

    Returns:
        Shape (n_pairs, 3).
    """
    order = np.lexsort((items, graph_of))
    sizes = np.bincount(graph_of, minlength=len(pairs.graphs))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    matched = _overlap(offsets, items[order].astype(np.int64), pairs.first, pairs.second)
    return np.column_stack([matched, sizes[pairs.first], sizes[pairs.second]]).astype(np.float64)


@kernel
def _overlap(offsets: Any, items: Any, first: Any, second: Any) -> Any:
    """Return the size of the intersection of the sorted bags of each pair."""
    matched = np.zeros(len(first))
    for pair in range(len(first)):
        left, left_end = offsets[first[pair]], offsets[first[pair] + 1]
        right, right_end = offsets[second[pair]], offsets[second[pair] + 1]
        while left < left_end and right < right_end:
            if items[left] == items[right]:
                matched[pair] += 1
                left += 1
                right += 1
            elif items[left] < items[right]:
                left += 1
            else:
                right += 1
    return matched


def _bag_of_concepts(which: Callable[[Comparison], Mask]) -> Callable[[Comparison], Statistics]:
    def statistics(pairs: Comparison) -> Statistics:
        graphs, kept = pairs.graphs, which(pairs)
        return bag_statistics(owners(graphs.node_offsets)[kept], node_labels(graphs)[kept], pairs)

    return statistics


def _all_nodes(pairs: Comparison) -> Mask:
    return np.ones(len(pairs.graphs.concepts), bool)


def _frames(pairs: Comparison) -> Mask:
    is_frame = np.array([_FRAME.search(name) is not None for name in pairs.graphs.concept_names], bool)
    return is_frame[pairs.graphs.concepts]


def _named(pairs: Comparison) -> Mask:
    relations = pairs.relations
    named = _all_nodes(pairs) & False
    is_name = np.array([name == "name" for name in relations.names], bool)
    named[relations.sources[is_name[relations.roles]]] = True
    named[_nodes_with_attribute(pairs.graphs, lambda role: role == "name", lambda _: True)] = True
    return named


def _negated(pairs: Comparison) -> Mask:
    negated = _all_nodes(pairs) & False
    is_minus = _nodes_with_attribute(pairs.graphs, lambda role: role == "polarity", lambda value: value == "-")
    negated[is_minus] = True
    return negated


def _nodes_with_attribute(
    graphs: GraphBatch, is_role: Callable[[str], bool], is_value: Callable[[str], bool]
) -> npt.NDArray[np.int64]:
    """Return the nodes, numbered through the batch, that have such an attribute."""
    roles = np.array([is_role(name.lower()) for name in graphs.role_names], bool)
    values = np.array([is_value(name.replace('"', "")) for name in graphs.value_names], bool)
    found = roles[graphs.attribute_roles] & values[graphs.attribute_values]
    nodes = graphs.attribute_nodes[found] + graphs.node_offsets[owners(graphs.attribute_offsets)[found]]
    return np.asarray(nodes, np.int64)


FRAMES = Metric(
    name="frames",
    summary="F1 of PropBank frames",
    statistics=_bag_of_concepts(_frames),
    number=f1,
    parameters={"count": "multiset"},
)

CONCEPTS = Metric(
    name="concepts",
    summary="F1 of concepts",
    statistics=_bag_of_concepts(_all_nodes),
    number=f1,
    parameters={"count": "multiset"},
    vacuous=None,
)

NAMED_ENTITIES = Metric(
    name="named_entities",
    summary="F1 of the concepts of nodes with a :name",
    statistics=_bag_of_concepts(_named),
    number=f1,
    parameters={"count": "multiset"},
)

NEGATIONS = Metric(
    name="negations",
    summary="F1 of the concepts of nodes with :polarity -",
    statistics=_bag_of_concepts(_negated),
    number=f1,
    parameters={"count": "multiset"},
)
