"""What every metric promises, on random graphs; a metric that is not classified here fails."""

import random
import re
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from graph_pairs import batch_of, measure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.metrics.metric import Comparison
from features.metrics.registry import ALGORITHM_VERSION, ALIGNED_METRICS, METRIC_NAMES, METRICS


@dataclass(frozen=True)
class Traits:
    """How a metric is classified; see `Metric`."""

    aligned: bool = False
    vacuous: float | None = 1.0
    lacking: str = ""
    """A graph without the structure that the metric looks at, where there is such a graph."""


CLASSIFIED = {
    "smatch": Traits(aligned=True, vacuous=None),
    "unlabeled": Traits(aligned=True, vacuous=None),
    "frames": Traits(lacking="(b / boy)"),
    "concepts": Traits(vacuous=None),
    "named_entities": Traits(lacking="(b / boy)"),
    "negations": Traits(lacking="(b / boy :quant 2)"),
    "coreference": Traits(aligned=True, lacking="(s / see-01 :ARG0 (b / boy))"),
    "srl": Traits(aligned=True, lacking="(b / boy :mod (y / young))"),
    "wlk": Traits(vacuous=None),
    "wwlk": Traits(vacuous=None),
    "max_indegree": Traits(vacuous=None),
    "max_outdegree": Traits(vacuous=None),
    "max_degree": Traits(vacuous=None),
    "root": Traits(vacuous=None),
    "quantifiers": Traits(lacking="(b / boy :mod (y / young))"),
}

seeds = st.integers(0, 2**32 - 1)
on_random_graphs = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
TOLERANCE = 1e-6  # sums of doubles in another order; a squared distance of rounding has a root of 1e-7


def scores(left, right, vectors) -> pl.DataFrame:
    return measure(*(GraphBatch.of(side) for side in (left, right)), vectors)


def assert_same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    for name in METRICS:
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=TOLERANCE, err_msg=name)


def test_every_metric_is_classified_and_has_its_column():
    assert set(CLASSIFIED) == set(METRICS), "classify the new metric in CLASSIFIED"
    assert tuple(METRICS[name].name for name in METRIC_NAMES) == METRIC_NAMES
    assert tuple(name for name, metric in METRICS.items() if metric.proof) == ALIGNED_METRICS


@pytest.mark.parametrize("name", METRICS)
def test_what_a_metric_says_of_itself(name):
    metric, traits = METRICS[name], CLASSIFIED[name]
    assert metric.name == name
    assert metric.symmetric
    assert metric.range == (0.0, 1.0)
    assert metric.vacuous == traits.vacuous
    assert (metric.proof is not None) == traits.aligned
    assert bool(traits.lacking) == (metric.vacuous is not None)
    assert metric.summary
    assert re.fullmatch(r"[A-Z][^_\n]{10,76}\?", metric.question), "one plain question that fits a line of a terminal"
    assert metric.signature(ALGORITHM_VERSION).startswith(f"{name}|")
    assert metric.signature(ALGORITHM_VERSION).endswith(f"|version:{ALGORITHM_VERSION}")


def test_signatures_differ():
    assert len({metric.signature("1").partition("|")[2] + name for name, metric in METRICS.items()}) == len(METRICS)


@pytest.mark.parametrize("name", [name for name, traits in CLASSIFIED.items() if traits.lacking])
def test_graphs_that_both_lack_the_structure_agree_and_one_that_lacks_it_does_not(name, no_vectors):
    lacking = CLASSIFIED[name].lacking
    having = "(w / want-01 :ARG0 (b / boy :name (n / name) :polarity - :quant 2) :ARG1 (s / see-01 :ARG0 b))"
    values = measure(
        batch_of([lacking, lacking, having]),
        batch_of([lacking.replace("boy", "girl"), having, lacking]),
        no_vectors,
        [name],
    )[name]
    assert values.to_list() == [METRICS[name].vacuous, 0.0, 0.0]


@on_random_graphs
@given(data=st.data())
def test_scores_are_in_range_and_symmetric(data, graph_pairs, no_vectors):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    forth, back = scores(left, right, no_vectors), scores(right, left, no_vectors)
    for name, metric in METRICS.items():
        lowest, highest = metric.range
        assert forth[name].is_finite().all(), name
        assert forth[name].is_between(lowest, highest).all(), (name, forth[name].to_list())
    assert_same(forth, back)


@on_random_graphs
@given(data=st.data())
def test_a_graph_is_identical_with_itself(data, graph_pairs, no_vectors):
    graphs = [graph for pair in data.draw(graph_pairs) for graph in pair]
    frame = scores(graphs, graphs, no_vectors)
    for name in METRICS:
        np.testing.assert_allclose(frame[name], 1.0, rtol=0, atol=TOLERANCE, err_msg=name)
        assert (frame[name] <= 1.0).all(), name


@on_random_graphs
@given(data=st.data(), seed=seeds, other_seed=seeds)
def test_names_of_variables_and_the_order_of_triples_do_not_matter(
    data, seed, other_seed, graph_pairs, no_vectors, write_penman
):
    pairs = data.draw(graph_pairs)
    batches = [
        batch_of([write_penman(pair[side], some_seed) for pair in pairs])
        for some_seed in (seed, other_seed)
        for side in (0, 1)
    ]
    one, other = measure(*batches[:2], no_vectors), measure(*batches[2:], no_vectors)
    assert_same(one, other)
    rewritten = measure(batches[0], batches[2], no_vectors)  # each left graph with itself, written twice
    for name in METRICS:
        np.testing.assert_allclose(rewritten[name], 1.0, rtol=0, atol=TOLERANCE, err_msg=name)


@on_random_graphs
@given(data=st.data())
def test_statistics_add_up_to_the_score_of_a_corpus(data, graph_pairs, no_vectors):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    graphs = GraphBatch.of([*left, *right])
    pairs = np.arange(len(left))
    comparison = Comparison(graphs, pairs, pairs + len(left), no_vectors)
    for name, metric in METRICS.items():
        statistics = metric.statistics(comparison)
        assert statistics.shape[0] == len(left), name
        total = metric.number(statistics.sum(axis=0, keepdims=True))[0]
        each = metric.number(statistics)
        assert each.min() - TOLERANCE <= total <= each.max() + TOLERANCE, name


@on_random_graphs
@given(data=st.data())
def test_a_pair_has_the_same_score_alone_and_in_company(data, graph_pairs, no_vectors):
    pairs = data.draw(graph_pairs)
    left, right = zip(*pairs, strict=True)
    together = scores(left, right, no_vectors)
    alone = pl.concat([scores([first], [second], no_vectors) for first, second in pairs[:2]])
    assert_same(together[:2], alone)


def assert_lawful(left: list[AmrGraph], right: list[AmrGraph], vectors, renumber, seed: int) -> None:
    """Check bounds, symmetry, identity, renaming and the order of triples, for every metric."""
    forth, back = scores(left, right, vectors), scores(right, left, vectors)
    for name, metric in METRICS.items():
        assert forth[name].is_finite().all(), name
        assert forth[name].is_between(*metric.range).all(), (name, forth[name].to_list())
    assert_same(forth, back)
    left_again, right_again = ([renumber(graph, seed + at) for at, graph in enumerate(side)] for side in (left, right))
    assert_same(forth, scores(left_again, right_again, vectors))
    for same in (scores(left, left, vectors), scores(left, left_again, vectors)):
        for name in METRICS:
            np.testing.assert_allclose(same[name], 1.0, rtol=0, atol=TOLERANCE, err_msg=name)
    for name in ALIGNED_METRICS:
        assert forth[f"{name}_optimal"].all(), name


@on_random_graphs
@given(data=st.data(), seed=seeds)
def test_the_laws_hold_for_graphs_of_any_kind(data, seed, any_graph_pairs, renumber, no_vectors):
    """Disconnected parts, cycles, loops, parallel relations, unknown roles, constants of every kind."""
    left, right = map(list, zip(*data.draw(any_graph_pairs), strict=True))
    assert_lawful(left, right, no_vectors, renumber, seed)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60, 120, 200])
def test_the_laws_hold_for_graphs_of_any_size(n, renumber, no_vectors):
    chance = random.Random(n)
    concepts = [f"concept-{number:02}" for number in range(80)]
    relations = [
        (chance.randrange(max(0, i - 5), i), chance.choice(["ARG0", "ARG1", "mod", "time"]), i) for i in range(1, n)
    ]
    relations += [(chance.randrange(n), "ARG2", chance.randrange(n)) for _ in range(n // 10)]
    attributes = [(node, "quant", str(node)) for node in range(0, n, 9)]
    graph = AmrGraph(chance.choices(concepts, k=n), attributes, relations)
    renamed = [name if chance.random() < 0.9 else chance.choice(concepts) for name in graph.concepts]
    assert_lawful([graph], [AmrGraph(renamed, attributes[1:], relations)], no_vectors, renumber, n)


def test_a_chain_a_star_and_a_ring_of_two_hundred_equal_nodes(renumber, no_vectors):
    """All nodes look alike; only their position tells them apart."""
    concepts = ["thing"] * 200
    chain = AmrGraph(concepts, [], [(i, "ARG1", i + 1) for i in range(199)])
    star = AmrGraph(concepts, [], [(0, "ARG1", i) for i in range(1, 200)])
    ring = AmrGraph(concepts, [], [(i, "ARG1", (i + 1) % 200) for i in range(200)])
    for graph in (chain, star, ring):
        same = scores([graph], [renumber(graph, 1)], no_vectors)
        for name in METRICS:
            np.testing.assert_allclose(same[name], 1.0, rtol=0, atol=TOLERANCE, err_msg=name)


@pytest.mark.parametrize(
    "constant",
    [
        "-",
        "+",
        "imperative",
        "2",
        "-2.50",
        "1e3",
        "1,000",
        "9/11",
        "10:30",
        "2003-04-01",
        '"New York"',
        '""',
        '"Ω \\" 名"',
        "a.b",
    ],
)
def test_a_constant_of_any_kind_counts(constant, no_vectors):
    having, lacking = f"(t / thing :value {constant} :time (n / now))", "(t / thing :time (n / now))"
    other = having.replace(constant, '"something else"')
    left, right = batch_of([having] * 3), batch_of([having, lacking, other])
    frame = measure(left, right, no_vectors, ["smatch", "unlabeled", "wlk", "wwlk"])
    for name in ("smatch", "unlabeled", "wlk", "wwlk"):
        same, without, changed = frame[name]
        assert same == pytest.approx(1.0, abs=TOLERANCE), name
        assert max(without, changed) < 1.0 - TOLERANCE, name
