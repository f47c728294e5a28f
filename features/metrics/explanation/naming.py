"""Proper names in a graph, what frames say of a person or thing, and words as lists in a sentence."""

from collections.abc import Iterable, Sequence

from features.metrics.explanation.views import View
from features.metrics.readings import is_argument

ROLE_FRAMES = frozenset({"have-org-role-91", "have-rel-role-91"})
"""Frames whose `:ARG2` is what a person is to an organisation or to another person."""

_DESCRIBED = frozenset({"person", "thing"})
_MOST = 4  # entries of a list; more would hide what matters


def name_text(view: View, node: int) -> str:
    """Return the name of a node, its `:op1`, `:op2`, … joined; empty when it has none."""
    holders = [relation.target for relation in view.forward if relation.source == node and relation.role == "name"]
    parts = [
        (int(number), value)
        for at, role, value in view.graph.attributes
        if at in holders and (number := role.lower().removeprefix("op")).isdigit()
    ]
    values = [value for _, value in sorted(parts, key=lambda part: part[0])]
    values = values or [value for at, role, value in view.graph.attributes if at == node and role.lower() == "name"]
    return " ".join(value.replace('"', "") for value in values)


def descriptions(view: View) -> list[tuple[int, int]]:
    """Return (node, frame) where the frame says what the node is, as in `(p / person :ARG0-of (t / teach-01))`."""
    return [
        (source, target)
        for source, role, target in view.graph.relations
        if role.lower().endswith("-of") and is_argument(role.lower())
    ]


def described_by(view: View, frame: int) -> int:
    """Return the person or thing named by a frame; the frame itself if there is none."""
    found = (above for above, below in descriptions(view) if below == frame and view.labels[above] in _DESCRIBED)
    node = next(found, frame)
    return node if not name_text(view, node) else frame


def quoted(word: str) -> str:
    """Return a word in quotes."""
    return f'"{word}"'


def joined(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    >>> joined(["x", "y", "z"])
    'x, y and z'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def listed(words: Iterable[str]) -> str:
    """Return the distinct words as a list in a sentence; of many, only the first few.

    >>> listed("abcdefa")
    'a, b, c, d and 2 more'
    """
    distinct = list(dict.fromkeys(words))
    more = len(distinct) - _MOST
    return joined([*distinct[:_MOST], f"{more} more"]) if more > 0 else joined(distinct)


def capped(texts: Sequence[str], most: int = _MOST) -> str:
    """Return parts of a sentence joined by commas; of many, only the first few."""
    more = len(texts) - most
    return ", ".join([*texts[:most], f"{more} more of the kind"] if more > 0 else texts)
