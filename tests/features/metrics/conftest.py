"""Graphs for the metrics' tests: reference pairs with oracle scores, and random pairs."""

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars.selectors as cs
import pytest
from amr import AMR  # the name of the parser module in the package `smatch`
from graph_pairs import batch_of, followed_by, measure
from hypothesis import strategies as st

from features.graphs.graph import AmrGraph
from features.graphs.penman_files import read_blocks
from features.metrics.label_vectors import LabelVectors
from features.metrics.metric import Comparison

CORPORA = ("sts", "sick", "para")


@dataclass(frozen=True)
class ReferencePairs:
    """The development pairs of a BAMBOO corpus."""

    texts: tuple[list[str], list[str]]
    graphs: tuple[list[AmrGraph], list[AmrGraph]]
    comparison: Comparison


@pytest.fixture(scope="session")
def no_vectors() -> LabelVectors:
    """Return a table without words, so that every word vector is random."""
    return LabelVectors([], np.empty((0, 16), np.float32))


@pytest.fixture(scope="session")
def score(no_vectors):
    """Return a function that returns the value of a metric for two graphs in PENMAN, proven if it aligns them."""

    def score(name: str, left: str, right: str, vectors: LabelVectors = no_vectors) -> float:
        frame = measure(batch_of([left]), batch_of([right]), vectors, [name])
        assert all(proven.all() for proven in frame.select(cs.ends_with("_optimal")))
        return frame[name].item()

    return score


@pytest.fixture(scope="session")
def reference_pairs(shared, no_vectors):
    """Return a function from the name of a corpus to its pairs."""

    @cache
    def load(corpus: str) -> ReferencePairs:
        folder = shared / "data" / "bamboo" / corpus
        blocks = [list(read_blocks(folder / f"{side}.dev.amr.gz")) for side in ("src", "tgt")]
        texts = tuple([block.text for block in side] for side in blocks)
        pairs = np.arange(len(texts[0]))
        both = followed_by(batch_of(texts[0]), batch_of(texts[1]))
        return ReferencePairs(
            texts,
            tuple([block.graph for block in side] for side in blocks),
            Comparison(both, pairs, pairs + len(pairs), no_vectors),
        )

    return load


@pytest.fixture(scope="session")
def oracle_rows(shared):
    """Return a function from a file and a corpus to its rows: pair index → value of each column."""

    def rows(name: str, corpus: str) -> dict[int, dict[str, str]]:
        lines = (shared / "oracles" / name).read_text().splitlines()
        header, *body = [line.split("\t") for line in lines]
        table = [dict(zip(header, row, strict=True)) for row in body]
        return {int(row["index"]): row for row in table if row["corpus"] == corpus}

    return rows


_CONCEPTS = ["boy", "girl", "cat", "want-01", "see-01", "have-rel-role-91", "and", "all", "many", "name"]
_ROLES = ["ARG0", "ARG0", "ARG1", "ARG1", "mod", "domain", "name", "quant", "op1", "part", "consist-of", "location"]
_CONSTANTS = [("polarity", "-"), ("quant", "2"), ("quant", "2.0"), ("op1", '"Bob"'), ("op2", "3"), ("mod", "1")]


@st.composite
def amr_graphs(draw, max_nodes: int = 7) -> AmrGraph:
    """Draw a connected graph: a tree from the root, some more relations, some constants."""
    n = draw(st.integers(1, max_nodes))
    nodes = st.integers(0, n - 1)
    roles = st.sampled_from(_ROLES)
    concepts = draw(st.lists(st.sampled_from(_CONCEPTS), min_size=n, max_size=n))
    relations = [(draw(st.integers(0, i - 1)), draw(roles), i) for i in range(1, n)]
    relations += draw(st.lists(st.tuples(nodes, roles, nodes), max_size=3))
    attributes = draw(st.lists(st.tuples(nodes, st.sampled_from(_CONSTANTS)), max_size=3))
    return AmrGraph(concepts, [(node, *constant) for node, constant in attributes], relations)


@pytest.fixture(scope="session")
def graph_pairs():
    """Return a strategy for lists of pairs of random graphs with some concepts and roles in common."""
    return st.lists(st.tuples(amr_graphs(), amr_graphs()), min_size=1, max_size=5)


_ANY_ROLES = st.one_of(
    st.sampled_from([*_ROLES, "ARG0-of", "mod-of", "domain-of", "polarity-of", "consist-of-of", "op12", "snt1", "X_"]),
    st.text(min_size=1, max_size=5),
)
_ANY_CONSTANTS = st.one_of(
    st.sampled_from(
        ["-", "+", "imperative", "expressive", "2", "2.50", "-1e3", "1,000", "9/11", "10:30", "2003-04-01"]
    ),
    st.sampled_from(['"New York"', '"a \\"quoted\\" word"', '"http://a.b/c?d=e#f"', '"Ω µ 名前"', '""', "Ann", "ANN_"]),
    st.text(min_size=1, max_size=8),
)


@st.composite
def any_graphs(draw) -> AmrGraph:
    """Draw a graph unlike any AMR: disconnected parts, cycles, loops, parallel relations, arbitrary names."""
    n = draw(st.integers(1, 8))
    nodes = st.integers(0, n - 1)
    names = st.one_of(st.sampled_from(_CONCEPTS), st.text(min_size=1, max_size=8))
    return AmrGraph(
        draw(st.lists(names, min_size=n, max_size=n)),
        draw(st.lists(st.tuples(nodes, _ANY_ROLES, _ANY_CONSTANTS), max_size=6)),
        draw(st.lists(st.tuples(nodes, _ANY_ROLES, nodes), max_size=12)),
    )


@pytest.fixture(scope="session")
def any_graph_pairs():
    """Return a strategy for lists of pairs of graphs that need not look like AMR."""
    return st.lists(st.tuples(any_graphs(), any_graphs()), min_size=1, max_size=4)


@pytest.fixture(scope="session")
def renumber():
    """Return a function that renumbers all nodes but the root, and shuffles the triples."""

    def renumbered(graph: AmrGraph, seed: int) -> AmrGraph:
        chance = random.Random(seed)
        n = len(graph.concepts)
        place = [0, *chance.sample(range(1, n), n - 1)]
        concepts = [graph.concepts[place.index(position)] for position in range(n)]
        attributes = [(place[node], role, value) for node, role, value in graph.attributes]
        relations = [(place[source], role, place[target]) for source, role, target in graph.relations]
        return AmrGraph(concepts, chance.sample(attributes, len(attributes)), chance.sample(relations, len(relations)))

    return renumbered


@pytest.fixture(scope="session")
def write_penman():
    """Return a function that writes a graph as random PENMAN: names, branch order and inversions vary."""

    def write(graph: AmrGraph, seed: int) -> str:
        chance = random.Random(seed)
        names = [f"x{number}" for number in chance.sample(range(100), len(graph.concepts))]
        reached, used = {0}, set()  # nodes of the tree written with parentheses, and its relations
        while len(reached) < len(graph.concepts):
            for index, (source, _, target) in enumerate(graph.relations):
                if source in reached and target not in reached:
                    reached.add(target)
                    used.add(index)

        def node(number: int) -> str:
            branches = [f":{role} {value}" for at, role, value in graph.attributes if at == number]
            for index, (source, role, target) in enumerate(graph.relations):
                if index in used:
                    if source == number:
                        branches.append(f":{role} {node(target)}")
                    continue
                # A relation between arguments may also be written from its target.
                inverted = role.startswith("ARG") and turned[index]
                if (target if inverted else source) == number:
                    other = names[source if inverted else target]
                    branches.append(f":{role}{'-of' * inverted} {other}")
            chance.shuffle(branches)
            return f"({names[number]} / {graph.concepts[number]} {' '.join(branches)})"

        turned = [chance.random() < 0.5 for _ in graph.relations]
        return node(0)

    return write


@pytest.fixture(scope="session")
def reference_triples():
    """Return a function from a graph in PENMAN to its triples as smatch 1.0.4 reads them."""

    def read(text: str) -> tuple[int, Counter, Counter, Counter]:
        """Return the number of nodes, instances, attributes and relations as smatch 1.0.4 reads them."""

        def plain(name):
            return name.lower().rstrip("_")

        graph = AMR.parse_AMR_line("".join(line.strip() for line in text.splitlines()))
        graph.rename_node("v")
        instances, attributes, relations = graph.get_triples()
        number = {name: position for position, (_, name, _) in enumerate(instances)}
        return (
            len(instances),
            Counter((number[node], plain(concept)) for _, node, concept in instances),
            Counter((number[node], plain(role), plain(value)) for role, node, value in attributes),
            Counter((number[source], number[target], plain(role)) for role, source, target in relations),
        )

    return read
