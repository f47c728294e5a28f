"""Edit scripts: how a word becomes its lemma, so that lemmas unseen in training can be produced.

studied → study   drop 3, add "y"   ~3y         boys → boy   ~1
"""

_MARK = "~"
MOST_DROPPED = 9


def script_between(word: str, lemma: str) -> str | None:
    """Return the script that turns the word into the lemma; None if more than nine characters have to be dropped.

    >>> script_between("studied", "study")
    '~3y'
    """
    common = 0
    for left, right in zip(word, lemma, strict=False):  # up to the shorter one
        if left != right:
            break
        common += 1
    dropped = len(word) - common
    return f"{_MARK}{dropped}{lemma[common:]}" if dropped <= MOST_DROPPED else None


def is_script(label: str) -> bool:
    """Return whether the label is an edit script."""
    return label.startswith(_MARK)


def dropped(script: str) -> int:
    """Return how many characters the script drops."""
    return int(script[1])


def apply_script(script: str, word: str) -> str:
    """Return the lemma that the script makes from the word.

    >>> apply_script("~3y", "carried")
    'carry'
    """
    return word[: max(0, len(word) - dropped(script))] + script[2:]
