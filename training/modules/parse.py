"""What trees and frames have in common: numbers of labels, draws by words and seed, and the identity of the parser.

A parser is known by the digest of its files, as in a stage's recipe. Name and version are not enough: a custom pipeline
keeps them when it is trained further.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from features.core.faults import OtherParser
from features.parsers.settings import DependencySettings, SrlSettings

Parse = Mapping[str, Any]
"""Parse of a sentence, as a row of the parser's table."""

ParseCache = OrderedDict[str, Parse | None]
"""Parses by normalised text, the last used last; None for a text that the parser rejected."""

Pieces = Sequence[tuple[int, int]]
"""Start and end (exclusive) of each word piece of a sentence, in characters; equal for special pieces."""


def places_of_words(pieces: Pieces, words: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the places of the pieces that share a character with each word, given by start and end, in order."""
    real = [(start, end, place) for place, (start, end) in enumerate(pieces) if end > start]
    starts, ends = [start for start, _, _ in real], [end for _, end, _ in real]
    shared = (real[bisect_right(ends, begin) : bisect_left(starts, end)] for begin, end in words)
    return [[place for _, _, place in of_word] for of_word in shared]


class LabelNumbers:
    """The labels of a parser, in any order: relations of a graph, roles of spans."""

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
    """Return a random generator for the words of a sentence: the same in training and whenever it is encoded."""
    hashed = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return np.random.default_rng((*seed, int.from_bytes(hashed, "big")))


def weights_of(settings: DependencySettings | SrlSettings) -> str:
    """Return the digest of a parser, or of a tagger together with the pipeline that finds its predicates."""
    from features.stages.dependencies import dependency_recipe
    from features.stages.srl import srl_recipe

    recipe = dependency_recipe(settings) if isinstance(settings, DependencySettings) else srl_recipe(settings)
    return recipe.weights or ""


def same_weights(one: str, other: str) -> bool:
    """Return whether two digests are of the same files; an empty one, as of an export, matches any."""
    return not one or not other or one == other


def differs(identity: str, weights: str, here: str, installed: DependencySettings | SrlSettings) -> str:
    """Return a parser by its identity and how the installed one, `here`, differs from it; empty if it is the same."""
    if here != identity:
        return f"{identity!r}, but the installed {installed.model!r} is {here!r}"
    digest = weights_of(installed)
    if same_weights(digest, weights):
        return ""
    return f"{identity!r} with the digest {weights[:16]!r}, but the installed {installed.model!r} has {digest[:16]!r}"


def require_same(what: str, difference: str, option: str) -> None:
    """Check that an encoder has the parser of its training, from what `differs` returns."""
    if difference:
        raise OtherParser(
            f"the encoder was trained on {what} of {difference}, which would change its embeddings: restore that one, "
            f"or train the encoder again with this one; in Python `encoder.model[0].structure.{option} = True` uses "
            "this one anyway."
        )
