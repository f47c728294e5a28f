"""The name of a node in plain words: its proper name if it has one, else its concept without the sense.

(p / person :name (n / name :op1 "Nina"))                          Nina
(p / person :ARG0-of (h / have-org-role-91 :ARG2 (m / minister)))  minister
(p / person :ARG0-of (t / teach-01))                               person (teach)
(t / temporal-quantity :quant 3 :unit (h / hour))                  hour
(o / obligate-01 :ARG2 (g / go-02))                                must
(b / boy)                                                          boy
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from features.metrics.explanation.views import View
from features.metrics.relations import SENSE, is_argument

ROLE_FRAMES = frozenset({"have-org-role-91", "have-rel-role-91"})
"""Frames whose `:ARG2` is what a person is to an organisation or to another person."""

MODALS: Mapping[str, str] = {
    "possible-01": "possible",
    "likely-01": "likely",
    "capable-01": "able to",
    "obligate-01": "must",
    "permit-01": "allowed to",
    "recommend-01": "should",
    "prefer-01": "would rather",
}
"""Frames of modal verbs and adverbs (AMR 1.2.6 specification, "Modality"; `capable-01` is that of "able"), in words."""

_KIND = re.compile(r"-entity$")
_DESCRIBED = frozenset({"person", "thing"})
_MOST = 4  # entries of a list; more would hide what matters


def plain(concept: str) -> str:
    """Return a concept as a word: without quotes and sense, with spaces for hyphens.

    >>> plain("take-off-33"), plain('"Nina"'), plain("date-entity"), plain("obligate-01")
    ('take off', 'Nina', 'date', 'must')
    """
    bare = concept.replace('"', "")
    return MODALS.get(bare.lower()) or _KIND.sub("", SENSE.sub("", bare)).replace("-", " ") or concept


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


def called(view: View, node: int) -> str:
    """Return the name of a node for a reader."""
    concept = view.labels[node]
    if concept in ROLE_FRAMES:
        return _filler(view, node, "arg2") or plain(concept)
    if concept.endswith("-quantity"):
        return _filler(view, node, "unit") or plain(concept)
    if concept in _DESCRIBED and not name_text(view, node):
        frame = next((below for above, below in descriptions(view) if above == node), None)
        if frame is not None:
            other = view.labels[frame]
            return (_filler(view, frame, "arg2") if other in ROLE_FRAMES else "") or f"{concept} ({plain(other)})"
    return _word(view, node)


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


def _word(view: View, node: int) -> str:
    return name_text(view, node) or plain(view.graph.concepts[node])


def _filler(view: View, node: int, role: str) -> str:
    return next((_word(view, r.target) for r in view.forward if r.source == node and r.role == role), "")


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
