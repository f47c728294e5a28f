"""The exact alignment: brute force, searches that end early, the parts."""

import random
from itertools import permutations

import numpy as np
import pytest
from graph_pairs import batch_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from features.graphs.batch import GraphBatch
from features.graphs.graph import MAX_NODES, AmrGraph, decode
from features.metrics.alignment.assignment import assign, make_workspace
from features.metrics.alignment.bound import make_local_space, value_cells
from features.metrics.alignment.problem import build_pair, matches
from features.metrics.alignment.search import OPEN, SEARCH
from features.metrics.alignment.solve import best_alignments
from features.metrics.readings import Readings
from features.metrics.registry import STEPS
from features.metrics.triples import TripleBatch, triples_of

on_random_graphs = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def facts_of(triples: TripleBatch, graph: int) -> dict[tuple, int]:
    """Return the triples of a graph and how often each occurs."""
    nodes = range(*triples.node_offsets[graph : graph + 2])
    attributes = triples.attributes[range(*triples.attribute_offsets[graph : graph + 2])].tolist()
    relations = triples.relations[range(*triples.relation_offsets[graph : graph + 2])].tolist()
    facts = {("instance", i, int(triples.labels[node])): 1 for i, node in enumerate(nodes)}
    facts |= {("attribute", node, key): count for node, key, count in attributes}
    return facts | {("relation", source, target, role): count for source, target, role, count in relations}


def best_by_brute_force(triples: TripleBatch, left: int, right: int) -> int:
    """Try every injective mapping, with the triples as multisets."""

    (n, facts), (m, others) = sorted(
        ((int(np.diff(triples.node_offsets)[graph]), facts_of(triples, graph)) for graph in (left, right)),
        key=lambda graph: graph[0],
    )
    best = 0
    for image in permutations(range(m), n):
        total = 0
        for (kind, first, *rest), count in facts.items():
            moved = (kind, image[first], *rest) if kind != "relation" else (kind, image[first], image[rest[0]], rest[1])
            total += min(count, others.get(moved, 0))
        best = max(best, total)
    return best


@on_random_graphs
@given(data=st.data())
def test_equal_to_brute_force(data, graph_pairs):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    graphs = GraphBatch.of([*left, *right])
    pairs = np.arange(len(left))
    for triples in (triples_of("smatch", Readings(graphs)), triples_of("unlabeled", Readings(graphs))):
        found = best_alignments(triples, pairs, pairs + len(left))
        assert found.proven.all()
        assert found.matched.tolist() == [best_by_brute_force(triples, pair, pair + len(left)) for pair in pairs]


def matches_by_hand(triples: TripleBatch, left: int, right: int, image: list[int]) -> int:
    """Count the triples of the left graph that the alignment turns into triples of the right one."""
    facts, others = (facts_of(triples, graph) for graph in (left, right))
    total = 0
    for (kind, first, *rest), count in facts.items():
        ends = [image[first], image[rest[0]]] if kind == "relation" else [image[first]]
        total += min(count, others.get((kind, *ends, rest[-1]), 0))
    return total


@on_random_graphs
@given(data=st.data())
@pytest.mark.parametrize("steps", [STEPS, 0])
def test_the_alignment_has_the_matches_that_are_claimed(steps, data, graph_pairs):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    triples = triples_of("unlabeled", Readings(GraphBatch.of([*left, *right])))
    pairs = np.arange(len(left))
    found = best_alignments(triples, pairs, pairs + len(left), steps)
    for pair in pairs:
        image = found.images[found.offsets[pair] : found.offsets[pair + 1]].tolist()
        assert len(image) == len(left[pair].concepts)
        placed = [node for node in image if node >= 0]
        assert len(set(placed)) == len(placed)
        assert matches_by_hand(triples, pair, pair + len(left), image) == found.matched[pair]


@on_random_graphs
@given(data=st.data())
def test_the_bound_holds_whatever_the_shares(data, graph_pairs):
    left, right = data.draw(graph_pairs)[0]
    triples = triples_of("unlabeled", Readings(GraphBatch.of([left, right])))
    problem = build_pair(triples, 0, 1)
    (best,) = best_alignments(triples, np.array([0]), np.array([1])).matched
    n_cells, n_ends = len(problem.own), len(problem.there)
    drawn = data.draw(arrays(np.float64, n_ends, elements=st.floats(-1, 2, width=16)))
    ends = np.arange(n_ends)
    shares = np.where(ends < problem.twin, drawn, problem.weight - drawn[problem.twin])
    picked, space = np.zeros(n_ends, np.bool_), make_local_space(problem.widest, np.array([STEPS]))
    allowed = np.ones(n_cells, np.bool_)
    values, stale = np.empty(n_cells), np.ones(n_cells, np.bool_)
    value_cells(problem, shares, allowed, stale, values, picked, space)
    assert not stale.any()
    column_of = np.empty(problem.n_rows, np.int64)
    bound = assign(
        values, problem.n_rows, problem.n_columns, column_of, make_workspace(problem.n_columns, np.array([STEPS]))
    )
    assert bound >= best - 1e-9
    assert matches(problem, column_of) <= best


def grid(width: int, height: int) -> str:
    """Write a grid of equal nodes and roles: as many symmetries as there can be."""

    def row(y):
        text = f"(n{y}x{width} / a)"
        for x in reversed(range(width)):
            below = f" :r {row(y + 1)}" if x == 0 and y + 1 < height else ""
            text = f"(n{y}x{x} / a :r {text}{below})"
        return text

    return row(0)


def hostile(n: int, seed: int) -> AmrGraph:
    """Draw a tree of equal nodes and roles with as many more relations as nodes: no pair of these is soon proven."""
    chance = random.Random(seed)
    relations = [(chance.randrange(node), "ARG0", node) for node in range(1, n)]
    relations += [(chance.randrange(n), "ARG0", chance.randrange(n)) for _ in range(n)]
    return AmrGraph(["thing"] * n, [], relations)


def test_hard_pairs_are_solved_by_branching():
    graphs = batch_of([grid(5, 3), grid(3, 5), grid(8, 2)])
    found = best_alignments(triples_of("unlabeled", Readings(graphs)), np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert found.proven.all()
    assert SEARCH in found.closed_by


@pytest.mark.parametrize("steps", [0, 10**4, 10**5, 10**6, 10**7])
def test_a_search_that_ends_early_keeps_its_best_alignment_and_its_bound(steps):
    batch = GraphBatch.of([decode(grid(5, 3)), hostile(14, 0), hostile(14, 1)])
    triples = triples_of("unlabeled", Readings(batch))
    first, second = np.array([0, 0, 1, 1]), np.array([1, 2, 2, 1])
    exact, early = (best_alignments(triples, first, second, limit) for limit in (10**12, steps))
    assert exact.proven.all()
    assert (early.matched <= exact.matched).all()
    assert (exact.matched <= early.bound).all()
    assert (early.proven == (early.bound == early.matched)).all()
    assert (early.proven == (early.closed_by != OPEN)).all()
    if steps == 0:
        assert not early.proven.all()
    again = best_alignments(triples, first, second, steps)
    assert [column.tolist() for column in early] == [column.tolist() for column in again]


@on_random_graphs
@given(data=st.data(), steps=st.integers(0, 3000))
def test_the_optimum_lies_between_what_is_found_and_the_bound(data, steps, graph_pairs):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    triples = triples_of("unlabeled", Readings(GraphBatch.of([*left, *right])))
    pairs = np.arange(len(left))
    exact, early = (best_alignments(triples, pairs, pairs + len(left), limit) for limit in (STEPS, steps))
    assert (early.matched <= exact.matched).all()
    assert (exact.matched <= early.bound).all()


@pytest.mark.parametrize("nodes", [60, MAX_NODES])
def test_a_hostile_pair_ends_soon_after_its_last_step(nodes):
    batch = GraphBatch.of([hostile(nodes, 0), hostile(nodes, 1)])
    found = best_alignments(triples_of("unlabeled", Readings(batch)), np.array([0]), np.array([1]))
    assert not found.proven
    assert found.matched < found.bound <= 3 * nodes
    assert STEPS <= found.steps < STEPS + 2 * nodes**3


def test_an_alignment_counts_its_matches():
    graphs = batch_of(
        [
            "(w / want-01 :ARG0 (b / boy) :ARG1 (s / sleep-01 :ARG0 b))",
            "(w / want-01 :ARG0 (g / girl) :ARG1 (s / sleep-01 :ARG0 g))",
        ]
    )
    triples = triples_of("smatch", Readings(graphs))
    problem = build_pair(triples, 0, 1)
    assert matches(problem, np.array([0, 1, 2])) == 6  # TOP, want-01, sleep-01 and three relations
    assert matches(problem, np.array([0, -1, 2])) == 4
    assert matches(problem, np.array([1, 2, 0])) == 0


@settings(deadline=None)
@given(data=st.data())
def test_assignment_is_that_of_scipy_and_its_prices_prove_it(data):
    n_rows = data.draw(st.integers(1, 6))
    n_columns = data.draw(st.integers(n_rows, 8))
    values = data.draw(arrays(np.float64, (n_rows, n_columns), elements=st.integers(0, 12).map(lambda x: x / 4)))
    column_of = np.empty(n_rows, np.int64)
    work = make_workspace(n_columns, np.array([STEPS]))
    total = assign(values.ravel(), n_rows, n_columns, column_of, work)
    rows, columns = linear_sum_assignment(values, maximize=True)
    assert total == pytest.approx(values[rows, columns].sum())
    assert len(set(column_of.tolist())) == n_rows
    assert total == pytest.approx(values[np.arange(n_rows), column_of].sum())
    reduced = -values - work.row_price[1 : n_rows + 1, None] - work.column_price[None, 1 : n_columns + 1]
    assert reduced.min() >= -1e-9
    assert np.abs(reduced[np.arange(n_rows), column_of]).max() <= 1e-9
    assert work.column_price[1 : n_columns + 1].max() <= 1e-9
