"""What each facet reads from a graph, in plain Python: the same triples and labels as the engine, with their places.

items of a bag     (label, place)                 concepts, frames, named_entities, negations, quantifiers
triples            nodes, attributes, relations   smatch, unlabeled, coreference, srl
one node           place                          root, max_indegree, max_outdegree, max_degree
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from features.graphs.graph import AmrGraph
from features.metrics.quantifiers import QUANTIFIERS, normalise_quantity
from features.metrics.readings import comparable
from features.metrics.relations import is_argument, is_frame, is_inverted

_TOP = "TOP"

Kind = Literal["node", "attribute", "relation", "root"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a graph: position of a node, attribute or relation; `root` marks a node as the root."""

    kind: Kind
    index: int


class Relation(NamedTuple):
    """A relation as a facet reads it, possibly inverted."""

    source: int
    role: str
    target: int
    place: Place


class Attribute(NamedTuple):
    """A constant of a node, or the mark of the root, as a facet reads it."""

    node: int
    role: str
    value: str
    place: Place


@dataclass(frozen=True, slots=True)
class Triples:
    """What an aligned facet reads."""

    nodes: tuple[int, ...]  # nodes whose instances count, ascending
    attributes: tuple[Attribute, ...]  # attributes, including the mark of the root
    relations: tuple[Relation, ...]  # relations between nodes

    def __len__(self) -> int:
        return len(self.nodes) + len(self.attributes) + len(self.relations)


BagItem = tuple[str, Place]


@dataclass(frozen=True)
class View:
    """A graph and what facets read from it."""

    graph: AmrGraph

    @cached_property
    def labels(self) -> list[str]:
        """Each node's concept as facets compare it."""
        return [comparable(concept) for concept in self.graph.concepts]

    @cached_property
    def forward(self) -> list[Relation]:
        """The relations with every inverse role inverted back; `mod` and `domain` stay."""
        found = []
        for index, (source, role, target) in enumerate(self.graph.relations):
            place = Place("relation", index)
            ends = (target, source) if is_inverted(role) else (source, target)
            found.append(Relation(ends[0], _forward(role).lower(), ends[1], place))
        return found

    @cached_property
    def distances(self) -> list[float]:
        """Steps from the root to each node, along relations in either direction."""
        around: dict[int, set[int]] = {}
        for source, _, target, _ in self.forward:
            around.setdefault(source, set()).add(target)
            around.setdefault(target, set()).add(source)
        distances = [float("inf")] * len(self.labels)
        distances[0] = 0
        queue = deque([0])
        while queue:
            node = queue.popleft()
            for other in around.get(node, ()):
                if distances[other] == float("inf"):
                    distances[other] = distances[node] + 1
                    queue.append(other)
        return distances

    def near(self, node: int) -> tuple[float, str]:
        """Return the tie-breaker of a node: its distance from the root, then its label."""
        return self.distances[node], self.labels[node]


def _forward(role: str) -> str:
    return role.removesuffix("-of") if is_inverted(role) else role


def _all_triples(view: View, *, labelled: bool) -> Triples:
    def named(role: str) -> str:
        if not labelled:
            return ""
        return ("domain" if role == "mod" else _forward(role)).lower().rstrip("_")

    attributes = [Attribute(0, _TOP, "", Place("root", 0))]
    for index, (node, role, value) in enumerate(view.graph.attributes):
        if not (is_inverted(role) or role == "mod"):
            first = (value.split() or [value])[0]
            attributes.append(Attribute(node, named(role), comparable(first), Place("attribute", index)))
    relations = []
    for index, (source, role, target) in enumerate(view.graph.relations):
        ends = (target, source) if is_inverted(role) or role == "mod" else (source, target)
        relations.append(Relation(ends[0], named(role), ends[1], Place("relation", index)))
    return Triples(tuple(range(len(view.labels))), tuple(attributes), tuple(relations))


def _part(view: View, relations: list[Relation], attributes: list[Attribute]) -> Triples:
    """Return some relations and attributes with the instances they touch and the root of this part."""
    touched = {relation.source for relation in relations} | {relation.target for relation in relations}
    touched |= {attribute.node for attribute in attributes}
    starts = {relation.source for relation in relations} | {attribute.node for attribute in attributes}
    nearest = min((view.near(node) for node in starts), default=None)
    roots = [node for node in sorted(starts) if view.near(node) == nearest]
    marks = [Attribute(node, _TOP, view.labels[node], Place("root", node)) for node in roots]
    return Triples(tuple(sorted(touched)), (*marks, *attributes), tuple(relations))


def _coreference(view: View) -> Triples:
    incoming = Counter(target for _, _, target in {(r.source, r.role, r.target) for r in view.forward})
    return _part(view, [relation for relation in view.forward if incoming[relation.target] > 1], [])


def _roles(view: View) -> Triples:
    attributes = [
        Attribute(node, role.lower(), comparable(value), Place("attribute", index))
        for index, (node, role, value) in enumerate(view.graph.attributes)
        if is_argument(role.lower())
    ]
    return _part(view, [relation for relation in view.forward if is_argument(relation.role)], attributes)


def _instances(view: View, kept: Callable[[int], bool]) -> list[BagItem]:
    return [(label, Place("node", node)) for node, label in enumerate(view.labels) if kept(node)]


def _named(view: View) -> list[BagItem]:
    seen = {(relation.source, relation.target) for relation in view.forward if relation.role == "name"}
    nodes = [source for source, _ in sorted(seen)]
    nodes += [node for node, role, _ in view.graph.attributes if role.lower() == "name"]
    return [(view.labels[node], Place("node", node)) for node in nodes]


def _negated(view: View) -> list[BagItem]:
    negated = {
        node
        for node, role, value in view.graph.attributes
        if role.lower() == "polarity" and value.replace('"', "") == "-"
    }
    return _instances(view, lambda node: node in negated)


def _quantities(view: View) -> list[BagItem]:
    fillers = {relation.target for relation in view.forward if relation.role == "quant"}
    modifiers = {relation.target for relation in view.forward if relation.role == "mod"}
    modifiers |= {relation.source for relation in view.forward if relation.role == "domain"}
    concepts = view.graph.concepts
    nodes = [n for n in range(len(concepts)) if n in fillers or (n in modifiers and concepts[n].lower() in QUANTIFIERS)]
    return [(normalise_quantity(concepts[node]), Place("node", node)) for node in nodes] + [
        (normalise_quantity(value), Place("attribute", index))
        for index, (node, role, value) in enumerate(view.graph.attributes)
        if role.lower() == "quant" or (role.lower().startswith("op") and node in fillers)
    ]


def _best_connected(view: View, *, incoming: bool, outgoing: bool) -> int:
    degrees = Counter(relation.target for relation in view.forward if incoming)
    degrees.update(relation.source for relation in view.forward if outgoing)
    return min(range(len(view.labels)), key=lambda node: (-degrees[node], *view.near(node), node))


TRIPLES: Mapping[str, Callable[[View], Triples]] = {
    "smatch": lambda view: _all_triples(view, labelled=True),
    "unlabeled": lambda view: _all_triples(view, labelled=False),
    "coreference": _coreference,
    "srl": _roles,
}
BAGS: Mapping[str, Callable[[View], list[BagItem]]] = {
    "frames": lambda view: _instances(view, lambda node: is_frame(view.graph.concepts[node])),
    "concepts": lambda view: _instances(view, lambda _: True),
    "named_entities": _named,
    "negations": _negated,
    "quantifiers": _quantities,
}
NODES: Mapping[str, Callable[[View], int]] = {
    "max_indegree": lambda view: _best_connected(view, incoming=True, outgoing=False),
    "max_outdegree": lambda view: _best_connected(view, incoming=False, outgoing=True),
    "max_degree": lambda view: _best_connected(view, incoming=True, outgoing=True),
    "root": lambda _: 0,
}
