"""String similarity of a word and the label of a node."""

from features.parsers.embedded.nodes import is_concept, split_sense

CONFIDENT = 0.6
"""Similarity from which spelling alone decides."""
CERTAIN = 0.95

FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "to",
        "of",
        "in",
        "on",
        "at",
        "by",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "it",
        "its",
        "his",
        "her",
        "their",
        "our",
        "your",
        "my",
        "this",
        "that",
        "as",
        "with",
        "for",
        "from",
        "'s",
        "and",
        "or",
        "than",
        ",",
        ".",
        ";",
        ":",
        '"',
        "'",
        "(",
        ")",
        "-",
        "--",
        "?",
        "!",
        "`",
        "/",
        "he",
        "she",
        "they",
        "we",
        "i",
        "you",
        "who",
        "whose",
        "which",
        "what",
        "s",
        "t",
    ]
)
"""Words that rarely carry a concept with another spelling."""

_ABSTRACT = ("-91", "-entity", "-quantity")


def likeness(word: str, label: str) -> float:
    """Return how similar a word looks to a label.

    Args:
        word: in lower case.
        label: of a node.

    Returns:
        In [0, 1]: 1 for the lemma itself; 0 for constants, names, and abstract concepts, which no word spells.

    >>> likeness("boys", "boy") >= CONFIDENT, likeness("sees", "boy")
    (True, 0.0)
    """
    if not is_concept(label) or label.endswith(_ABSTRACT):
        return 0.0
    lemma, _ = split_sense(label)
    if word == lemma:
        return 1.0
    parts = lemma.split("-")
    return max(
        _of_part(word, part, first=number == 0) * (1.0 if number == 0 else 0.9) for number, part in enumerate(parts)
    )


def _of_part(word: str, part: str, *, first: bool) -> float:
    if word == part:
        return CERTAIN if len(part) > 2 or first else 0.5
    common = 0
    for left, right in zip(word, part, strict=False):  # up to the shorter one
        if left != right:
            break
        common += 1
    if common < 3:
        return 0.0
    long_enough = common >= len(part) - 2 or common >= 0.6 * len(word)
    score = 0.98 * common / max(len(part), len(word)) if long_enough else 0.0
    return max(score, CONFIDENT) if common >= len(part) - 1 else score
