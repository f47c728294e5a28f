"""Bags and parts against FineSmatch: `oracles/fine_oracle.tsv`, made pair by pair with the functions of
amr-evaluation at 8bc6b2e (concepts, named entities, negations by bags; reentrancies and SRL by hill-climbing).

For reentrancies and SRL the reference marks the first node of its list as the root, keeps one constant for a role,
takes `consist-of` for an inverse, and counts repeated triples as products. With the first three habits rebuilt here
(`reference_part`), the exact number of matches is never below the oracle but for the last; without them, wherever it is
below, one of them made the difference.
"""

from collections import Counter

import numpy as np
import pytest

from features.graphs.graph import AmrGraph
from features.metrics.alignment.solve import best_alignments
from features.metrics.registry import METRICS
from features.metrics.triples import TripleBatch

from_corpora = pytest.mark.parametrize("corpus", ["sts", "sick", "para"])

OTHER_POLARITY = {"sts": {941}, "sick": set(), "para": {199, 297}}
"""Pairs with a :polarity that is no negation: "whether" (:polarity-of truth-value), a question (amr-unknown)."""

COUNTED_AS_PRODUCTS = {"sts": {1063}, "sick": set(), "para": {462}}
"""Pairs with a relation that is repeated on one side: the reference counts 2 and 1 of it as 2 matches."""


def values(name, reference):
    metric = METRICS[name]
    return metric.number(metric.statistics(reference.comparison))


@from_corpora
@pytest.mark.parametrize(
    ("name", "column"),
    [("concepts", "concepts_f1"), ("named_entities", "named_entity_f1"), ("negations", "negation_f1")],
)
def test_bags_equal_the_oracle(name, column, corpus, reference_pairs, oracle_rows):
    found = values(name, reference_pairs(corpus))
    rows = oracle_rows("fine_oracle.tsv", corpus)
    unequal = {
        index
        for index, row in rows.items()
        if found[index] != pytest.approx(float(row[column] or 1.0), abs=1e-6)  # empty: neither graph has the structure
    }
    assert unequal == (OTHER_POLARITY[corpus] if name == "negations" else set())
    assert len(rows) == 150


def reference_part(graph: AmrGraph, name: str):
    """Return labels, attributes and relations of a part as amr-evaluation makes them.

    Its triples: constants first, then relations by source; the parser turns inverted roles round, but not `consist-of`,
    and the script then turns round what still ends in -of; nodes are numbered as they come up.
    """

    def turn(source, role, target):
        return (target, role.removesuffix("-of"), source) if role.endswith("-of") else (source, role, target)

    triples = sorted(((node, role, ("constant", value)) for node, role, value in graph.attributes), key=source_of)
    relations = [triple if triple[1] == "consist-of" else turn(*triple) for triple in graph.relations]
    relations = [turn(*triple) for triple in sorted(relations, key=source_of)]
    if name == "srl":
        part = [triple for triple in triples + relations if triple[1].startswith("ARG")]
    else:
        parents = [target for *_, target in relations]
        shared = [node for node in range(len(graph.concepts)) if parents.count(node) > 1]
        part = [triple for node in shared for triple in relations if triple[2] == node]
    nodes = list(dict.fromkeys(end for source, _, target in part for end in (source, target) if isinstance(end, int)))
    constants = {(nodes.index(s), r): t[1] for s, r, t in part if not isinstance(t, int)}
    between = Counter((nodes.index(s), nodes.index(t), r.lower()) for s, r, t in part if isinstance(t, int))
    labels = [graph.concepts[node].lower() for node in nodes]
    attributes = [(node, role.lower(), value.lower().strip('"')) for (node, role), value in constants.items()]
    attributes += [(0, "TOP", labels[0])] if labels else []
    return labels, attributes, [(*relation, count) for relation, count in between.items()]


def source_of(triple):
    return triple[0]


def triple_batch(parts) -> TripleBatch:
    ids: dict = {}

    def number(thing):
        return ids.setdefault(thing, len(ids))

    def offsets(lists):
        return np.concatenate([[0], np.cumsum([len(items) for items in lists])]).astype(np.int64)

    labels, attributes, relations = zip(*parts, strict=True)
    return TripleBatch(
        offsets(labels),
        np.array([number(("label", label)) for items in labels for label in items], np.int32),
        offsets(attributes),
        np.array([(n, number((r, v)), 1) for items in attributes for n, r, v in items], np.int32).reshape(-1, 3),
        offsets(relations),
        np.array([(s, t, number(("role", r)), c) for items in relations for s, t, r, c in items], np.int32).reshape(
            -1, 4
        ),
    )


def f1_of_reference_parts(reference, name) -> np.ndarray:
    left, right = ([reference_part(graph, name) for graph in side] for side in reference.graphs)
    triples = triple_batch([*left, *right])
    pairs = np.arange(len(left))
    found = best_alignments(triples, pairs, pairs + len(left))
    assert found.proven.all()
    size = triples.sizes[: len(left)] + triples.sizes[len(left) :]
    return np.where(size > 0, 2 * found.matched / np.maximum(size, 1), 1.0)


@from_corpora
@pytest.mark.parametrize(("name", "column"), [("coreference", "reentrancies_f1"), ("srl", "srl_f1")])
def test_parts_are_at_least_the_oracle(name, column, corpus, reference_pairs, oracle_rows):
    reference = reference_pairs(corpus)
    ours, theirs_exactly = values(name, reference), f1_of_reference_parts(reference, name)
    explained = 0
    for index, row in oracle_rows("fine_oracle.tsv", corpus).items():
        oracle = float(row[column] or 1.0)
        if index in COUNTED_AS_PRODUCTS[corpus]:
            parts = [reference_part(side[index], name) for side in reference.graphs]
            assert max(count for *_, relations in parts for *_, count in relations) > 1
            continue
        assert theirs_exactly[index] >= oracle - 1e-6, index
        if ours[index] < oracle - 1e-6:
            assert abs(ours[index] - theirs_exactly[index]) > 1e-6, index  # the reading differs, not the search
            explained += 1
    assert explained <= 7
