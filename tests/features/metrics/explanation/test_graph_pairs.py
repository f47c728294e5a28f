"""The explanation of a pair agrees with the metrics, item by item and count by count."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.graphs.batch import GraphBatch
from features.graphs.graph import decode
from features.metrics.corpus_scores import choose_metrics
from features.metrics.explanation.pair import explain_graphs
from features.metrics.metric import Comparison
from features.metrics.registry import METRICS

BOY = "(w / want-01 :ARG0 (b / boy :quant 2) :ARG1 (s / sleep-01 :ARG0 b :polarity -))"
GIRL = "(w / want-01 :ARG0 (g / girl :quant 2) :ARG1 (s / sleep-01 :ARG0 g))"


def assert_counts_agree(pairs, vectors):
    """Compare the matched items, sizes and scores of every counting metric with its statistics."""
    graphs = GraphBatch.of([graph for pair in pairs for graph in pair])
    first = np.arange(0, 2 * len(pairs), 2)
    comparison = Comparison(graphs, first, first + 1, vectors)
    explained = explain_graphs(pairs, vectors)
    for name in METRICS:
        statistics = METRICS[name].statistics(comparison)
        scores = METRICS[name].number(statistics)
        for position, found in enumerate(explained):
            (facet,) = (facet for facet in found.facets if facet.name == name)
            assert facet.score == pytest.approx(scores[position]), (name, position)
            if name in choose_metrics([]):
                told = [facet.matched, len(facet.left), len(facet.right)]
                assert told == statistics[position, :3].tolist(), (name, position)
                assert [sum(item.matched for item in side) for side in (facet.left, facet.right)] == [facet.matched] * 2


def test_of_several_best_alignments_a_pair_has_the_same_beside_any_other():
    """Nodes with two relations are the case: the order of these decides, and their roles have numbers in a batch."""
    pair = (
        decode(
            "(r / rise :ARG0 (p / person :ARG0-of (r2 / revolution)) :condition (o / order-01 :ARG0 (y / you) "
            ":ARG2 (t / throw :ARG0 p :ARG1 p)))"
        ),
        decode(
            "(r / right :ARG1 i :ARG2 (r2 / require :ARG0 (i / i) :ARG1 (o / obey)) :ARG1-of (c / cause "
            ":ARG0 (r3 / reasonable :ARG1 (t / thing :ARG2-of (o2 / order-01)))))"
        ),
    )
    (alone,) = explain_graphs([pair])
    for roles in permutations(("ARG0", "ARG1", "ARG2")):
        other = decode("(p / p :{} (q / q) :{} q :{} q)".format(*roles))
        _, beside = explain_graphs([(other, other), pair])
        assert beside.alignment == alone.alignment


@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_counts_are_those_of_the_engine_on_random_graphs(data, graph_pairs, no_vectors):
    assert_counts_agree(data.draw(graph_pairs), no_vectors)


@pytest.mark.parametrize("corpus", ["sts", "sick", "para"])
def test_counts_are_those_of_the_engine_on_real_graphs(corpus, reference_pairs, no_vectors):
    reference = reference_pairs(corpus)
    assert_counts_agree(list(zip(*reference.graphs, strict=True))[:150], no_vectors)


def facets_of(left, right, vectors=None):
    (pair,) = explain_graphs([(decode(left), decode(right))], vectors)
    return pair, {facet.name: facet for facet in pair.facets}


def test_what_matches_is_named():
    pair, facets = facets_of(BOY, GIRL)
    assert pair.alignment == ((0, 0), (1, 1), (2, 2))
    assert pair.proven
    assert [item.text for item in facets["smatch"].left if not item.matched] == ["boy", "sleep-01 :polarity -"]
    assert [item.text for item in facets["smatch"].right if not item.matched] == ["girl"]
    assert [(item.text, item.matched) for item in facets["quantifiers"].left] == [("boy :quant 2", True)]
    assert [(item.text, item.matched) for item in facets["negations"].left] == [("sleep-01", False)]
    assert facets["negations"].right == ()
    assert (facets["wlk"].matched, facets["wlk"].left) == (None, ())


def test_without_vectors_what_compares_them_has_no_score_but_its_node():
    _, facets = facets_of(BOY, GIRL)
    assert facets["root"].score is None
    assert [(item.text, item.matched) for item in facets["root"].left] == [("want-01", True)]
    assert [item.text for item in facets["max_indegree"].right] == ["girl"]


def test_a_bag_prefers_the_nodes_that_lie_on_each_other():
    left = "(a / and :op1 (s / see-01 :ARG0 (b / boy)) :op2 (h / hear-01 :ARG1 (b2 / boy)))"
    right = "(h / hear-01 :ARG1 (b / boy))"
    _, facets = facets_of(left, right)
    assert [item.matched for item in facets["concepts"].left if item.text == "boy"] == [False, True]


def test_nodes_with_nothing_in_common_are_not_said_to_lie_on_each_other():
    pair, _ = facets_of("(b / boy :mod (y / young))", "(b / boy :ARG0-of (s / sleep-01))")
    assert pair.alignment == ((0, 0),)


def test_nothing_is_asked_nothing_is_said():
    assert explain_graphs([]) == []


def test_a_node_that_is_in_a_bag_twice_and_matched_once_is_marked_once():
    _, facets = facets_of("(p / product :name (n / name) :name (m / name))", "(p / product :name (n / name))")
    assert [item.matched for item in facets["named_entities"].left] == [True, False]
