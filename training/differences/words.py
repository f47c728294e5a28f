"""Words of a sentence, and how many of them two sentences share: all that an encoder without word order knows."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, runs of letters and digits, case-folded.

    >>> words_of("The dog's bone – 3 €!")
    ['the', 'dog', 's', 'bone', '3']
    """
    return [word.casefold() for word in _WORD.findall(text)]


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the Jaccard index of two bags of words, in [0, 1], with repeated words counted; 1 if both are empty.

    >>> overlap("the dog bites the man".split(), "the man bites the dog".split())
    1.0
    >>> overlap("a cat sleeps".split(), "a dog sleeps".split())
    0.5
    """
    a, b = Counter(first), Counter(second)
    either = (a | b).total()
    return (a & b).total() / either if either else 1.0


def lengths(texts: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
    """Return the number of words of the longer sentence of each pair, (n_pairs,)."""
    return np.array([max(len(words_of(text)) for text in pair) for pair in texts], dtype=np.int64)
