"""Which word of the sentence each node of its graph stands for, read off the spelling of both.

The student bought two red cars.    student <- (p / person :ARG0-of (s / study-01))    bought <- buy-01    two <- 2
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from features.metrics.explanation.naming import ROLE_FRAMES, descriptions, name_text
from features.metrics.explanation.tokens import Token, stem_of, value_of
from features.metrics.explanation.views import View
from features.metrics.overlap import QUANTIFIERS, normalise_quantity
from features.metrics.readings import SENSE

_WORDS: Mapping[str, frozenset[str]] = {
    "person": frozenset({"people"}),
    "possible-01": frozenset({"can", "could", "may", "might", "possible", "perhaps", "maybe", "possibly"}),
    "obligate-01": frozenset({"must", "need", "have", "should", "ought"}),
    "recommend-01": frozenset({"should", "ought"}),
    "permit-01": frozenset({"may", "can", "allow"}),
    "capable-01": frozenset({"can", "able", "could"}),
    "cause-01": frozenset({"because", "so", "therefore"}),
    "contrast-01": frozenset({"but", "however"}),
    "have-concession-91": frozenset({"although", "though", "despite"}),
    "have-condition-91": frozenset({"if", "unless"}),
}
"""Concepts that are spelt in other ways than their words."""


def anchors(view: View, tokens: Sequence[Token]) -> dict[int, Token]:
    """Return node → the word that it stands for, for nodes where the spelling shows it."""
    found: dict[int, Token] = {}
    free = list(tokens)
    for matches in (_is_spelt, _begins_alike):
        for node, label in enumerate(view.labels):
            if node not in found and label != "name" and (parts := _parts(view, node)):
                token = next((token for token in free if matches(token, parts, label)), None)
                if token is not None:
                    found[node] = token
                    free.remove(token)
    for node, frame in descriptions(view):
        if node not in found and view.labels[node] in {"person", "thing", "government-organization"}:
            filler = next((r.target for r in view.forward if r.source == frame and r.role == "arg2"), frame)
            anchor = filler if view.labels[frame] in ROLE_FRAMES else frame
            if anchor in found:
                found[node] = found[anchor]
    return found


def unread(view: View, tokens: Sequence[Token], found: Mapping[int, Token]) -> list[Token]:
    """Return the words with content that have no node and no constant; none where a node has no word yet."""
    stems = {token.stem for token in found.values()} | _constants(view)
    numbers = [token for token in tokens if token.kind == "quantity" and token.stem.isdigit()]
    read = numbers if set(value_of(numbers)) <= stems else []  # "four thousand" as one constant
    lost = [token for token in tokens if token.has_content and token not in read and not _has(stems, token)]
    if any(node not in found and _is_lexical(label) for node, label in enumerate(view.labels)):
        lost = [token for token in lost if token.kind in {"pronoun", "quantity"}]
    entered = Counter(relation.target for relation in view.forward)
    resolved = any(count > 1 for count in entered.values())  # a pronoun may stand for a node of another word
    lost = [token for token in lost if token.stem not in QUANTIFIERS]
    return [token for token in lost if token.kind != "pronoun" or (token.stem != "it" and not resolved)]


def _is_lexical(label: str) -> bool:
    return not label.endswith(("-91", "-entity", "-quantity", "-organization")) and label not in {
        "name", "person", "thing", "and", "or", "amr-unknown", "country", "city", "more", "most", "multi-sentence",
        "possible-01", "obligate-01", "cause-01", "monetary-quantity", "include-91",
    }  # fmt: skip


def _parts(view: View, node: int) -> list[str]:
    name = name_text(view, node)
    return name.lower().split() if name else SENSE.sub("", view.labels[node]).split("-")


def _is_spelt(token: Token, parts: Sequence[str], label: str) -> bool:
    return (
        token.lower in parts
        or token.stem in {stem_of(part) for part in parts}
        or token.lower == "-".join(parts)
        or not {token.stem, token.lower}.isdisjoint(_WORDS.get(label, ()))
    )


def _begins_alike(token: Token, parts: Sequence[str], label: str) -> bool:  # noqa: ARG001 (as `_is_spelt`)
    word = token.lower
    for part in parts:
        common = next(
            (n for n, (x, y) in enumerate(zip(word, part, strict=False)) if x != y), min(len(word), len(part))
        )
        if token.has_content and common >= max(3, 0.6 * len(part)) and (common >= 4 or common >= 0.5 * len(word)):
            return True
        if len(part) > 4 and word.endswith(part):  # possible-01 :polarity - for "impossible"
            return True
    return False


def _constants(view: View) -> set[str]:
    values = [value.replace('"', "").lower() for _, _, value in view.graph.attributes]
    return {stem_of(value) for value in values} | {normalise_quantity(value) for value in values} | set(values)


def _has(stems: set[str], token: Token) -> bool:
    return token.stem in stems or token.lower in stems or any(part in stems for part in token.lower.split("-"))
