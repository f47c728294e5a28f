"""A pair of sentences and their graphs in one sentence: what is the same and what differs, in their own words.

The boy did not eat three apples.     Same frames, roles and quantities; only a negates "eat" ("not").
The boy ate three apples.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from features.core.wording import counted
from features.metrics.explanation.anchors import joined, listed, name_text, quoted
from features.metrics.explanation.comparing import MIRRORS, REMARKS, ComparedGraphs, Difference
from features.metrics.explanation.differences import differences
from features.metrics.explanation.pair import GraphPair

SAME_TEXT = "Both are the same sentence."
SAME_WORDS = "Both have the same words in the same order."
SAME_GRAPH = "The parser sees no difference: both have the same graph"

_TITLES: Mapping[str, str] = {
    "frames": "frames",
    "concepts": "concepts",
    "srl": "roles",
    "named_entities": "names",
    "quantifiers": "quantities",
    "negations": "negations",
}
"""Facets reported as the same if both graphs have items that they read, and all of them match."""
_CONTRADICTS: Mapping[str, frozenset[str]] = {
    **{aspect: frozenset({_TITLES[facet]}) for aspect, facet in MIRRORS.items() if facet in _TITLES},
    "word": frozenset({"frames", "concepts"}),
    "order": frozenset({"roles", "quantities"}),  # "three red cars and blue cars", "red cars and three blue cars"
}
"""Aspect → what a difference of it shows not to be the same, though the graphs agree in it."""
_ALIKE = 0.5  # a similarity that sentences on different matters rarely have
_MOST = 3  # differences in the sentence


@dataclass(frozen=True, slots=True)
class Words:
    """Two sentences in words."""

    sentence: str  # everything in words; of many differences, the most telling ones and how many more there are
    differences: tuple[Difference, ...]  # the most telling first; empty if neither sentences nor graphs differ


def describe(pair: GraphPair, sentences: tuple[str, str], similarity: float | None = None) -> Words:
    """Describe what is the same in two sentences, given their graphs, and what differs.

    Args:
        pair: the graphs.
        sentences: the sentences.
        similarity: cosine of their embeddings; None without an encoder.
    """
    both = ComparedGraphs(pair, sentences)
    told = differences(both)
    aspects = [difference.aspect for difference in told]
    if not told:
        return Words(_unchanged(both, sentences), ())
    words = _in_common(both)
    if "unrelated" in aspects:
        few = f"They share little but {words}" if words else "They share no content word"
        alike = f", but the encoder finds them alike ({similarity:.2f})" if (similarity or 0) >= _ALIKE else ""
        return Words(f"{few}{alike}; {told[0].text}.", told)
    more = len(told) - _MOST
    parts = [*(each.text for each in told[:_MOST]), *([counted(more, "more difference")] if more > 0 else [])]
    same = _same(both, frozenset(aspects))
    opening = f"Same {listed(same)}" if same else f"Both have {words}" if words else "No content word in common"
    if not both.differ:
        opening = SAME_GRAPH + (", though the sentences differ" if not REMARKS.issuperset(aspects) else "")
    if both.texts.equal and sentences[0] != sentences[1]:
        opening = _unchanged(both, sentences).removesuffix(".")
    return Words("; ".join([opening, *parts]) + ".", told)


def _unchanged(both: ComparedGraphs, sentences: tuple[str, str]) -> str:
    """Return what is the same in sentences without a difference in their words."""
    if sentences[0] == sentences[1]:
        return SAME_TEXT
    if not both.texts.equal:
        return f"{SAME_GRAPH}."
    letters, signs = ([re.sub(drop, "", text) for text in both.texts.sentences] for drop in (r"\W", r"[\w\s]"))
    if letters[0].lower() != letters[1].lower():
        return SAME_WORDS  # a contraction
    other = ["capitals"] * (letters[0] != letters[1]) + ["punctuation"] * (signs[0] != signs[1])
    return f"{SAME_WORDS.removesuffix('.')}, with other {joined(other)}." if other else SAME_WORDS


def _same(both: ComparedGraphs, aspects: frozenset[str]) -> list[str]:
    """Return what is the same in plain words, "frames" or "roles" for instance."""
    shared = [title for name, title in _TITLES.items() if both.shares_all(name)]
    contradicted = {title for aspect in aspects for title in _CONTRADICTS.get(aspect, ())}
    names = [{name_text(view, at).replace(".", "").lower() for at in range(len(view.labels))} for view in both.views]
    contradicted |= {"names"} if names[0] != names[1] else set()  # facets compare kinds of names
    units = [{view.labels[target] for _, role, target in view.forward if role == "unit"} for view in both.views]
    contradicted |= {"quantities"} if all(units) and units[0] != units[1] else set()
    added = [{token.kind for part in chunk for token in part} for chunk in both.texts.chunks if not all(chunk)]
    contradicted |= {"frames", "concepts"} if any({"word", "name"} <= kinds for kinds in added) else set()
    contradicted |= {"concepts"} if "frames" in shared else set()
    return [title for title in shared if title not in contradicted]


def _in_common(both: ComparedGraphs) -> str:
    """Return the words with content that both sentences have, as a list."""
    tokens = [token for token in both.texts.tokens[0] if token.has_content and token.stem in both.texts.shared]
    theirs = {token.lower for token in both.texts.tokens[1]}  # not "$3" beside "3 percent", "he" beside "his"
    tokens = [t for t in tokens if t.lower in theirs or not (t.kind == "pronoun" or t.text[0] in "$€£")]
    first = {token.stem: token for token in reversed(tokens)}
    return listed(quoted(token.text) for token in tokens if first[token.stem] is token)
