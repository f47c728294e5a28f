"""quantSim: multiset F1 of quantifier structure (Opitz & Frank 2022, §4.2).

The paper fixes neither the set nor the normal form. Here the items of a graph are

    the filler of each `:quant`, whether constant or concept      (c / cat :quant 2)               2
    the number in `:op` of such a concept                          :quant (m / more-than :op1 3)   more-than, 3
    each modifier (`:mod`) whose concept is in `QUANTIFIERS`       (m / man :mod (a / all))        all

in lower case, numbers in their shortest form ("2.0", 2 and "2" are one). What is quantified does not count: "three men
posing in a tent" and "three men eating in a kitchen" agree, "two cats" and "a white cat" do not (the paper's Table 7).
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np

from features.metrics.arrays import Mask, Statistics, ids_of, owners
from features.metrics.metric import Comparison, Metric, f1
from features.metrics.overlap import bag_statistics

QUANTIFIERS = frozenset({
    "all", "any", "both", "each", "every", "few", "many", "most", "much", "no", "none", "several", "some",
})  # fmt: skip
"""Concepts that quantify when used as modifiers."""


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


def _statistics(pairs: Comparison) -> Statistics:
    graphs, relations = pairs.graphs, pairs.readings.relations
    ids: dict[str, int] = {}
    concepts = ids_of(map(normalise_quantity, graphs.concept_names), ids)
    values = ids_of(map(normalise_quantity, graphs.value_names), ids)
    quantifying = np.array([name.lower() in QUANTIFIERS for name in graphs.concept_names], bool)[graphs.concepts]

    is_quantity = _roles(relations.names, lambda role: role == "quant")[relations.roles]
    is_mod = _roles(relations.names, lambda role: role == "mod")[relations.roles]
    is_domain = _roles(relations.names, lambda role: role == "domain")[relations.roles]
    fillers = np.zeros(len(graphs.concepts), bool)
    fillers[relations.targets[is_quantity]] = True
    modifiers = np.zeros(len(graphs.concepts), bool)
    modifiers[relations.targets[is_mod]] = True
    modifiers[relations.sources[is_domain]] = True  # `a :domain b` is `b :mod a`
    nodes = np.flatnonzero(fillers | (modifiers & quantifying))

    graph_of_attribute = owners(graphs.attribute_offsets)
    of_quantity = _roles(graphs.role_names, lambda role: role == "quant")[graphs.attribute_roles]
    of_operator = _roles(graphs.role_names, lambda role: role.startswith("op"))[graphs.attribute_roles]
    attributes = np.flatnonzero(of_quantity | (of_operator & fillers[pairs.readings.attribute_nodes]))
    return bag_statistics(
        np.concatenate([owners(graphs.node_offsets)[nodes], graph_of_attribute[attributes]]),
        np.concatenate([concepts[graphs.concepts[nodes]], values[graphs.attribute_values[attributes]]]),
        pairs,
    )


def _roles(names: Iterable[str], is_kept: Callable[[str], bool]) -> Mask:
    return np.array([is_kept(name.lower()) for name in names], bool)


QUANTIFIERS_METRIC = Metric(
    name="quantifiers",
    summary="F1 of the fillers of :quant and of quantifying modifiers",
    question="Are quantities the same: numbers, and words such as all, some and few?",
    statistics=_statistics,
    number=f1,
    parameters={"count": "multiset", "set": "quant+mod"},
)
