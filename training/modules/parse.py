"""Common parts of trees and frames: numbers of labels, and random numbers determined by words and a seed."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Parse = Mapping[str, Any]
"""Parse of a sentence, as a row of the parser's table."""

Pieces = Sequence[tuple[int, int]]
"""Start and end (exclusive) of each word piece of a sentence, in characters; equal for special pieces."""


class LabelNumbers:
    """The labels of a parser: relations of a graph, roles of spans.

    Args:
        names: of the labels, in any order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self._numbers = {name: number for number, name in enumerate(self.names, start=1)}

    def __len__(self) -> int:
        """Return the number of labels, including the one for unknown labels."""
        return len(self.names) + 1

    def number(self, name: str) -> int:
        """Return the number of a label, from 1; all unknown labels share the last."""
        return self._numbers.get(name, len(self))


def random_of(words: Sequence[str], *seed: int) -> np.random.Generator:
    """Return a random generator for a sentence: the same in training and whenever it is encoded.

    Args:
        words: of the sentence.
        seed: further numbers of the seed.
    """
    hashed = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return np.random.default_rng((*seed, int.from_bytes(hashed, "big")))
