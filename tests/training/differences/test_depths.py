"""Depths of trees, by hand and from parses."""

from training.differences.parts import depth, depths_of


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
