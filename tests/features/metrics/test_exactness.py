"""Smatch against an independent integer programme, on generated pairs and on those of the oracle.

The programme is the plain linearisation of the quadratic assignment problem, over the triples that smatch 1.0.4 reads
from the text: it shares neither triples nor formulas nor bounds with the metric. For more generated pairs:

    FACETFLOW_GENERATED_PAIRS=10000 python -m pytest tests/features/metrics/test_exactness.py
"""

import os
import random

import numpy as np
import pytest
from graph_pairs import batch_of, followed_by
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from features.graphs.graph import AmrGraph
from features.metrics.alignment.solve import best_alignments
from features.metrics.readings import Readings
from features.metrics.triples import triples_of

GENERATED_PAIRS = int(os.environ.get("FACETFLOW_GENERATED_PAIRS", "200"))
AT_ONCE = 100


def greatest_match(left, right) -> int:
    """Solve the pair as an integer programme: x(i, j) aligns nodes, y(t, u) counts a pair of relations."""
    n, instances, attributes, relations = left
    m, other_instances, other_attributes, other_relations = right
    gain = np.zeros((n, m))
    for (i, *key), count in (instances + attributes).items():
        for (j, *other_key), other_count in (other_instances + other_attributes).items():
            if key == other_key:
                gain[i, j] += min(count, other_count)
    couples = [
        (source * m + other_source, target * m + other_target, min(count, other_count))
        for (source, target, role), count in relations.items()
        for (other_source, other_target, other_role), other_count in other_relations.items()
        if role == other_role
    ]
    rows, columns, upper = [], [], []
    for line in [range(i * m, i * m + m) for i in range(n)] + [range(j, n * m, m) for j in range(m)]:
        rows += [len(upper)] * len(line)
        columns += line
        upper.append(1.0)
    values = [1.0] * len(rows)
    for y, (*ends, _) in enumerate(couples, start=n * m):
        for x in ends:
            rows += [len(upper)] * 2
            columns += [y, x]
            values += [1.0, -1.0]
            upper.append(0.0)
    matrix = coo_array((values, (rows, columns)), shape=(len(upper), n * m + len(couples))).tocsr()
    result = milp(
        -np.concatenate([gain.ravel(), [count for *_, count in couples]]),
        constraints=LinearConstraint(matrix, -np.inf, upper),
        integrality=np.concatenate([np.ones(n * m), np.zeros(len(couples))]),
        bounds=Bounds(0, 1),
    )
    assert result.success
    return round(-result.fun)


CONCEPTS = ["boy", "girl", "cat", "see-01", "want-01", "and", "name", "person", "thing", "Boy_"]
ROLES = ["ARG0", "ARG1", "ARG2", "mod", "domain", "op1", "name", "consist-of", "part"]
CONSTANTS = [("polarity", "-"), ("quant", "2"), ("quant", "3"), ("op1", '"Ann"'), ("op2", '"Ann"'), ("value", "ann")]


def random_graph(chance: random.Random, n: int) -> AmrGraph:
    """Draw a graph of n nodes: the fewer concepts and roles there are, the more alignments look alike."""
    concepts, roles = CONCEPTS[: chance.randint(1, len(CONCEPTS))], ROLES[: chance.randint(1, len(ROLES))]
    relations = [(chance.randrange(i), chance.choice(roles), i) for i in range(1, n)]
    more = range(chance.randint(0, n // 2))
    relations += [(chance.randrange(n), chance.choice(roles), chance.randrange(n)) for _ in more]
    attributes = [(chance.randrange(n), *chance.choice(CONSTANTS)) for _ in range(chance.randint(0, 3))]
    return AmrGraph(chance.choices(concepts, k=n), attributes, relations)


def changed(chance: random.Random, graph: AmrGraph) -> AmrGraph:
    """Change some concepts, roles and ends, as another parser might."""
    n = len(graph.concepts)
    concepts = [chance.choice(CONCEPTS) if chance.random() < 0.2 else concept for concept in graph.concepts]
    relations = [(s, chance.choice(ROLES) if chance.random() < 0.2 else r, t) for s, r, t in graph.relations]
    moved = [(s, r, chance.randrange(n)) if chance.random() < 0.2 else (s, r, t) for s, r, t in relations[n - 1 :]]
    return AmrGraph(concepts, graph.attributes[: chance.randint(0, 3)], relations[: n - 1] + moved)


@pytest.mark.parametrize("start", range(0, GENERATED_PAIRS, AT_ONCE))
def test_generated_pairs_equal_an_independent_integer_programme(start, write_penman, reference_triples):
    texts = []
    for seed in range(start, min(start + AT_ONCE, GENERATED_PAIRS)):
        chance = random.Random(seed)
        graph = random_graph(chance, chance.randint(1, 14))
        other = changed(chance, graph) if chance.random() < 0.5 else random_graph(chance, chance.randint(1, 14))
        texts.append((write_penman(graph, seed), write_penman(other, seed + 1)))
    left, right = (batch_of(side) for side in zip(*texts, strict=True))
    pairs = np.arange(len(texts))
    found = best_alignments(triples_of("smatch", Readings(followed_by(left, right))), pairs, pairs + len(pairs))
    assert found.proven.all()
    for pair, matched in zip(texts, found.matched, strict=True):
        assert matched == greatest_match(*map(reference_triples, pair)), pair


@pytest.mark.parametrize("corpus", ["sts", "sick", "para"])
def test_oracle_pairs_equal_an_independent_integer_programme(corpus, reference_pairs, oracle_rows, reference_triples):
    reference = reference_pairs(corpus)
    pairs = reference.comparison
    indices = np.array(sorted(oracle_rows("smatch_oracle.tsv", corpus)))
    matched = best_alignments(triples_of("smatch", pairs.readings), pairs.first[indices], pairs.second[indices]).matched
    for index, found in zip(indices, matched, strict=True):
        left, right = (reference_triples(side[index]) for side in reference.texts)
        assert found == greatest_match(left, right), index
