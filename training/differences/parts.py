"""A set of pairs divided into parts that are scored separately: short and long, flat and deep, by words in common.

    words of the longer sentence    5 5 6 7 8 8 8 9 12 20        at least 4 pairs per part, here
                                    ╰─5–7─╯ ╰────8–20────╯       8–9 has four, and would leave two: they join it

Parts by a number are of about equal size, and never split equal numbers. A remainder with fewer than `LEAST` pairs
joins its neighbour, because so few show nothing. Words in common are all that an encoder without word order knows.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.core.types import OnRows, ignore_rows
from features.sentences import normalise

if TYPE_CHECKING:
    from features.parsers.dependencies import DependencyParser

LEAST = 30
"""Minimum number of pairs in a part."""
PARTS = 4
"""Maximum number of parts by a number."""
NEARLY = 0.8
"""Jaccard index from which the words of two sentences count as nearly the same."""
REORDERED, NEARLY_SAME, FEWER = "same words, other order", "nearly the same words", "fewer words in common"
"""Parts by words."""
_WORD = re.compile(r"\w+")
_PARSED_AT_ONCE = 512


Parts = dict[str, NDArray[np.int64]]
"""What the pairs of a part have in common → their positions in the set, ascending."""


def by_number(values: NDArray[np.int64], unit: str, rows: NDArray[np.int64], *, least: int = LEAST) -> Parts:
    """Divide pairs, by their `rows`, into parts by a number, ascending; no parts where there are too few for two."""
    size = max(least, -(-len(values) // PARTS))
    groups: list[list[int]] = []
    filled = size
    for value, times in zip(*np.unique(values, return_counts=True), strict=True):
        if filled >= size:
            groups.append([])
            filled = 0
        groups[-1].append(int(value))
        filled += int(times)
    if filled < least and len(groups) > 1:
        last = groups.pop()
        groups[-1] += last
    ends = [(group[0], group[-1]) for group in groups if len(groups) > 1]
    return {
        f"{low}{f'–{high}' if high > low else ''} {unit}": rows[(values >= low) & (values <= high)]
        for low, high in ends
    }


def by_words(texts: Sequence[tuple[str, str]]) -> Parts:
    """Divide pairs into those with the same words in another order, nearly the same words, and others.

    Parts may be small, or empty. Pairs whose sentences are the same word for word are in none.
    """
    rows: dict[str, list[int]] = {REORDERED: [], NEARLY_SAME: [], FEWER: []}
    for row, (first, second) in enumerate((words_of(a), words_of(b)) for a, b in texts):
        if first != second:
            index = overlap(first, second)
            rows[REORDERED if index == 1 else NEARLY_SAME if index >= NEARLY else FEWER].append(row)
    return {name: np.array(positions, dtype=np.int64) for name, positions in rows.items()}


def words_of(text: str) -> list[str]:
    """Return the words of a text, runs of letters and digits, case-folded.

    >>> words_of("The dog's bone – 3 €!")
    ['the', 'dog', 's', 'bone', '3']
    """
    return [word.casefold() for word in _WORD.findall(text)]


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the Jaccard index of two bags of words, in [0, 1], with repeated words counted; 1 if both are empty.

    >>> overlap("a cat sleeps".split(), "a dog sleeps".split())
    0.5
    """
    a, b = Counter(first), Counter(second)
    either = (a | b).total()
    return (a & b).total() / either if either else 1.0


def lengths(texts: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
    """Return the number of words of the longer sentence of each pair, (n_pairs,)."""
    return np.array([max(len(words_of(text)) for text in pair) for pair in texts], dtype=np.int64)


def depth(heads: Sequence[int]) -> int:
    """Return the number of edges from the root of a tree to its deepest word; of several trees the deepest counts.

    `heads` are the positions of the words' heads; the head of a root is itself.

    >>> depth([1, 1, 3, 1])  # two ← one, four; three ← four
    2
    """
    steps, reached = 0, list(range(len(heads)))
    while (above := [heads[word] for word in reached]) != reached:
        steps, reached = steps + 1, above
    return steps


def depths_of(texts: Sequence[str], parser: "DependencyParser", on_rows: OnRows = ignore_rows) -> dict[str, int]:
    """Return the tree depth of each text, except those that are too long for the parser or have no word."""
    short = [text for text in texts if 0 < len(text.split()) <= parser.max_words]
    depths: dict[str, int] = {}
    for start in range(0, len(short), _PARSED_AT_ONCE):
        on_rows(start, len(short))
        some = short[start : start + _PARSED_AT_ONCE]
        trees = parser.parse([normalise(text) for text in some])
        depths |= {text: depth(tree["heads"]) for text, tree in zip(some, trees, strict=True)}
    on_rows(len(short), len(short))
    return depths
