import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from features.parsers.embedded.parser import connect


@st.composite
def scored_nodes(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    n = draw(st.integers(1, 9))
    values = draw(st.lists(st.floats(-20, 20, width=32), min_size=n * n, max_size=n * n))
    leaves = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    leaves[draw(st.integers(0, n - 1))] = False
    return np.array(values, np.float32).reshape(n, n), np.array(leaves)


def pieces(n: int, edges: NDArray[np.int64]) -> int:
    piece = list(range(n))
    for a, b in edges.tolist():
        old, new = piece[b], piece[a]
        piece = [new if other == old else other for other in piece]
    return len(set(piece))


@given(scored_nodes(), st.floats(-2, 2))
def test_a_graph_is_connected_and_leaves_are_leaves(
    scored: tuple[NDArray[np.float32], NDArray[np.bool_]], threshold: float
) -> None:
    scores, leaves = scored
    edges = connect(scores, leaves, threshold)
    assert pieces(len(scores), edges) == 1
    parents = np.bincount(edges[:, 1], minlength=len(scores))
    children = np.bincount(edges[:, 0], minlength=len(scores))
    assert (parents[leaves] == 1).all()
    assert (children[leaves] == 0).all()
    assert (edges[:, 0] != edges[:, 1]).all()
    assert len({frozenset(edge) for edge in edges.tolist()}) == len(edges), "a pair of nodes has one edge"


def test_pairs_above_the_threshold_are_edges_in_their_better_direction() -> None:
    scores = np.array([[0, 3, 2], [1, 0, -5], [4, 6, 0]], np.float32)
    edges = connect(scores, np.zeros(3, bool), 0.5)
    assert edges.tolist() == [[2, 1], [2, 0], [0, 1]]


def test_what_is_apart_is_joined_by_the_best_pair() -> None:
    scores = np.full((4, 4), -9, np.float32)
    scores[0, 1] = scores[2, 3] = 5
    scores[3, 1] = -2
    assert connect(scores, np.zeros(4, bool), 0).tolist() == [[0, 1], [2, 3], [3, 1]]


@pytest.mark.parametrize("n", [1, 200])
def test_any_size(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=(n, n)).astype(np.float32)
    assert pieces(n, connect(scores, np.zeros(n, bool), 1.0)) == 1
