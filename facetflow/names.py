"""Hints of error messages about an unknown name: the closest known name, and all of them."""

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """Return a clause that names the known alternatives to an unknown name.

    >>> near("smtch", ["smatch", "wlk"])
    "did you mean 'smatch'? There are smatch, wlk"
    """
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    meant = f"did you mean {close[0]!r}? There are" if close else "there are"
    return f"{meant} {', '.join(names)}"
