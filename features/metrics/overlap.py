"""Metrics that compare bags of labels: multiset F1, no alignment needed.

    concepts        concepts of all nodes
    frames          concepts that are PropBank frames, sense included (want-01, have-rel-role-91)
    named_entities  concepts of the nodes that have a :name, once for each name
    negations       concepts of the nodes that have :polarity -

After FineSmatch (Damonte et al. 2017). A label that occurs 2 and 3 times counts as 2 matches. FineSmatch treats any
:polarity as negation, also that of "whether" (:polarity-of truth-value) and of questions (:polarity amr-unknown).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from features.metrics.arrays import Positions, Statistics, distinct, owners
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, f1
from features.metrics.relations import is_frame


def bag_statistics(graph_of: Positions, items: npt.NDArray[np.integer[Any]], pairs: Comparison) -> Statistics:
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
    matched = count_common(offsets, items[order].astype(np.int64), pairs.first, pairs.second)
    return np.column_stack([matched, sizes[pairs.first], sizes[pairs.second]]).astype(np.float64)


@kernel
def count_common(offsets: Any, items: Any, first: Any, second: Any) -> Any:
    """Return how many items the bags of each pair have in common, float64, shape (n_pairs,).

    Args:
        offsets: int64, shape (n_graphs + 1,).
        items: sorted within each graph, shape (n_items,).
        first: int64, shape (n_pairs,).
        second: int64, shape (n_pairs,).
    """
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


def _concepts_of(nodes_of: Callable[[Comparison], Positions]) -> Callable[[Comparison], Statistics]:
    """Compare the concepts of some nodes; a node given twice counts twice."""

    def statistics(pairs: Comparison) -> Statistics:
        nodes = nodes_of(pairs)
        return bag_statistics(owners(pairs.graphs.node_offsets)[nodes], pairs.readings.labels[nodes], pairs)

    return statistics


def _all_nodes(pairs: Comparison) -> Positions:
    return np.arange(len(pairs.graphs.concepts))


def _frames(pairs: Comparison) -> Positions:
    are_frames = np.array([is_frame(name) for name in pairs.graphs.concept_names], bool)
    return np.flatnonzero(are_frames[pairs.graphs.concepts])


def _named(pairs: Comparison) -> Positions:
    relations = pairs.readings.relations
    is_name = np.array([name == "name" for name in relations.names], bool)[relations.roles]
    (named, _), _ = distinct(relations.sources[is_name], relations.targets[is_name])
    return np.concatenate([named, _nodes_with_attribute(pairs, "name")])


def _negated(pairs: Comparison) -> Positions:
    return np.unique(_nodes_with_attribute(pairs, "polarity", "-"))


def _nodes_with_attribute(pairs: Comparison, role: str, value: str | None = None) -> Positions:
    """Return the nodes, numbered through the batch, that have an attribute; with any value when None."""
    graphs = pairs.graphs
    roles = np.array([name.lower() == role for name in graphs.role_names], bool)
    values = np.array([value is None or name.replace('"', "") == value for name in graphs.value_names], bool)
    kept = roles[graphs.attribute_roles] & values[graphs.attribute_values]
    return np.asarray(pairs.readings.attribute_nodes[kept], np.int64)


FRAMES = Metric(
    name="frames",
    summary="F1 of PropBank frames",
    question="Are the same events and states named, in the same sense?",
    statistics=_concepts_of(_frames),
    number=f1,
    parameters={"count": "multiset"},
)

CONCEPTS = Metric(
    name="concepts",
    summary="F1 of concepts",
    question="Are the same things, events and properties named, wherever they stand?",
    statistics=_concepts_of(_all_nodes),
    number=f1,
    parameters={"count": "multiset"},
    vacuous=None,
)

NAMED_ENTITIES = Metric(
    name="named_entities",
    summary="F1 of the concepts of nodes with a :name",
    question="Are the same kinds of things called by name: persons, cities, companies?",
    statistics=_concepts_of(_named),
    number=f1,
    parameters={"count": "multiset"},
)

NEGATIONS = Metric(
    name="negations",
    summary="F1 of the concepts of nodes with :polarity -",
    question="Is the same thing negated?",
    statistics=_concepts_of(_negated),
    number=f1,
    parameters={"count": "multiset"},
)
