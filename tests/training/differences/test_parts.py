"""Parts of a set: about equal in size, equal numbers together, never too small; by words in common, by depth."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.differences.parts import (
    FEWER,
    NEARLY_SAME,
    REORDERED,
    by_number,
    by_words,
    depth,
    depths_of,
    lengths,
    overlap,
    words_of,
)


def named(values, least):
    values = np.array(values)
    parts = by_number(values, "words", np.arange(len(values)), least=least)
    return {name: rows.tolist() for name, rows in parts.items()}


def test_equal_numbers_stay_together_and_a_small_rest_joins_its_neighbour():
    values = [8, 5, 5, 6, 7, 8, 8, 9, 12, 20]
    assert named(values, 3) == {"5–6 words": [1, 2, 3], "7–8 words": [0, 4, 5, 6], "9–20 words": [7, 8, 9]}
    assert named(values, 4) == {"5–7 words": [1, 2, 3, 4], "8–20 words": [0, 5, 6, 7, 8, 9]}
    assert named(values, 5) == {}


def test_a_set_that_is_too_small_or_all_alike_has_no_parts():
    assert named([1, 2, 3, 4, 5], 3) == {}
    assert named([7] * 100, 3) == {}
    assert named([], 3) == {}


counts = st.lists(st.integers(0, 15), max_size=200)


@given(counts, st.integers(1, 40))
def test_every_pair_is_in_one_part_of_enough_pairs_and_no_number_is_in_two(values, least):
    parts = by_number(np.array(values, dtype=np.int64), "words", np.arange(len(values)), least=least)
    assert len(parts) != 1
    assert len(parts) <= 4
    if parts:
        assert sorted(row for rows in parts.values() for row in rows) == list(range(len(values)))
        assert min(map(len, parts.values())) >= least
        numbers = [{values[row] for row in rows} for rows in parts.values()]
        assert all(max(below) < min(above) for below, above in itertools.pairwise(numbers))


def test_parts_by_words_tell_order_from_words():
    texts = [
        ("The dog bites the man.", "the man bites THE dog"),
        ("The dog bites the man.", "The dog bites the man!"),  # the same words in the same order
        ("a b c d e f g h i j", "a b c d e f g h j k"),  # 9 of 11: 0.82
        ("a cat", "a dog"),
        ("the the dog", "the dog dog"),  # the same words, but not the same bag
        ("\U0001f436", "…"),  # no word at all
    ]
    found = {name: rows.tolist() for name, rows in by_words(texts).items()}
    assert found == {REORDERED: [0], NEARLY_SAME: [2], FEWER: [3, 4]}


def test_words_have_no_case_and_count_as_often_as_they_stand_there():
    assert words_of("Don't STOP, 3 €!") == ["don", "t", "stop", "3"]
    assert overlap(["the", "the", "dog"], ["the", "dog", "dog"]) == 0.5
    assert overlap([], []) == 1
    assert overlap([], ["dog"]) == 0
    assert lengths([("one two", "one"), ("…", "")]).tolist() == [2, 0]


def test_the_depth_is_that_of_the_deepest_word_whatever_the_order():
    assert depth([0]) == 0
    assert depth([1, 1]) == 1
    assert depth([1, 2, 3, 3]) == 3  # each word below the next
    assert depth([0, 0, 1, 2]) == 3
    assert depth([1, 1, 3, 1, 4, 6, 4]) == 2  # two trees: 1 ← 3 ← 2, and 4 ← 6 ← 5
    assert depth([]) == 0


class Parser:
    """Every word below the one before it."""

    max_words = 4

    def __init__(self):
        self.asked = []

    def parse(self, texts):
        self.asked += texts
        for text in texts:
            yield {"heads": [max(0, place - 1) for place in range(len(text.split()))]}


def test_texts_that_are_too_long_or_have_no_word_are_not_parsed():
    parser, told = Parser(), []
    found = depths_of(
        ["a  b\tc", "", " ", "one two three four five", "x y z z"], parser, lambda *done: told.append(done)
    )
    assert found == {"a  b\tc": 2, "x y z z": 3}
    assert parser.asked == ["a b c", "x y z z"]  # as an encoder parses them
    assert told == [(0, 2), (2, 2)]
