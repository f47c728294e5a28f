"""What several metrics read from a batch of graphs, computed only once.

    names            which concepts are frames, which roles are inverted, which names are equal
    relations        in one direction: `(b :ARG0-of s)` is `(s :ARG0 b)`
    neighbourhoods   constants are nodes, too, and relations are seen from both ends, as Weisfeiler-Leman metrics do:
                     (b / boy :polarity -)   nodes boy, -   edges boy ─polarity─ -

`consist-of` and the like are not inverses. `mod` and `domain`, which are each other's inverse, stay as they are: if
`mod` were inverted, as Smatch does, every modified argument would have two parents.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from features.graphs.batch import GraphBatch
from features.metrics.arrays import Ids, Positions, distinct, ids_of, owners, ranks_of
from features.metrics.compiled import kernel

_NOT_INVERTED = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})
SENSE = re.compile(r"-[0-9]{2,}$")  # the end of a concept that is a PropBank frame
_ARGUMENT = re.compile(r"arg[0-9]+(-of)?")


def is_frame(concept: str) -> bool:
    """Return whether a concept is a PropBank frame."""
    return SENSE.search(concept) is not None


def is_argument(role: str) -> bool:
    """Return whether a role, in lower case, is one of :ARG0, :ARG1, … or the inverse of one."""
    return _ARGUMENT.fullmatch(role) is not None


def is_inverted(role: str) -> bool:
    """Return whether a role is the inverse of another."""
    return role.endswith("-of") and role not in _NOT_INVERTED


def forward(role: str) -> str:
    """Return a role without the `-of` of an inverse."""
    return role.removesuffix("-of") if is_inverted(role) else role


def comparable(name: str) -> str:
    """Return a concept or constant as Smatch compares it: lower case, without quotes, spaces, trailing underscores."""
    return name.replace('"', "").replace(" ", "").lower().rstrip("_")


@dataclass(frozen=True)
class DirectedRelations:
    """Relations with every inverse role inverted back; nodes are numbered through the whole batch."""

    names: list[str]  # distinct roles, in lower case
    roles: Ids  # (n_relations,)
    sources: Positions  # (n_relations,)
    targets: Positions  # (n_relations,)


@dataclass(frozen=True)
class Neighbourhoods:
    """Labelled graphs with constants as nodes; nodes are numbered through the whole batch, graph by graph."""

    label_names: list[str]  # distinct labels, concepts and constants together, as written
    node_offsets: Positions  # (n_graphs + 1,)
    labels: Positions  # (n_nodes,)
    labels_of_concepts: Ids  # label of each of the batch's concept names, (n_names,)
    edge_offsets: Positions  # the edges that leave the nodes of graph g are `edge_offsets[g]:edge_offsets[g + 1]`
    sources: Positions  # (n_edges,)
    roles: Positions  # (n_edges,)
    targets: Positions  # (n_edges,)
    offsets: Positions  # the neighbours of node v, both ways, are `neighbours[offsets[v]:offsets[v + 1]]`
    neighbours: Positions  # (2 · n_edges,)
    neighbour_roles: Positions  # role of the edge to each, (2 · n_edges,)


@dataclass(frozen=True)
class Readings:
    """A batch of graphs, and what is read from it; nodes are numbered through the batch."""

    graphs: GraphBatch

    @cached_property
    def labels(self) -> Positions:
        """Rank of each node's concept in the alphabet, equal for concepts that compare equal, shape (n_nodes,)."""
        return ranks_of(map(comparable, self.graphs.concept_names))[self.graphs.concepts]

    @cached_property
    def values(self) -> Ids:
        """The id of each attribute's constant, shape (n_attributes,)."""
        return np.asarray(ids_of(map(comparable, self.graphs.value_names))[self.graphs.attribute_values], np.int32)

    @cached_property
    def attribute_nodes(self) -> Positions:
        """The node of each attribute, shape (n_attributes,)."""
        first = self.graphs.node_offsets[owners(self.graphs.attribute_offsets)]
        return np.asarray(self.graphs.attribute_nodes + first, np.int64)

    @cached_property
    def ends_as_written(self) -> tuple[Positions, Positions]:
        """Sources and targets of the relations as written, each (n_relations,)."""
        first = self.graphs.node_offsets[owners(self.graphs.relation_offsets)]
        return self.graphs.relation_sources + first, self.graphs.relation_targets + first

    @cached_property
    def relations(self) -> DirectedRelations:
        """The relations with every inverse role inverted back."""
        graphs = self.graphs
        names: dict[str, int] = {}
        roles = ids_of((forward(name).lower() for name in graphs.role_names), names)
        flipped = np.array([is_inverted(name) for name in graphs.role_names], bool)[graphs.relation_roles]
        sources, targets = self.ends_as_written
        return DirectedRelations(
            names=list(names),
            roles=roles[graphs.relation_roles],
            sources=np.where(flipped, targets, sources),
            targets=np.where(flipped, sources, targets),
        )

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """The graphs with constants as nodes: those of a graph follow its concepts."""
        graphs, relations = self.graphs, self.relations
        ids: dict[str, int] = {}
        concept_ids = ids_of(map(_plain, graphs.concept_names), ids)
        value_ids = ids_of(map(_plain, graphs.value_names), ids)
        role_ids = {name: number for number, name in enumerate(relations.names)}
        attribute_role_ids = ids_of((name.lower() for name in graphs.role_names), role_ids)

        node_offsets = graphs.node_offsets + graphs.attribute_offsets
        graph_of_node, graph_of_attribute = owners(graphs.node_offsets), owners(graphs.attribute_offsets)
        concept_position = np.arange(len(graphs.concepts)) + graphs.attribute_offsets[graph_of_node]
        constant_position = np.arange(len(graph_of_attribute)) + graphs.node_offsets[graph_of_attribute + 1]
        labels = np.empty(node_offsets[-1], np.int64)
        labels[concept_position] = concept_ids[graphs.concepts]
        labels[constant_position] = value_ids[graphs.attribute_values]

        sources = concept_position[np.concatenate([relations.sources, self.attribute_nodes])]
        targets = np.concatenate([concept_position[relations.targets], constant_position])
        roles = np.concatenate([relations.roles, attribute_role_ids[graphs.attribute_roles]]).astype(np.int64)
        (sources, targets, roles), _ = distinct(sources, targets, roles)

        here, there = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        order = np.argsort(here, kind="stable")
        return Neighbourhoods(
            label_names=list(ids),
            node_offsets=node_offsets,
            labels=labels,
            labels_of_concepts=concept_ids,
            edge_offsets=np.searchsorted(sources, node_offsets),
            sources=sources,
            roles=roles,
            targets=targets,
            offsets=np.searchsorted(here[order], np.arange(len(labels) + 1)),
            neighbours=there[order],
            neighbour_roles=np.concatenate([roles, roles])[order],
        )

    @cached_property
    def distances(self) -> Positions:
        """Steps from the root to each node, along relations in either direction, shape (n_nodes,)."""
        around = self.neighbourhoods
        distances = _distances_from_first(around.node_offsets, around.offsets, around.neighbours)
        graph_of = owners(self.graphs.node_offsets)
        return np.asarray(distances[np.arange(len(graph_of)) + self.graphs.attribute_offsets[graph_of]], np.int64)

    @cached_property
    def nearest_first(self) -> Positions:
        """The nodes, graph by graph, in the order of distance and label, shape (n_nodes,)."""
        return np.lexsort((self.labels, self.distances, owners(self.graphs.node_offsets)))


def _plain(name: str) -> str:
    # As in the reference implementation of WLK: Dillard's and Dillards are one label.
    return name.replace('"', "").replace("'", "").lower()


@kernel
def _distances_from_first(node_offsets: Any, offsets: Any, neighbours: Any) -> Any:
    """Return the distance of each node, in undirected steps, from the first node of its graph, shape (n_nodes,)."""
    distances = np.full(node_offsets[-1], np.iinfo(np.int64).max, np.int64)
    queue = np.empty(node_offsets[-1], np.int64)
    for graph in range(len(node_offsets) - 1):
        head, tail = 0, 1
        queue[0] = node_offsets[graph]
        distances[queue[0]] = 0
        while head < tail:
            node = queue[head]
            head += 1
            for t in range(offsets[node], offsets[node + 1]):
                other = neighbours[t]
                if distances[other] > distances[node] + 1:
                    distances[other] = distances[node] + 1
                    queue[tail] = other
                    tail += 1
    return distances
