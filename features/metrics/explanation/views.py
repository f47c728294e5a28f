"""What each facet reads from a graph, in plain Python: the same triples and labels as the engine, with their places.

labels      bags of labels                     concepts, frames, named_entities, negations, quantifiers
triples     instances, constants, relations    smatch, unlabeled, coreference, srl
one node                                       root, max_indegree, max_outdegree, max_degree
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from features.graphs.graph import AmrGraph
from features.metrics.overlap import QUANTIFIERS, normalise_quantity
from features.metrics.readings import comparable, forward, is_argument, is_frame, is_inverted

Kind = Literal["node", "attribute", "relation", "root"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a facet reads in one place of a graph."""

    kind: Kind  # `root` is the mark that a node is the root of what the facet reads
    index: int  # position of the node, attribute or relation in its graph
    nodes: tuple[int, ...]  # the node that it stands at, or source and target as the facet reads them
    name: str  # concept, role and constant, or role, as the facet compares them


class Relation(NamedTuple):
    """A relation with an inverse role inverted back; the role is in lower case."""

    source: int
    role: str
    target: int


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

    @cached_property
    def distances(self) -> list[float]:
        """Steps from the root to each node, along relations in either direction."""
        around: defaultdict[int, set[int]] = defaultdict(set)
        for source, _, target in self.forward:
            around[source].add(target)
            around[target].add(source)
        distances, layer = dict.fromkeys(range(len(self.labels)), float("inf")), {0}
        for distance in range(len(self.labels)):
            distances |= dict.fromkeys(layer, distance)
            layer = {other for node in layer for other in around[node] if distances[other] == float("inf")}
        return list(distances.values())

    def near(self, node: int) -> tuple[float, str]:
        """Return the tie-breaker of a node: its distance from the root, then its label."""
        return self.distances[node], self.labels[node]


def _instances(view: View, nodes: Iterable[int]) -> list[Place]:
    return [Place("node", node, (node,), view.labels[node]) for node in nodes]


def _relations(view: View, kept: Callable[[Relation], bool]) -> list[Place]:
    return [
        Place("relation", index, (relation.source, relation.target), relation.role)
        for index, relation in enumerate(view.forward)
        if kept(relation)
    ]


def _all_triples(view: View, *, labelled: bool) -> list[Place]:
    def compared(role: str) -> str:
        return ("domain" if role == "mod" else forward(role)).lower().rstrip("_") if labelled else ""

    def is_turned(role: str) -> bool:
        return is_inverted(role) or role == "mod"

    places = [*_instances(view, range(len(view.labels))), Place("root", 0, (0,), "")]
    for index, (node, role, value) in enumerate(view.graph.attributes):
        if not is_turned(role):
            first = (value.split() or [value])[0]
            places.append(Place("attribute", index, (node,), f"{compared(role)} {comparable(first)}"))
    for index, (source, role, target) in enumerate(view.graph.relations):
        ends = (target, source) if is_turned(role) else (source, target)
        places.append(Place("relation", index, ends, compared(role)))
    return places


def _part(view: View, triples: list[Place]) -> list[Place]:
    """Return relations and attributes with the instances they touch and the root of this part."""
    touched = {node for triple in triples for node in triple.nodes}
    starts = sorted({triple.nodes[0] for triple in triples})
    nearest = min((view.near(node) for node in starts), default=None)
    roots = [Place("root", node, (node,), view.labels[node]) for node in starts if view.near(node) == nearest]
    return [*_instances(view, sorted(touched)), *roots, *triples]


def _coreference(view: View) -> list[Place]:
    incoming = Counter(relation.target for relation in set(view.forward))
    return _part(view, _relations(view, lambda relation: incoming[relation.target] > 1))


def _roles(view: View) -> list[Place]:
    attributes = [
        Place("attribute", index, (node,), f"{role.lower()} {comparable(value)}")
        for index, (node, role, value) in enumerate(view.graph.attributes)
        if is_argument(role.lower())
    ]
    return _part(view, attributes + _relations(view, lambda relation: is_argument(relation.role)))


def _named(view: View) -> list[Place]:
    seen = {(relation.source, relation.target) for relation in view.forward if relation.role == "name"}
    nodes = [source for source, _ in sorted(seen)]
    return _instances(view, nodes + [node for node, role, _ in view.graph.attributes if role.lower() == "name"])


def _negated(view: View) -> list[Place]:
    attributes = ((node, role.lower(), value.replace('"', "")) for node, role, value in view.graph.attributes)
    return _instances(view, sorted({node for node, role, value in attributes if (role, value) == ("polarity", "-")}))


def _quantities(view: View) -> list[Place]:
    fillers = {relation.target for relation in view.forward if relation.role == "quant"}
    modifiers = {relation.target for relation in view.forward if relation.role == "mod"}
    modifiers |= {relation.source for relation in view.forward if relation.role == "domain"}
    return [
        Place("node", node, (node,), normalise_quantity(concept))
        for node, concept in enumerate(view.graph.concepts)
        if node in fillers or (node in modifiers and concept.lower() in QUANTIFIERS)
    ] + [
        Place("attribute", index, (node,), normalise_quantity(value))
        for index, (node, role, value) in enumerate(view.graph.attributes)
        if role.lower() == "quant" or (role.lower().startswith("op") and node in fillers)
    ]


def _best_connected(view: View, *, incoming: bool, outgoing: bool) -> int:
    degrees = Counter(relation.target for relation in view.forward if incoming)
    degrees.update(relation.source for relation in view.forward if outgoing)
    return min(range(len(view.labels)), key=lambda node: (-degrees[node], *view.near(node), node))


TRIPLES: Mapping[str, Callable[[View], list[Place]]] = {
    "smatch": lambda view: _all_triples(view, labelled=True),
    "unlabeled": lambda view: _all_triples(view, labelled=False),
    "coreference": _coreference,
    "srl": _roles,
}
BAGS: Mapping[str, Callable[[View], list[Place]]] = {
    "frames": lambda view: _instances(view, (n for n, name in enumerate(view.graph.concepts) if is_frame(name))),
    "concepts": lambda view: _instances(view, range(len(view.labels))),
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
