"""Smatch against smatch 1.0.4, smatchpp 1.8.0 and an integer programme of the tests' own.

`shared/oracles/smatch_oracle.tsv`: 150 development pairs of each of STS, SICK and MRPC; smatch 1.0.4 with 21 restarts
(hill-climbing: a lower bound), smatchpp 1.8.0 with its ILP solver (its root triple differs).
"""

from collections import Counter

import numpy as np
import pytest
from amr import AMR  # the package `smatch` calls its parser so
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from features.metrics.alignment.solve import best_matches
from features.metrics.triples import smatch_triples, unlabeled_triples

from_corpora = pytest.mark.parametrize("corpus", ["sts", "sick", "para"])

COUNTED_AS_PRODUCTS = {"sts": {1029, 1063}, "sick": {415}, "para": set()}
"""Pairs with a repeated triple: smatch 1.0.4 counts 2 and 1 of it as 2 matches, 2 and 2 as 4 (SICK 415: F1 = 1.05)."""


def reference_triples(text: str) -> tuple[int, Counter, Counter, Counter]:
    """Return number of nodes, instances, attributes and relations, as smatch 1.0.4 reads them."""

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


@from_corpora
def test_triples_are_those_of_the_reference_and_matches_at_least_its_own(corpus, reference_pairs, oracle_rows):
    pairs = reference_pairs(corpus).comparison
    triples = smatch_triples(pairs.readings)
    matched, proven = best_matches(triples, pairs.first, pairs.second)
    assert proven.all()
    lower, higher = set(), 0
    rows = oracle_rows("smatch_oracle.tsv", corpus)
    assert len(rows) == 150
    for index, row in rows.items():
        assert triples.sizes[pairs.first[index]] == int(row["smatch104_left"])
        assert triples.sizes[pairs.second[index]] == int(row["smatch104_right"])
        higher += matched[index] > int(row["smatch104_match"])
        if matched[index] < int(row["smatch104_match"]):
            lower.add(index)
    assert lower == COUNTED_AS_PRODUCTS[corpus]
    assert higher > 0  # else hill-climbing would do


@from_corpora
def test_pairs_below_the_reference_repeat_triples(corpus, reference_pairs):
    for index in COUNTED_AS_PRODUCTS[corpus]:
        assert max(max(reference_triples(side[index])[3].values()) for side in reference_pairs(corpus).texts) > 1


@from_corpora
def test_at_least_smatchpp_but_for_its_root_triple(corpus, reference_pairs, oracle_rows):
    pairs = reference_pairs(corpus).comparison
    triples = smatch_triples(pairs.readings)
    matched, _ = best_matches(triples, pairs.first, pairs.second)
    for index, row in oracle_rows("smatch_oracle.tsv", corpus).items():
        size = triples.sizes[pairs.first[index]] + triples.sizes[pairs.second[index]]
        theirs = float(row["smatchpp180_ilp_f1"]) / 100 * size / 2
        assert matched[index] > theirs - 1.01, index


@from_corpora
def test_equal_to_an_independent_integer_programme(corpus, reference_pairs, oracle_rows):
    reference = reference_pairs(corpus)
    pairs = reference.comparison
    indices = np.array(sorted(oracle_rows("smatch_oracle.tsv", corpus)))
    matched, _ = best_matches(smatch_triples(pairs.readings), pairs.first[indices], pairs.second[indices])
    for index, found in zip(indices, matched, strict=True):
        left, right = (reference_triples(side[index]) for side in reference.texts)
        assert found == greatest_match(left, right), index


@from_corpora
def test_all_pairs_are_proven_labelled_and_unlabelled(corpus, reference_pairs):
    pairs = reference_pairs(corpus).comparison
    labelled, proven = best_matches(smatch_triples(pairs.readings), pairs.first, pairs.second)
    assert proven.all()
    unlabelled, proven = best_matches(unlabeled_triples(pairs.readings), pairs.first, pairs.second)
    assert proven.all()
    assert (unlabelled >= labelled).all()  # any match stays one when labels are made equal
