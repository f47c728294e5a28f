"""Hints of error messages about an unknown name: the closest name, and all of them."""

from collections.abc import Iterable

from features.core.hints import did_you_mean


def near(name: object, names: Iterable[str]) -> str:
    """Return a clause that names the alternatives to an unknown name.

    >>> near("smtch", ["smatch", "wlk"])
    "did you mean 'smatch'? There are smatch, wlk"
    """
    return did_you_mean(str(name), names, f"there are {', '.join(names)}")
