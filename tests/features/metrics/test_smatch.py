"""Smatch and its relatives: worked examples, readings of the triples, parts of graphs."""

from fractions import Fraction

import numpy as np
import pytest
from graph_pairs import batch_of, followed_by

from features.metrics.alignment.solve import best_alignments
from features.metrics.metric import Comparison
from features.metrics.readings import Readings
from features.metrics.smatch import SMATCH
from features.metrics.triples import triples_of


def test_the_example_of_cai_and_knight(score):
    """Table 1 of the paper has 4 matches, left 6, right 5: F1 = 0.73; both sides have TOP besides since smatch 1.0."""
    left = "(a / want-01 :ARG0 (b / boy) :ARG1 (c / go-01 :ARG0 b))"
    right = "(x / want-01 :ARG0 (y / boy) :ARG1 (z / football))"
    assert score("smatch", left, right) == pytest.approx(2 * (4 + 1) / (6 + 1 + 5 + 1))


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        # Written the other way round, it is the same triple.
        (
            "(a / and :op1 (b / boy :ARG0-of (s / sleep-01)))",
            "(a / and :op1 (b / boy) :op2 (s / sleep-01 :ARG0 b))",
            "12/13",
        ),
        # `mod` is the inverse of `domain`.
        ("(b / boy :mod (y / young))", "(b / boy :domain-of (y / young))", "1"),
        ("(b / boy :mod (y / young))", "(b / boy :domain (y / young))", "3/4"),
        # `consist-of` is no inverse.
        ("(g / group :consist-of (b / boy))", "(g / group :consist (b / boy))", "3/4"),
        # Case and quotes do not count, and a constant counts up to its first blank.
        ('(N / Name :OP1 "New York")', "(n / name :op1 new)", "1"),
        # A constant is that of its role.
        ("(m / man :quant 1 :value 2)", "(m / man :quant 2 :value 1)", "1/2"),
        # smatch 1.0.4 loses :mod with a constant.
        ("(c / chapter :mod 1)", "(c / chapter)", "1"),
        # The root counts.
        ("(b / boy :poss (g / girl))", "(g / girl :poss-of (b / boy))", "3/4"),
        ("(b / boy)", "(g / girl)", "1/2"),
    ],
)
def test_what_counts_as_the_same_triple(left, right, value, score):
    assert score("smatch", left, right) == pytest.approx(float(Fraction(value)))


def test_repeated_triples_are_a_multiset(score):
    twice = "(b / boy :op1 1 :op1 1 :poss (g / girl) :poss g)"  # TOP, 2 instances, 2 attributes, 2 relations
    thrice = "(b / boy :op1 1 :op1 1 :op1 1 :poss (g / girl) :poss g :poss g)"  # 9 triples
    assert score("smatch", twice, twice) == 1.0
    assert score("smatch", twice, thrice) == pytest.approx(2 * 7 / (7 + 9))
    assert score("smatch", thrice, twice) == pytest.approx(2 * 7 / (7 + 9))


def test_unlabeled_forgets_roles_but_not_directions_or_the_root(score):
    left = "(s / see-01 :ARG0 (b / boy) :ARG1 (g / girl :quant 2))"
    right = "(s / see-01 :ARG1 (b / boy) :ARG0 (g / girl :value 2))"
    assert score("smatch", left, right) == pytest.approx(2 * 4 / (7 + 7))
    assert score("unlabeled", left, right) == 1.0
    assert score("unlabeled", "(b / boy :poss (g / girl))", "(b / boy :poss-of (g / girl))") == 0.75


def test_srl_looks_at_numbered_arguments_only(score):
    left = "(s / see-01 :ARG0 (b / boy) :time (n / now) :ARG1 (g / girl :mod (y / young)))"
    right = "(s / see-01 :ARG0 (b / boy) :location (h / here) :ARG1 (g / girl))"
    assert score("srl", left, right) == 1.0
    # root, see-01, boy, girl, ARG0, ARG1: all but the two relations match where the roles are swapped
    swapped = "(s / see-01 :ARG1 (b / boy) :ARG0 (g / girl))"
    assert score("srl", left, swapped) == pytest.approx(2 * 4 / (6 + 6))
    assert score("srl", "(b / boy :ARG0-of (s / see-01))", "(s / see-01 :ARG0 (b / boy))") == 1.0
    assert score("srl", "(s / see-01 :ARG1 5)", "(s / see-01 :ARG1 6)") == pytest.approx(2 * 2 / 6)


def test_coreference_tells_the_cat_that_scratches_itself(score):
    """Opitz & Frank 2022, §6.1 and Table 7: "The cat scratches itself" and "The cat scratches another cat"."""
    itself = "(s / scratch-01 :ARG0 (c / cat) :ARG1 c)"
    another = "(s / scratch-01 :ARG0 (c / cat) :ARG1 (c2 / cat :mod (a / another)))"
    assert score("coreference", itself, another) == 0.0
    assert score("coreference", itself, itself) == 1.0
    assert score("smatch", itself, another) > 0.5
    control = "(w / want-01 :ARG0 (c / cat) :ARG1 (s / scratch-01 :ARG0 c))"
    # root, want-01, scratch-01, cat, ARG0, ARG0 against root, scratch-01, cat, ARG0, ARG1: scratch-01, cat, ARG0 match
    assert score("coreference", itself, control) == pytest.approx(2 * 3 / (6 + 5))


def test_a_modifier_makes_no_reentrancy(score):
    young = "(s / see-01 :ARG0 (b / boy :mod (y / young)))"
    assert score("coreference", young, "(s / see-01 :ARG0 (b / boy))") == 1.0


def test_a_corpus_is_scored_by_the_sums_of_its_pairs(no_vectors):
    texts = ["(s / see-01 :ARG0 (b / boy))", "(b / boy)"], ["(s / see-01 :ARG0 (g / girl))", "(g / girl)"]
    graphs = followed_by(batch_of(texts[0]), batch_of(texts[1]))
    statistics = SMATCH.statistics(Comparison(graphs, np.array([0, 1]), np.array([2, 3]), no_vectors))
    assert statistics[:, :3].tolist() == [[3, 4, 4], [1, 2, 2]]
    assert SMATCH.number(statistics.sum(axis=0, keepdims=True)).tolist() == [pytest.approx(2 * 4 / 12)]


def test_pairs_may_share_graphs():
    graphs = batch_of(["(b / boy)", "(g / girl)", "(b / boy :quant 2)"])
    triples = triples_of("smatch", Readings(graphs))
    matched = best_alignments(triples, np.array([0, 0, 2, 1]), np.array([1, 2, 2, 1])).matched
    assert matched.tolist() == [1, 2, 3, 2]
