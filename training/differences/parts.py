"""A set of pairs divided into parts that are scored separately: short and long, flat and deep, by words in common.

    words of the longer sentence    5 5 6 7 8 8 8 9 12 20        at least 4 pairs per part, here
                                    ╰─5–7─╯ ╰────8–20────╯       8–9 has four, and would leave two: they join it

Parts by a number are of about equal size, and never split equal numbers. A remainder with fewer than `LEAST` pairs
joins its neighbour, because so few show nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.differences.words import overlap, words_of

LEAST = 30
"""Minimum number of pairs in a part."""
PARTS = 4
"""Maximum number of parts by a number."""
NEARLY = 0.8
"""Jaccard index from which the words of two sentences count as nearly the same."""
REORDERED, NEARLY_SAME, FEWER = "same words, other order", "nearly the same words", "fewer words in common"
"""Parts by words."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some pairs of a set.

    Args:
        name: what they have in common.
        rows: their positions, ascending.
    """

    name: str
    rows: NDArray[np.int64]


def by_number(values: NDArray[np.int64], unit: str, rows: NDArray[np.int64], *, least: int = LEAST) -> list[Part]:
    """Divide pairs into parts by a number, from the lowest to the highest; no parts where there are too few for two.

    Args:
        values: the number of each pair, (n,).
        unit: what is counted, for the names: "words" makes "5–8 words".
        rows: positions of the pairs in their set, (n,).
        least: minimum number of pairs in a part.
    """
    size = max(least, -(-len(values) // PARTS))
    groups: list[list[int]] = []
    filled = size
    for value in np.unique(values):
        if filled >= size:
            groups.append([])
            filled = 0
        groups[-1].append(int(value))
        filled += int((values == value).sum())
    if filled < least and len(groups) > 1:
        last = groups.pop()
        groups[-1] += last
    if len(groups) < 2:
        return []
    return [
        Part(
            f"{group[0]}{f'–{group[-1]}' if group[-1] > group[0] else ''} {unit}",
            rows[(values >= group[0]) & (values <= group[-1])],
        )
        for group in groups
    ]


@dataclass(frozen=True, slots=True)
class ByWords:
    """Pairs by the words that their sentences share.

    Args:
        parts: parts with enough pairs.
        reordered: positions of the pairs of the same words in another order, however few they are.
        small: name of a part with too few → its number of pairs.
        equal: number of pairs whose sentences are the same word for word, which are in no part.
    """

    parts: list[Part]
    reordered: NDArray[np.int64]
    small: dict[str, int]
    equal: int


def by_words(texts: Sequence[tuple[str, str]], *, least: int = LEAST) -> ByWords:
    """Divide pairs into those with the same words in another order, nearly the same words, and others.

    Args:
        texts: both sentences of each pair.
        least: minimum number of pairs in a part.
    """
    rows: dict[str, list[int]] = {REORDERED: [], NEARLY_SAME: [], FEWER: []}
    equal = 0
    for row, (first, second) in enumerate((words_of(a), words_of(b)) for a, b in texts):
        if first == second:
            equal += 1
            continue
        index = overlap(first, second)
        rows[REORDERED if index == 1 else NEARLY_SAME if index >= NEARLY else FEWER].append(row)
    parts = [Part(name, np.array(positions, dtype=np.int64)) for name, positions in rows.items()]
    small = {part.name: len(part.rows) for part in parts if 0 < len(part.rows) < least}
    return ByWords([part for part in parts if len(part.rows) >= least], parts[0].rows, small, equal)
