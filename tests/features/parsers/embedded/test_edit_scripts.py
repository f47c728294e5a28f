from hypothesis import assume, given
from hypothesis import strategies as st

from features.parsers.embedded.vocabulary import apply_script, is_script, script_between

words = st.text(st.characters(codec="utf-8", categories=["Ll"]), min_size=1, max_size=12)


@given(words, words)
def test_a_script_makes_the_lemma(word: str, lemma: str) -> None:
    script = script_between(word, lemma)
    assume(script is not None)
    assert script is not None
    assert is_script(script)
    assert apply_script(script, word) == lemma


def test_one_script_serves_many_words() -> None:
    assert script_between("studied", "study") == script_between("carried", "carry") == "~3y"


def test_words_that_share_nothing_have_no_script() -> None:
    assert script_between("hieroglyphs", "picture") is None


def test_a_script_that_drops_more_than_there_is_leaves_its_addition() -> None:
    assert apply_script("~5y", "it") == "y"
