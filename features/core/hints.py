"""Hints at the name that a user may have meant."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], then: str) -> str:
    """Return the end of a message about an unknown name: the known name closest to it, if one is close, then `then`.

    >>> did_you_mean("tran", ["train", "dev"], "use train or dev")
    "did you mean 'train'? Use train or dev"
    >>> did_you_mean("other", ["train", "dev"], "use train or dev")
    'use train or dev'
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? {then[:1].upper()}{then[1:]}" if close else then
