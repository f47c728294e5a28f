import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from features.graphs.graph import decode
from features.parsers.embedded.nodes import FlatGraph, constant, is_concept, is_constant, name, write_penman
from features.parsers.embedded.parser import connect
from training.parsers.amr.corpus import flatten

labels = st.one_of(
    st.sampled_from(["want-01", "boy", "have-org-role-91", "and"]),
    st.sampled_from(["New York", "U.S.", "3/4 :x"]).map(name),
    st.sampled_from(["-", "3.5", '"a (b"', "imperative"]).map(constant),
)
roles = st.sampled_from(["ARG0", "ARG10", "op1", "mod", "domain", "consist-of", "polarity", "name"])


@st.composite
def flat_graphs(draw: st.DrawFn) -> FlatGraph:
    nodes = ["root", *draw(st.lists(labels, max_size=12))]
    leaves = np.array([not is_concept(label) for label in nodes])
    random = np.random.default_rng(draw(st.integers(0, 9999)))
    scores = random.normal(size=(len(nodes), len(nodes))).astype(np.float32)
    edges = connect(scores, leaves, draw(st.sampled_from([0.0, 2.0])))
    named = [(source, draw(roles), target) for source, target in edges.tolist()]
    return FlatGraph(nodes, named, 0)


def canonical(graph: FlatGraph) -> tuple[list[str], set[tuple[str, str, str]]]:
    """Return concepts, and edges by label: enough to see that nothing is lost, added or inverted."""
    same = {"domain": "mod"}
    edges = set()
    for source, role, target in graph.edges:
        first, second = (target, source) if role in same else (source, target)
        edges.add((graph.nodes[first], same.get(role, role), graph.nodes[second]))
    return sorted(label for label in graph.nodes if not is_constant(label)), edges


@settings(deadline=None)  # the first call compiles
@given(flat_graphs())
def test_what_is_written_is_what_is_read(graph: FlatGraph) -> None:
    assert canonical(flatten(decode(write_penman(graph)))) == canonical(graph)


def test_a_very_deep_graph_is_written() -> None:
    n = 3000
    graph = FlatGraph(["thing"] * n, [(i, "ARG1", i + 1) for i in range(n - 1)], 0)
    assert write_penman(graph).count(" / thing") == n


def test_a_reentrancy_is_written_once_as_a_node() -> None:
    graph = FlatGraph(["want-01", "boy", "sleep-01"], [(0, "ARG0", 1), (0, "ARG1", 2), (2, "ARG0", 1)], 0)
    expected = "(z0 / want-01 :ARG0 (z1 / boy) :ARG1 (z2 / sleep-01 :ARG0 z1))"
    assert " ".join(write_penman(graph).split()) == expected


def test_a_name_without_characters_is_left_without_operands() -> None:
    assert write_penman(FlatGraph([name("")], [], 0)) == "(z0 / name)"


def test_what_is_said_twice_is_written_once() -> None:
    two = constant("2")
    graph = FlatGraph(["boy", two, two, two], [(0, "quant", 1), (0, "quant", 2), (0, "value", 3)], 0)
    assert " ".join(write_penman(graph).split()) == "(z0 / boy :quant 2 :value 2)"
