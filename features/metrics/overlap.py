"""Metrics that compare bags of labels: multiset F1, no alignment needed.

    concepts        concepts of all nodes
    frames          concepts that are PropBank frames, sense included (want-01, have-rel-role-91)
    named_entities  concepts of the nodes that have a :name, once for each name
    negations       concepts of the nodes that have :polarity -
    quantifiers     the filler of each :quant, whether constant or concept     (c / cat :quant 2)          2
                    the number in :op of such a concept           :quant (m / more-than :op1 3)  more-than, 3
                    each modifier (:mod) whose concept is in `QUANTIFIERS`     (m / man :mod (a / all))    all

After FineSmatch (Damonte et al. 2017). A label that occurs 2 and 3 times counts as 2 matches. FineSmatch treats any
:polarity as negation, also that of "whether" (:polarity-of truth-value) and of questions (:polarity amr-unknown).

`quantifiers` is quantSim (Opitz & Frank 2022, §4.2); the paper fixes neither the set nor the normal form. Here: lower
case, numbers in their shortest form ("2.0", 2 and "2" are one). What is quantified does not count: "three men posing in
a tent" and "three men eating in a kitchen" agree, "two cats" and "a white cat" do not (the paper's Table 7).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from features.metrics.arrays import Items, Mask, Positions, Statistics, distinct, ids_of, owners
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, f1
from features.metrics.readings import Readings, is_frame

QUANTIFIERS = frozenset({
    "all", "any", "both", "each", "every", "few", "many", "most", "much", "no", "none", "several", "some",
})  # fmt: skip
"""Concepts that quantify when used as modifiers."""


@kernel
def count_common(offsets: Any, items: Any, first: Any, second: Any) -> Any:
    """Return how many items the bags of each pair have in common, float64, (n_pairs,); items are sorted by graph."""
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


def normalise_quantity(filler: str) -> str:
    """Return the filler of a quantity in normal form.

    >>> normalise_quantity('"1,000.0"'), normalise_quantity("Many")
    ('1000', 'many')
    """
    plain = filler.replace('"', "").strip().lower()
    digits = plain.replace(",", "")
    with suppress(ValueError):
        return str(int(digits))  # a float has no more than 16 digits
    with suppress(ValueError):
        number = float(digits)
        return str(int(number)) if number.is_integer() else str(number)
    return plain


def concepts_of(readings: Readings, nodes: Positions) -> tuple[Items, ...]:
    """Return the concepts of some nodes; a node given twice counts twice."""
    return (Items("node", nodes, (nodes,), readings.labels[nodes]),)


def _frames(readings: Readings) -> tuple[Items, ...]:
    are_frames = np.array([is_frame(name) for name in readings.graphs.concept_names], bool)
    return concepts_of(readings, np.flatnonzero(are_frames[readings.graphs.concepts]))


def _named(readings: Readings) -> tuple[Items, ...]:
    relations = readings.relations
    is_name = np.array([name == "name" for name in relations.names], bool)[relations.roles]
    (named, _), _ = distinct(relations.sources[is_name], relations.targets[is_name])
    return concepts_of(readings, np.concatenate([named, _nodes_with_attribute(readings, "name")]))


def _nodes_with_attribute(readings: Readings, role: str, value: str | None = None) -> Positions:
    """Return the nodes, numbered through the batch, that have an attribute; with any value when None."""
    graphs = readings.graphs
    roles = np.array([name.lower() == role for name in graphs.role_names], bool)
    values = np.array([value is None or name.replace('"', "") == value for name in graphs.value_names], bool)
    kept = roles[graphs.attribute_roles] & values[graphs.attribute_values]
    return np.asarray(readings.attribute_nodes[kept], np.int64)


def _quantities(readings: Readings) -> tuple[Items, ...]:
    graphs, relations = readings.graphs, readings.relations
    ids: dict[str, int] = {}
    concepts = ids_of(map(normalise_quantity, graphs.concept_names), ids)
    values = ids_of(map(normalise_quantity, graphs.value_names), ids)
    quantifying = np.array([name.lower() in QUANTIFIERS for name in graphs.concept_names], bool)[graphs.concepts]

    is_quantity = _roles(relations.names, lambda role: role == "quant")[relations.roles]
    is_mod = _roles(relations.names, lambda role: role == "mod")[relations.roles]
    is_domain = _roles(relations.names, lambda role: role == "domain")[relations.roles]
    fillers = relations.targets[is_quantity]
    modifiers = np.concatenate([relations.targets[is_mod], relations.sources[is_domain]])  # `a :domain b` is `b :mod a`
    nodes = np.union1d(fillers, modifiers[quantifying[modifiers]])

    of_quantity = _roles(graphs.role_names, lambda role: role == "quant")[graphs.attribute_roles]
    of_operator = _roles(graphs.role_names, lambda role: role.startswith("op"))[graphs.attribute_roles]
    attributes = np.flatnonzero(of_quantity | (of_operator & np.isin(readings.attribute_nodes, fillers)))
    attribute_nodes, constants = readings.attribute_nodes[attributes], values[graphs.attribute_values[attributes]]
    return (
        Items("node", nodes, (nodes,), concepts[graphs.concepts[nodes]]),
        Items("attribute", attributes, (attribute_nodes,), constants),
    )


def _roles(names: Iterable[str], is_kept: Callable[[str], bool]) -> Mask:
    return np.array([is_kept(name.lower()) for name in names], bool)


BAGS: Mapping[str, Callable[[Readings], tuple[Items, ...]]] = {
    "frames": _frames,
    "concepts": lambda readings: concepts_of(readings, np.arange(len(readings.graphs.concepts))),
    "named_entities": _named,
    "negations": lambda readings: concepts_of(readings, np.unique(_nodes_with_attribute(readings, "polarity", "-"))),
    "quantifiers": _quantities,
}
"""The bag that each metric reads."""


def _bag_metric(name: str, summary: str, question: str, vacuous: float | None = 1.0, **parameters: str) -> Metric:
    def statistics(pairs: Comparison) -> Statistics:
        bags = BAGS[name](pairs.readings)
        graph_of = owners(pairs.graphs.node_offsets)[np.concatenate([each.ends[0] for each in bags])]
        items = np.concatenate([each.keys for each in bags])
        order = np.lexsort((items, graph_of))
        sizes = np.bincount(graph_of, minlength=len(pairs.graphs))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        matched = count_common(offsets, items[order].astype(np.int64), pairs.first, pairs.second)
        return np.column_stack([matched, sizes[pairs.first], sizes[pairs.second]]).astype(np.float64)

    return Metric(name, summary, question, statistics, f1, {"count": "multiset", **parameters}, vacuous=vacuous)


FRAMES = _bag_metric(
    "frames",
    "F1 of PropBank frames",
    "Are the same events and states named, in the same sense?",
)
CONCEPTS = _bag_metric(
    "concepts",
    "F1 of concepts",
    "Are the same things, events and properties named, wherever they stand?",
    vacuous=None,
)
NAMED_ENTITIES = _bag_metric(
    "named_entities",
    "F1 of the concepts of nodes with a :name",
    "Are the same kinds of things called by name: persons, cities, companies?",
)
NEGATIONS = _bag_metric(
    "negations",
    "F1 of the concepts of nodes with :polarity -",
    "Is the same thing negated?",
)
QUANTIFIERS_METRIC = _bag_metric(
    "quantifiers",
    "F1 of the fillers of :quant and of quantifying modifiers",
    "Are quantities the same: numbers, and words such as all, some and few?",
    set="quant+mod",
)
