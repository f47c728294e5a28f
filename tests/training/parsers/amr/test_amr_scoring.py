import pytest

from training.parsers.amr.scoring import score_concepts

PROFESSOR = "(p / person :ARG0-of (t / teach-01) :ARG1-of (r / rate-entity-91) :ARG2-of (o / rate-entity-91))"


def test_concepts_are_counted_as_often_as_they_occur() -> None:
    parsed = ["(t / teach-01 :ARG1-of (r / rate-entity-91))", "(c / cat)"]
    score = score_concepts(parsed, [PROFESSOR, "(h / have-org-role-91)"], lambda concept: concept.endswith("-91"))
    assert (score.precision, score.recall) == (1.0, pytest.approx(1 / 3))
    assert score.f1 == pytest.approx(0.5)


def test_graphs_that_both_lack_them_agree() -> None:
    assert score_concepts(["(c / cat)"], ["(d / dog)"], lambda concept: concept.endswith("-91")).f1 == 1
