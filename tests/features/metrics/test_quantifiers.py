import pytest

TWO_CATS = "(l / look-01 :ARG0 (c / cat :quant 2) :ARG1 (w / window))"
A_WHITE_CAT = "(l / look-01 :ARG0 (c / cat :ARG1-of (w2 / white-03)) :direction (o / out :op1 (w / window)))"
THREE_MEN_POSING = "(p / pose-02 :ARG0 (m / man :quant 3) :location (t / tent))"
THREE_MEN_EATING = "(e / eat-01 :ARG0 (m / man :quant 3) :location (k / kitchen))"


def test_the_examples_of_the_paper(score):
    """Opitz & Frank 2022, Table 7, pairs 1 and 2: quantSim low and high."""
    assert score("quantifiers", TWO_CATS, A_WHITE_CAT) == 0.0
    assert score("quantifiers", THREE_MEN_POSING, THREE_MEN_EATING) == 1.0
    assert score("quantifiers", TWO_CATS, THREE_MEN_POSING) == 0.0


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        ("(m / man :quant 3)", '(m / woman :quant "3.0")', 1),
        ("(m / meter :quant 2.5)", "(m / meter :quant 2)", 0),
        ("(m / man :QUANT 3)", "(m / man :quant 3)", 1),
        ("(m / man :quant 1000)", '(m / man :quant "1,000")', 1),
        ("(m / man :quant 9007199254740993)", "(m / man :quant 9007199254740992)", 0),
        ("(m / man :mod (a / all))", "(w / woman :mod (a / all))", 1),
        ("(m / man :mod (a / all))", "(m / man :quant (a / all))", 1),
        ("(m / man :mod (a / all))", "(a / all :domain (m / man))", 1),
        ("(m / man :mod (a / all))", "(m / man :mod (s / some))", 0),
        ("(m / man :mod (y / young))", "(m / man)", 1),
        ("(m / man :quant (m2 / more-than :op1 3))", "(m / man :quant 3)", 2 / 3),
        ("(m / man :quant (m2 / many))", "(m / man :quant (f / few))", 0),
        ("(a / and :op1 (m / man :quant 2) :op2 (w / woman :quant 2))", "(m / man :quant 2)", 2 / 3),
        ("(m / man :quant (b / between :op1 3 :op2 5))", "(m / man :quant (b / between :op1 3 :op2 7))", 2 / 3),
        ("(m / man :quant (a / all) :mod a)", "(m / man :mod (a / ALL))", 1),
        ('(m / man :quant " 3 ")', "(m / man :quant 3)", 1),
        ("(d / day :op1 3)", "(d / day)", 1),
    ],
)
def test_what_counts(left, right, value, score):
    assert score("quantifiers", left, right) == pytest.approx(value)
