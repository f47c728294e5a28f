"""Two graphs side by side, with the questions that describing their differences takes."""

from collections import Counter, defaultdict
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

from features.metrics.explanation.naming import called, name_text, plain, quoted
from features.metrics.explanation.pair import FacetMatch, GraphPair
from features.metrics.explanation.views import View
from features.metrics.relations import is_argument


class Link(NamedTuple):
    """A relation as seen from one of its nodes.

    Args:
        other: the node at its other end.
        role: the role in lower case; inverse roles are inverted back.
        outgoing: whether it leads to the other node.
    """

    other: int
    role: str
    outgoing: bool


class ComparedGraphs:
    """Both graphs of a pair with what matches.

    Args:
        pair: the graphs, explained.
    """

    def __init__(self, pair: GraphPair) -> None:
        self.views = View(pair.left), View(pair.right)
        self.facets = {facet.name: facet for facet in pair.facets}
        self.image = dict(pair.alignment)

    def shares_all(self, name: str) -> bool:
        """Return whether both graphs have items that a facet reads, and all of them match."""
        facet = self.facets[name]
        return bool(facet.left) and facet.matched == len(facet.left) == len(facet.right)

    def differ_in(self, name: str) -> bool:
        """Return whether a facet sees a difference."""
        return _differs(self.facets[name])

    def facet(self, *names: str) -> str:
        """Return the first of some facets that sees a difference, else Smatch, which sees them all."""
        return next((name for name in names if self.differ_in(name)), "smatch")

    def unmatched(self, name: str, kind: str = "node") -> tuple[list[int], list[int]]:
        """Return the positions of unmatched items in a facet, on each side."""
        facet = self.facets[name]
        sides = (facet.left, facet.right)
        left, right = ([item.index for item in side if item.kind == kind and not item.matched] for side in sides)
        return left, right

    def called(self, side: int, node: int) -> str:
        """Return the name of a node, in quotes."""
        return quoted(called(self.views[side], node))

    def quantity(self, side: int, node: int) -> str:
        """Return a quantity in words, with the numbers below it that the other graph has, too: `more than 10`."""
        view, unmatched = self.views[side], self.unmatched("quantifiers", "attribute")[side]
        numbers = [
            plain(value)
            for index, (of, role, value) in enumerate(view.graph.attributes)
            if of == node and role.lower().startswith("op") and index not in unmatched
        ]
        return " ".join([plain(view.graph.concepts[node]), *numbers])

    def words(self, side: int) -> list[str]:
        """Return the name of each node, in quotes."""
        return [self.called(side, node) for node in range(len(self.views[side].labels))]

    def hangs_elsewhere(self, name: str, roles: Collection[str]) -> bool:
        """Return whether something that a facet counts is attached to a different node in the other graph.

        Args:
            name: name of a facet that counts labels regardless of their position.
            roles: the roles by which they are attached to a node, in lower case.
        """
        facet = self.facets[name]
        constants, relations = self.unmatched("smatch", "attribute"), self.unmatched("smatch", "relation")
        for side, items in enumerate((facet.left, facet.right)):
            view, nodes = self.views[side], {item.index for item in items if item.kind == "node"}
            apart = (view.forward[index] for index in relations[side])
            if any(found.role in roles and nodes & {found.source, found.target} for found in apart):
                return True
            counted = {item.index for item in items if item.kind == "attribute"}
            for index in constants[side]:
                node, role, _ = view.graph.attributes[index]
                if role.lower() in roles and (index in counted or node in nodes):
                    return True
        return False

    @cached_property
    def named(self) -> tuple[dict[int, str], dict[int, str]]:
        """Nodes with a name → the name, on each side."""
        left, right = (
            {node: name for node in range(len(view.labels)) if (name := name_text(view, node))} for view in self.views
        )
        return left, right

    def partner(self, side: int, node: int) -> int | None:
        """Return the counterpart of a node in the other graph.

        It is the node it is aligned with; else the one with the same concept, if both graphs have that concept once.
        """
        image = self.image if side == 0 else {right: left for left, right in self.image.items()}
        if node in image:
            return image[node]
        label = self.views[side].labels[node]
        others = self.views[1 - side].labels
        if self.views[side].labels.count(label) == others.count(label) == 1:
            return others.index(label)
        return None

    def same_frames(self) -> list[tuple[int, int]]:
        """Return frames of the first graph that have a partner of the same concept in the second."""
        views = self.views
        return [
            (node, other)
            for node, label in enumerate(views[0].labels)
            if self.arguments(0, node)
            and (other := self.partner(0, node)) is not None
            and views[1].labels[other] == label
        ]

    def arguments(self, side: int, node: int) -> dict[str, frozenset[str]]:
        """Return names of the fillers of a frame → their roles, as `ARG0`."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for relation in self.views[side].forward:
            if relation.source == node and is_argument(relation.role):
                found[called(self.views[side], relation.target)].add(relation.role.upper())
        return {name: frozenset(roles) for name, roles in found.items()}

    def links(self, side: int, node: int, *, written_above: bool = False) -> Counter[Link]:
        """Return the links of a node, and how often each occurs.

        Args:
            side: 0 or 1.
            node: the node in that graph.
            written_above: only relations that the node is written below. Those written below the node itself describe
                it: "the boy who sleeps", `(b / boy :ARG0-of (s / sleep-01))`, is in one place.
        """
        view = self.views[side]
        found: Counter[Link] = Counter()
        for source, role, target, place in view.forward:
            if node in (source, target) and not (written_above and view.graph.relations[place.index][2] != node):
                found[Link(target if source == node else source, role, outgoing=source == node)] += 1
        return found


def _differs(facet: FacetMatch) -> bool:
    if facet.score is None:
        return any(not item.matched for item in (*facet.left, *facet.right))
    return facet.score < 1
