import pytest

from training.parsers.amr.scoring import counting, score_graphs

ABSTRACT = counting("abstract", lambda concept: concept.endswith("-91"))
PROFESSOR = "(p / person :ARG0-of (t / teach-01) :ARG1-of (r / rate-entity-91) :ARG2-of (o / rate-entity-91))"


def test_concepts_are_counted_as_often_as_they_occur():
    parsed = ["(t / teach-01 :ARG1-of (r / rate-entity-91))", "(c / cat)"]
    score = score_graphs(parsed, [PROFESSOR, "(h / have-org-role-91)"], ["smatch"], [ABSTRACT])["abstract"]
    assert (score.precision.value, score.recall.value) == (1.0, pytest.approx(1 / 3))
    assert score.f1.value == pytest.approx(0.5)


def test_graphs_that_both_lack_them_agree():
    assert score_graphs(["(c / cat)"], ["(d / dog)"], ["smatch"], [ABSTRACT])["abstract"].f1.value == 1


def test_graphs_are_scored_without_wiki_links():
    gold = '(c / city :Wiki "Paris" :name (n / name :op1 "see :wiki Paris"))'
    scores = score_graphs(['(c / city :name (n / name :op1 "see :wiki Paris"))'], [gold])
    parts = {estimate.value for score in scores.values() for estimate in (score.precision, score.recall, score.f1)}
    assert parts == {1.0}
    assert score_graphs(["(c / cat)"], [gold], ["negations"])["negations"].precision.value == 1.0  # neither has one
