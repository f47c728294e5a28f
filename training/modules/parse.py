"""What the readings of a parse share: numbers for its labels, and random numbers that its words and a seed decide."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Parse = Mapping[str, Any]
"""What a parser says of a sentence, as a row of its table has it."""

Pieces = Sequence[tuple[int, int]]
"""First character of each word piece of a sentence and the one after its last; the same for special ones."""


class LabelNumbers:
    """The labels of a parser: relations of a graph, roles of spans.

    Args:
        names: of the labels, in any order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self._numbers = {name: number for number, name in enumerate(self.names, start=1)}

    def __len__(self) -> int:
        """Return how many there are, with the one of all unknown labels."""
        return len(self.names) + 1

    def number(self, name: str) -> int:
        """Return the number of a label, from 1; all unknown ones share the last."""
        return self._numbers.get(name, len(self))


def random_of(words: Sequence[str], *seed: int) -> np.random.Generator:
    """Return random numbers for a sentence: the same in training and whenever it is encoded.

    Args:
        words: of the sentence.
        seed: numbers that decide as well.
    """
    hashed = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return np.random.default_rng((*seed, int.from_bytes(hashed, "big")))
