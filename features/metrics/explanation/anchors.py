"""Which word of the sentence each node of its graph stands for, read off the spelling of both.

The student bought two red cars.    student <- (p / person :ARG0-of (s / study-01))    bought <- buy-01    two <- 2
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from typing import NamedTuple

from features.graphs.graph import AmrGraph
from features.metrics.explanation.tokens import MONTHS, ORDINALS, Token, stem_of, value_of
from features.metrics.overlap import QUANTIFIERS, normalise_quantity
from features.metrics.readings import SENSE, comparable, forward, is_argument, is_inverted

ROLE_FRAMES = frozenset({"have-org-role-91", "have-rel-role-91"})
"""Frames whose `:ARG2` is what a person is to an organisation or to another person."""

_DESCRIBED = frozenset({"person", "thing"})
_MOST = 4  # entries of a list; more would hide what matters


class Relation(NamedTuple):
    """A relation with an inverse role inverted back; the role is in lower case."""

    source: int
    role: str
    target: int


@dataclass(frozen=True)
class View:
    """A graph and what is read from it."""

    graph: AmrGraph

    @cached_property
    def labels(self) -> list[str]:
        """Each node's concept as facets compare it."""
        return [comparable(concept) for concept in self.graph.concepts]

    @cached_property
    def forward(self) -> list[Relation]:
        """The relations with every inverse role inverted back; `mod` and `domain` stay."""
        return [
            Relation(target, forward(role).lower(), source)
            if is_inverted(role)
            else Relation(source, role.lower(), target)
            for source, role, target in self.graph.relations
        ]

    @cached_property
    def parents(self) -> dict[int, int]:
        """Each node's first parent as the graph is written; the root has none."""
        return {target: source for source, _, target in reversed(self.graph.relations)}


def name_text(view: View, node: int) -> str:
    """Return the name of a node, its `:op1`, `:op2`, … joined as written; empty when it has none."""
    holders = [relation.target for relation in view.forward if relation.source == node and relation.role == "name"]
    values = [value for at, role, value in view.graph.attributes if at in holders and role.lower().startswith("op")]
    values = values or [value for at, role, value in view.graph.attributes if at == node and role.lower() == "name"]
    return " ".join(value.replace('"', "") for value in values)


def descriptions(view: View) -> list[tuple[int, int]]:
    """Return (node, frame) where the frame says what the node is, as in `(p / person :ARG0-of (t / teach-01))`."""
    inverted = [
        (source, target)
        for source, role, target in view.graph.relations
        if role.lower().endswith("-of") and is_argument(role.lower())
    ]
    return inverted + [
        (relation.target, relation.source)
        for relation in view.forward
        if relation.role == "arg0" and view.labels[relation.source] in ROLE_FRAMES
    ]


def described_by(view: View, frame: int) -> int:
    """Return the person or thing named by a frame; the frame itself if there is none."""
    nodes = (above for above, below in descriptions(view) if below == frame and view.labels[above] in _DESCRIBED)
    node = next(nodes, frame)
    return node if not name_text(view, node) else frame


def quoted(word: str) -> str:
    """Return a word in quotes, without those that it has."""
    return '"' + " ".join(word.replace('"', "").split()) + '"'


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


_MONTHS = {str(month): {name.lower(), name[:3].lower()} for month, name in enumerate(MONTHS.split("|"), 1)}
_WORDS: Mapping[str, frozenset[str]] = {
    "person": frozenset({"people"}),
    "possible-01": frozenset({"can", "could", "may", "might", "possible", "perhaps", "maybe", "possibly"}),
    "obligate-01": frozenset({"must", "need", "have", "should", "ought"}),
    "recommend-01": frozenset({"should", "ought"}),
    "permit-01": frozenset({"may", "can", "allow"}),
    "capable-01": frozenset({"can", "able", "could"}),
    "cause-01": frozenset({"because", "so", "therefore"}),
    **dict.fromkeys(("good", "well"), frozenset({"better", "best"})),
    "bad": frozenset({"worse", "worst"}),
    "less": frozenset({"fewer"}),
    "contrast-01": frozenset({"but", "however"}),
    "have-concession-91": frozenset({"although", "though", "despite"}),
    "have-condition-91": frozenset({"if", "unless"}),
}
"""Concepts that are spelt in other ways than their words."""


def anchors(view: View, tokens: Sequence[Token]) -> dict[int, Token]:
    """Return node → the word that it stands for, for nodes where the spelling shows it."""
    words: dict[int, Token] = {}
    free = [token for token in tokens if token.lower != "of"]  # of "University of Oslo", it stands for none
    for matches in (_is_spelt, _begins_alike):
        for node, label in enumerate(view.labels):
            if node not in words and label != "name" and (parts := _parts(view, node)):
                token = next((token for token in free if matches(token, parts, label)), None)
                if token is not None:
                    words[node] = token
                    free.remove(token)
    # "student" is spelt otherwise than the frame that it is from; "passed", in "student who passed", is not.
    for node, frame in sorted(descriptions(view), key=lambda pair: _names(view, pair[1], words)):
        if node not in words and view.labels[node] in {"person", "thing", "government-organization"}:
            filler = next((r.target for r in view.forward if r.source == frame and r.role == "arg2"), frame)
            anchor = filler if view.labels[frame] in ROLE_FRAMES else frame
            if anchor in words:
                words[node] = words[anchor]
    return words


def _names(view: View, frame: int, words: Mapping[int, Token]) -> bool:
    return frame in words and words[frame].stem == stem_of(SENSE.sub("", view.labels[frame]))


def unread(view: View, tokens: Sequence[Token], found: Mapping[int, Token]) -> list[Token]:
    """Return the words with content that have no node and no constant; none where a node has no word yet."""
    constants = {value.replace('"', "").lower() for _, _, value in view.graph.attributes}
    stems = constants | set(map(stem_of, constants)) | set(map(normalise_quantity, constants))
    stems |= {token.stem for token in found.values()}
    stems |= {stem_of(part) for label in view.labels if label != "name" for part in SENSE.sub("", label).split("-")}
    dates = [value for _, role, value in view.graph.attributes if role.lower() == "month"]
    stems |= {name for month in dates for name in _MONTHS.get(month, ())}
    stems |= {word for digits, word in ORDINALS.items() if digits[:-2] in constants}
    stems |= {"half"} if constants & {"1/2", "0.5"} else set()
    numbers = [token for token in tokens if token.kind == "quantity" and token.stem[:1].isdigit()]
    read = numbers if set(value_of(numbers)) <= stems else []  # "four thousand" as one constant
    lost = [token for token in tokens if token.has_content and token not in read and not _has(stems, token)]
    if any(node not in found and _is_lexical(label) for node, label in enumerate(view.labels)):
        lost = [token for token in lost if token.kind in {"pronoun", "quantity"}]
    entered = Counter(relation.target for relation in view.forward)
    resolved = any(count > 1 for count in entered.values())  # a pronoun may stand for a node of another word
    lost = [token for token in lost if token.stem.removeprefix("a-") not in QUANTIFIERS]
    return [token for token in lost if token.kind != "pronoun" or (token.stem != "it" and not resolved)]


def _is_lexical(label: str) -> bool:
    return not label.endswith(("-91", "-entity", "-quantity", "-organization")) and label not in {
        "name", "person", "thing", "and", "or", "amr-unknown", "more", "most", "multi-sentence",
        "possible-01", "obligate-01", "cause-01",
    }  # fmt: skip


def _parts(view: View, node: int) -> list[str]:
    name = name_text(view, node)
    return name.lower().split() if name else SENSE.sub("", view.labels[node]).split("-")


def _is_spelt(token: Token, parts: Sequence[str], label: str) -> bool:
    return (
        token.lower in parts
        or token.stem in {stem_of(part) for part in parts}
        or not {token.stem, token.lower}.isdisjoint(_WORDS.get(label, _WORDS.get(parts[0], ())))
    )


def _begins_alike(token: Token, parts: Sequence[str], label: str) -> bool:  # noqa: ARG001 (as `_is_spelt`)
    word = token.lower
    for part in parts:
        common = len(commonprefix([word, part]))  # noqa: RUF071 - no paths
        if token.has_content and common >= max(3, 0.6 * len(part)) and (common >= 4 or common >= 0.5 * len(word)):
            return True
        if len(part) > 4 and word.endswith(part):  # possible-01 :polarity - for "impossible"
            return True
    return False


def _has(stems: set[str], token: Token) -> bool:
    numbered = token.stem.rstrip("dhnrst") if token.stem[:1].isdigit() else token.lower  # the 21st, the 1990s
    is_date = token.stem.count("-") == 2 and stems.issuperset(part.lstrip("0") for part in token.stem.split("-"))
    return is_date or not stems.isdisjoint({token.stem, token.lower, numbered, *token.lower.split("-")})
