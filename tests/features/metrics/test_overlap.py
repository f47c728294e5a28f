import tracemalloc

import pytest
from graph_pairs import batch_of

from features.metrics.readings import Readings


@pytest.mark.parametrize(
    ("name", "left", "right", "value"),
    [
        ("concepts", "(a / and :op1 (b / boy) :op2 (c / boy))", "(a / and :op1 (b / boy) :op2 (g / girl))", 2 / 3),
        ("concepts", "(a / and :op1 (b / boy) :op2 (c / boy))", "(b / boy :mod (c / boy) :mod (d / Boy))", 2 / 3),
        ("frames", "(w / want-01 :ARG0 (b / boy))", "(w / want-01 :ARG0 (g / girl))", 1),
        ("frames", "(w / want-01 :ARG1 (s / see-01))", "(w / want-02 :ARG1 (s / see-01))", 1 / 2),
        ("frames", "(h / have-rel-role-91)", "(h / have-rel-role-91 :ARG2 (b / boy-1))", 1),
        ("named_entities", "(p / person :name (n / name :op1 Ann))", "(p / person :name (n / name :op1 Bob))", 1),
        ("named_entities", "(p / person :name (n / name))", "(c / city :name (n / name))", 0),
        ("named_entities", "(p / person :name (n / name))", "(p / person :name (n / name) :name n)", 1),
        ("named_entities", "(p / person :name Ann)", "(n / name :name-of (p / person :ARG0-of (s / see-01)))", 1),
        ("negations", "(l / like-01 :polarity -)", "(l / like-01)", 0),
        ("negations", "(l / like-01 :Polarity -)", "(l / like-01 :polarity -)", 1),
        ("negations", "(l / like-01 :polarity -)", "(l / like-01 :polarity - :ARG0 (b / boy :polarity -))", 2 / 3),
        ("negations", "(l / like-01 :polarity +)", "(s / see-01 :polarity (a / amr-unknown))", 1),
        ("negations", "(l / like-01 :polarity -)", '(l / like-01 :polarity "-" :polarity -)', 1),
    ],
)
def test_bags_of_labels(name, left, right, value, score):
    assert score(name, left, right) == pytest.approx(value)


def test_a_long_concept_takes_no_space_for_each_other_one():
    graphs = batch_of([*(f"(c / c{number})" for number in range(300)), f"(c / {'c' * 100_000})"])
    tracemalloc.start()
    assert len(set(Readings(graphs).labels)) == 301
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
