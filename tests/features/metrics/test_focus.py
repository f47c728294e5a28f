import numpy as np
import pytest
from graph_pairs import batch_of, measure

from features.metrics.label_vectors import LabelVectors

VECTORS = LabelVectors(
    ["smoke", "suck", "man", "baby", "and", "want"],
    np.array([[1, 0, 0], [0.4, np.sqrt(1 - 0.16), 0], [0, 0, 1], [0, 1, 0], [0, -1, 0], [-1, 0, 0]], np.float32),
)


def score(name, left, right):
    return measure(batch_of([left]), batch_of([right]), VECTORS, [name])[name].item()


def test_root_compares_the_two_roots():
    """Opitz & Frank 2022, Table 7, pair 4: "a man is smoking", "a baby is sucking on a pacifier", root 0.4."""
    left, right = "(s / smoke-02 :ARG0 (m / man))", "(s / suck-01 :ARG0 (b / baby))"
    assert score("root", left, right) == pytest.approx(0.4)
    assert score("root", left, "(s / smoke-01 :ARG0 (b / baby))") == pytest.approx(1.0)  # the sense does not count


def test_an_opposite_direction_counts_as_none():
    assert score("root", "(s / smoke-02)", "(w / want-01)") == 0.0


@pytest.mark.parametrize(
    ("name", "graph", "label"),
    [
        ("max_indegree", "(w / want-01 :ARG0 (m / man) :ARG1 (s / smoke-02 :ARG0 m))", "man"),
        ("max_outdegree", "(w / want-01 :ARG0 (m / man) :ARG1 (s / smoke-02))", "want-01"),
        ("max_outdegree", "(m / man :ARG0-of (w / want-01 :ARG1 (s / smoke-02)))", "want-01"),  # turned round
        ("max_degree", "(s / smoke-02 :ARG0 (m / man :ARG0-of (w / want-01) :ARG1-of (u / suck-01)))", "man"),
        # Ties: the nearest to the root, then the first label.
        ("max_indegree", "(w / want-01 :ARG1 (s / smoke-02 :ARG0 (b / baby)))", "smoke-02"),
        ("max_indegree", "(w / want-01 :ARG0 (m / man) :ARG1 (b / baby))", "baby"),
        ("max_degree", "(a / and)", "and"),
        # A constant is no relation.
        ("max_outdegree", "(m / man :quant 2 :polarity - :ARG0-of (w / want-01))", "want-01"),
    ],
)
def test_the_best_connected_node_stands_for_the_graph(name, graph, label):
    assert score(name, graph, f"(x / {label})") == pytest.approx(1.0)
    others = {"man", "baby", "smoke-02", "want-01", "and", "suck-01"} - {label}
    assert all(score(name, graph, f"(x / {other})") < 0.99 for other in others)
