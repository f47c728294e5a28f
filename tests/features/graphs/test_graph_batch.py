import numpy as np
from graph_pairs import batch_of, followed_by
from sentences import refused

from features.core.errors import RowError
from features.graphs.batch import GraphBatch, encode
from features.graphs.graph import AmrGraph, decode

TEXTS = [
    '(w / want-01 :ARG0 (b / boy :name (n / name :op1 "Bob")) :ARG1 (s / sleep-01 :ARG0 b :polarity -))',
    "(b / boy)",
    "(c / cat :quant 2 :ARG0-of (s / sleep-01))",
]


def graphs_of(batch: GraphBatch) -> list[AmrGraph]:
    """Read the graphs back from the arrays."""
    graphs = []
    for g in range(len(batch)):
        attributes = range(batch.attribute_offsets[g], batch.attribute_offsets[g + 1])
        relations = range(batch.relation_offsets[g], batch.relation_offsets[g + 1])
        nodes = slice(batch.node_offsets[g], batch.node_offsets[g + 1])
        graphs.append(
            AmrGraph(
                [batch.concept_names[concept] for concept in batch.concepts[nodes]],
                [
                    (
                        int(batch.attribute_nodes[a]),
                        batch.role_names[batch.attribute_roles[a]],
                        batch.value_names[batch.attribute_values[a]],
                    )
                    for a in attributes
                ],
                [
                    (
                        int(batch.relation_sources[r]),
                        batch.role_names[batch.relation_roles[r]],
                        int(batch.relation_targets[r]),
                    )
                    for r in relations
                ],
            )
        )
    return graphs


def test_the_arrays_hold_the_graphs():
    assert graphs_of(batch_of(TEXTS)) == [decode(text) for text in TEXTS]


def test_rows_of_the_table_and_slices_of_it_make_the_same_arrays():
    rows = encode(["a", "b", "c"], TEXTS, "by hand").rows
    assert graphs_of(GraphBatch.from_rows(rows)) == [decode(text) for text in TEXTS]
    assert graphs_of(GraphBatch.from_rows(rows[1:])) == [decode(text) for text in TEXTS[1:]]
    assert graphs_of(GraphBatch.from_rows(rows.reverse())) == [decode(text) for text in reversed(TEXTS)]


def test_some_graphs_are_selected_with_the_strings_that_they_need():
    batch = batch_of(TEXTS).select(np.array([2, 1, 2]))
    assert graphs_of(batch) == [decode(TEXTS[graph]) for graph in (2, 1, 2)]
    assert set(batch.concept_names) == {"cat", "sleep-01", "boy"}
    assert (set(batch.role_names), batch.value_names) == ({"quant", "ARG0-of"}, ["2"])
    assert graphs_of(batch.select(np.array([], np.int64))) == []


def test_strings_are_held_once():
    batch = batch_of(TEXTS)
    for names in (batch.concept_names, batch.role_names, batch.value_names):
        assert len(names) == len(set(names))


def test_two_batches_become_one_over_common_vocabularies():
    first, second = batch_of(TEXTS[:1]), batch_of(TEXTS[1:])
    both = followed_by(first, second)
    assert graphs_of(both) == [decode(text) for text in TEXTS]
    assert len(both.concept_names) == len(set(both.concept_names))
    assert both.concepts.dtype == np.int32


def test_a_batch_may_be_empty():
    empty = GraphBatch.of([])
    assert len(empty) == 0
    assert graphs_of(followed_by(empty, batch_of(TEXTS))) == [decode(text) for text in TEXTS]


def test_a_wrong_graph_is_an_error():
    with refused(RowError):
        batch_of(["(b)"])
