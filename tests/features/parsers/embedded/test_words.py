import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.core.wording import spelt_number
from features.parsers.embedded.words import CASINGS, SPELLINGS, SUFFIXES, number_at, spelling_features, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I can't, you won't.", ["I", "ca", "n't", ",", "you", "wo", "n't", "."]),
        ("John's 3,500.5 U.S. dollars", ["John", "'s", "3,500.5", "U.S.", "dollars"]),
        ("a state-of-the-art café", ["a", "state", "-", "of", "-", "the", "-", "art", "café"]),
        ("東京へ", ["東京へ"]),
        ("   ", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [word.text for word in split_words(text)] == words


@given(st.text())
def test_words_cover_all_that_can_be_seen(text: str) -> None:
    words = split_words(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    covered = {position for word in words for position in range(word.start, word.end)}
    assert {position for position, character in enumerate(text) if not character.isspace()} <= covered


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["3,000"], "3000"),
        (["2.5", "million"], "2500000"),
        (["0.3", "hundred"], "30"),
        (["1.23456", "thousand"], "1234.56"),
        (["1.2.3"], None),
        (["three"], None),
        (["²"], None),
    ],
)
def test_numbers(words: list[str], value: str | None) -> None:
    assert number_at(words, 0) == value


def test_numbers_in_letters() -> None:
    assert [spelt_number(word) for word in ("Twelve", "nineteen", "eighty", "million", "boy")] == [
        *("12", "19", "80", "1000000"),
        None,
    ]


@given(st.text(min_size=1))
def test_spelling_features_are_in_range(word: str) -> None:
    casing, suffix, spelling = spelling_features(word)
    assert 0 <= casing < CASINGS
    assert 0 <= suffix < SUFFIXES
    assert 0 <= spelling < SPELLINGS
