"""60 pairs that are hard to explain: at least 50 are explained rightly, and none is wrong with confidence."""

from collections import Counter

import pytest
from explanations_page import PAGE, PARTS, judge, render, try_pairs

from features.metrics.explanation.comparing import Difference
from features.metrics.explanation.words import SAME_TEXT, Words


@pytest.fixture(scope="module")
def tried():
    return {part: try_pairs(part) for part in PARTS}


def test_at_least_50_of_60_are_right_and_none_is_wrong_with_confidence(tried):
    pairs = [each for part in PARTS for each in tried[part]]
    assert [len(tried[part]) for part in PARTS] == [30, 30]
    wrong = [(each.pair["a"], each.words.sentence) for each in pairs if each.verdict == "wrong"]
    assert not wrong
    assert Counter(each.verdict for each in pairs)["right"] >= 50


def test_the_page_shows_what_is_said_now(tried):
    assert render(tried) == PAGE.read_text(encoding="utf-8"), "run python tools/explanations_page.py"


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ([("role", '"dog" and "cat" swap roles')], "right"),
        ([("role", '"dog" swaps roles')], "partly"),
        ([], "partly"),
        ([("role", '"dog" and "cat" swap roles'), ("negation", 'only a negates "dog"')], "wrong"),
        ([("role", '"dog" and "cat" swap roles'), ("negation", 'the parser reads that a negates "dog"')], "right"),
        ([("role", '"dog" and "chase" swap roles')], "wrong"),
    ],
)
def test_the_check_tells_right_from_wrong(told, verdict):
    pair = {"a": "a dog sees a cat", "b": "a cat sees a dog", "tells": ["role"], "names": ["dog", "cat"]}
    differences = tuple(Difference(None, aspect, text) for aspect, text in told)
    words = Words("; ".join(text for _, text in told), differences)
    assert judge(pair, words, None) == verdict
    assert judge(pair, Words(SAME_TEXT, ()), None) == "wrong"
    assert judge(pair, words, "It seems to be German.") == "wrong"
