"""WWLK and the Earth Mover's distance, against POT and a plain reading of the definition."""

import numpy as np
import ot
import pytest
from graph_pairs import measure
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.metrics.label_vectors import LabelVectors
from features.metrics.wwlk import earth_movers_distance, least_cost

costs = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 2, width=16))
)


@settings(deadline=None)
@given(costs=costs)
def test_distance_is_that_of_pot(costs):
    n, m = costs.shape
    expected = ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), costs)
    assert earth_movers_distance(costs) == pytest.approx(expected, abs=1e-9)
    assert earth_movers_distance(np.ascontiguousarray(costs.T)) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(data=st.data(), costs=costs)
def test_transport_of_any_masses_is_that_of_pot(data, costs):
    n, m = costs.shape
    supply = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), np.int64)
    demand = np.zeros(m, np.int64)
    for _ in range(supply.sum()):
        demand[data.draw(st.integers(0, m - 1))] += 1
    if supply.sum() == 0:
        assert least_cost(costs, supply, demand) == 0.0
        return
    expected = ot.emd2(supply.astype(float), demand.astype(float), costs)
    assert least_cost(costs, supply.copy(), demand.copy()) == pytest.approx(expected, abs=1e-8)
    used = supply.copy(), demand.copy()
    least_cost(costs, *used)
    assert used[0].sum() == used[1].sum() == 0


def by_the_definition(left: AmrGraph, right: AmrGraph, vectors: LabelVectors) -> float:
    """Follow the formulas with the vectors themselves, and let POT transport."""

    def embed(graph):
        n = len(graph.concepts)
        x = vectors.of_labels([*graph.concepts, *(value for *_, value in graph.attributes)]).astype(np.float64)
        neighbours = [[] for _ in x]
        edges = {(t, r.removesuffix("-of"), s) if r == "ARG0-of" else (s, r, t) for s, r, t in graph.relations}
        edges |= {(s, r, n + position) for position, (s, r, _) in enumerate(graph.attributes)}
        for source, _, target in edges:
            neighbours[source].append(target)
            neighbours[target].append(source)
        iterations = [x]
        for _ in range(2):
            x = np.array([x[v] + (0.275 * x[us].mean(axis=0) if us else 0) for v, us in enumerate(neighbours)])
            iterations.append(x)
        x = np.concatenate(iterations, axis=1)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    x, y = embed(left), embed(right)
    distances = np.linalg.norm(x[:, None] - y[None], axis=2)
    return max(0.0, 1 - ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), distances))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_agrees_with_the_definition(data, graph_pairs, score):
    left, right = zip(*data.draw(graph_pairs), strict=True)
    words = ["boy", "girl", "cat", "want", "see", "have", "rel", "name", "-", "2", "bob"]
    # All in one direction of space and so near each other: no score is clipped.
    vectors = LabelVectors(words, (np.random.default_rng(0).random((len(words), 8)) + 0.2).astype(np.float32))
    batches = (GraphBatch.of(side) for side in (left, right))
    found = measure(*batches, vectors, ["wwlk"])["wwlk"].to_numpy()
    expected = [by_the_definition(one, other, vectors) for one, other in zip(left, right, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_two_single_nodes_by_hand(score):
    vectors = LabelVectors(["cat", "kitten"], np.array([[1, 0], [0.6, 0.8]], np.float32))
    assert score("wwlk", "(c / cat)", "(k / kitten)", vectors) == pytest.approx(1 - np.sqrt(2 - 2 * 0.6))


def test_similar_words_make_similar_graphs(score):
    vectors = LabelVectors(["cat", "kitten", "stock", "see"], np.array([[1, 0], [0.9, 0.4], [0.1, 1], [0.5, 0.5]]))
    near, far = (
        score("wwlk", "(s / see-01 :ARG0 (c / cat))", f"(s / see-01 :ARG0 (k / {other}))", vectors)
        for other in ("kitten", "stock")
    )
    assert 0 < far < near < 1
