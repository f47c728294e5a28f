"""How deep the dependency trees of sentences are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from features.core.rows import OnRows, ignore_rows
from features.sentences import normalise

if TYPE_CHECKING:
    from features.parsers.dependencies import DependencyParser

_AT_ONCE = 512


def depth(heads: Sequence[int]) -> int:
    """Return the number of edges from the root of a tree to its deepest word; of several trees the deepest counts.

    Args:
        heads: position of the head of each word; the head of a root is itself.

    >>> depth([1, 1, 3, 1])  # two ← one, four; three ← four
    2
    """
    depth_of: dict[int, int] = {}
    for start in range(len(heads)):
        path, word = [], start
        while word not in depth_of and heads[word] != word:
            path.append(word)
            word = heads[word]
        below = depth_of.setdefault(word, 0)
        for steps, passed in enumerate(reversed(path), start=1):
            depth_of[passed] = below + steps
    return max(depth_of.values(), default=0)


def depths_of(texts: Sequence[str], parser: "DependencyParser", on_rows: OnRows = ignore_rows) -> dict[str, int]:
    """Return the tree depth of each text, except those that are too long for the parser or have no word.

    Args:
        texts: sentences, each once.
        parser: of their trees.
        on_rows: called with the number of sentences parsed.
    """
    short = [text for text in texts if 0 < len(text.split()) <= parser.max_words]
    depths: dict[str, int] = {}
    for start in range(0, len(short), _AT_ONCE):
        on_rows(start, len(short))
        some = short[start : start + _AT_ONCE]
        trees = parser.parse([normalise(text) for text in some])
        depths |= {text: depth(tree["heads"]) for text, tree in zip(some, trees, strict=True)}
    on_rows(len(short), len(short))
    return depths
