"""A pair of graphs in one sentence: what is the same and what differs, in the words of the graphs.

    The boy did not eat three apples.     Same frames, roles and quantities; only a negates "eat".
    The boy ate three apples.

It is read off the two graphs alone: what AMR leaves out (tense, number, articles), it leaves out, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from features.metrics.explanation.comparing import ComparedGraphs
from features.metrics.explanation.differences import Difference, differences
from features.metrics.explanation.naming import called, described_by, listed, plain, quoted
from features.metrics.explanation.pair import GraphPair
from features.metrics.readings import comparable

SAME_GRAPH = "Both have the same graph: nothing that it expresses differs."

_TITLES: Mapping[str, str] = {
    "frames": "frames",
    "concepts": "concepts",
    "srl": "roles",
    "named_entities": "names",
    "quantifiers": "quantities",
    "negations": "negations",
}
"""Facets reported as the same if both graphs have items that they read, and all of them match."""
_CONTRADICTS: Mapping[str, str] = {"role": "roles", "name": "names"}
"""A difference that a facet need not see: names of one kind, roles of constants."""
_ROLES: Mapping[str, frozenset[str]] = {
    "quantifiers": frozenset({"quant", "mod", "domain"}),
    "negations": frozenset({"polarity"}),
}
"""Facets that count items regardless of their position → the roles by which these are attached to a node.

For the metric, the quantities of "3 boys and 2 girls" equal those of "2 boys and 3 girls"; for a reader they do not.
"""
_UNTOLD = frozenset({"name", "person", "thing", "and", "amr unknown"})
"""Words that say nothing of what a graph is about, unless it has no others."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is the same in two graphs, and what differs.

    Args:
        sentence: everything in one sentence.
        same: in plain words, "frames" or "roles" for instance; empty if nothing is the same.
        differences: the most telling first; empty for equal graphs.
    """

    sentence: str
    same: tuple[str, ...]
    differences: tuple[Difference, ...]


def describe(pair: GraphPair) -> Words:
    """Describe what is the same in two graphs and what differs."""
    both = ComparedGraphs(pair)
    shared = tuple(title for name, title in _TITLES.items() if both.shares_all(name))
    if "frames" in shared:
        shared = tuple(title for title in shared if title != "concepts")
    if both.shares_all("smatch"):
        return Words(SAME_GRAPH, shared, ())
    found = differences(both)
    contradicted = {_CONTRADICTS.get(difference.aspect) for difference in found}
    contradicted |= {_TITLES[name] for name, roles in _ROLES.items() if both.hangs_elsewhere(name, roles)}
    same = tuple(title for title in shared if title not in contradicted)
    opening = f"Same {listed(same)}" if same else _in_common(both)
    return Words("; ".join([opening, *(difference.text for difference in found)]) + ".", same, found)


def _in_common(both: ComparedGraphs) -> str:
    """Return what both graphs have under the same name; without anything of the kind, the concepts of both."""
    shared = set(both.views[0].labels) & set(both.views[1].labels)
    ours, theirs = (
        {
            comparable(word): quoted(word)
            for node, label in enumerate(view.labels)
            if label in shared and (word := called(view, described_by(view, node))) not in _UNTOLD
        }
        for view in both.views
    )
    if words := [word for key, word in ours.items() if key in theirs]:
        return f"Both have {listed(words)}"
    common = [label for label in dict.fromkeys(both.views[0].labels) if label in shared]
    # That both graphs have a name says something only where they have nothing else in common.
    concepts = [quoted(plain(label)) for label in common if label != "name" or len(common) == 1]
    if not concepts:
        return "No concept in common"
    return f"Only the concept{'s' if concepts[1:] else ''} {listed(concepts)} in common"
