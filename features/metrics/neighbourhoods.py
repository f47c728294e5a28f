"""Graphs as the Weisfeiler-Leman metrics see them: constants are nodes, too, and relations are seen from both ends.

(b / boy :polarity -)          nodes   boy, -            each constant has a node of its own
                               edges   boy ─polarity─ -
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from features.graphs.batch import GraphBatch
from features.metrics.arrays import Ids, Positions, distinct, ids_of, owners
from features.metrics.compiled import kernel
from features.metrics.relations import DirectedRelations


@dataclass(frozen=True)
class Neighbourhoods:
    """Labelled graphs with constants as nodes; nodes are numbered through the whole batch, graph by graph."""

    label_names: list[str]  # distinct labels, concepts and constants together, as written
    role_names: list[str]  # distinct roles
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


def neighbourhoods(graphs: GraphBatch, relations: DirectedRelations) -> Neighbourhoods:
    """Return the graphs of a batch with constants as nodes.

    Args:
        graphs: the graphs.
        relations: their relations, with inverse roles inverted back.
    """
    ids: dict[str, int] = {}
    concept_ids = ids_of(map(_plain, graphs.concept_names), ids)
    value_ids = ids_of(map(_plain, graphs.value_names), ids)
    role_ids = {name: number for number, name in enumerate(relations.names)}
    attribute_role_ids = ids_of((name.lower() for name in graphs.role_names), role_ids)

    # Nodes of graph g: its concepts, then its constants.
    node_offsets = graphs.node_offsets + graphs.attribute_offsets
    graph_of_node, graph_of_attribute = owners(graphs.node_offsets), owners(graphs.attribute_offsets)
    concept_position = np.arange(len(graphs.concepts)) + graphs.attribute_offsets[graph_of_node]
    constant_position = np.arange(len(graph_of_attribute)) + graphs.node_offsets[graph_of_attribute + 1]
    labels = np.empty(node_offsets[-1], np.int64)
    labels[concept_position] = concept_ids[graphs.concepts]
    labels[constant_position] = value_ids[graphs.attribute_values]

    owner_nodes = graphs.attribute_nodes + graphs.node_offsets[graph_of_attribute]
    sources = np.concatenate([concept_position[relations.sources], concept_position[owner_nodes]])
    targets = np.concatenate([concept_position[relations.targets], constant_position])
    roles = np.concatenate([relations.roles, attribute_role_ids[graphs.attribute_roles]]).astype(np.int64)
    (sources, targets, roles), _ = distinct(sources, targets, roles)

    here = np.concatenate([sources, targets])
    there = np.concatenate([targets, sources])
    order = np.argsort(here, kind="stable")
    return Neighbourhoods(
        label_names=list(ids),
        role_names=list(role_ids),
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


def _plain(name: str) -> str:
    # As in the reference implementation of WLK: Dillard's and Dillards are one label.
    return name.replace('"', "").replace("'", "").lower()


@kernel
def distances_from_first(node_offsets: Any, offsets: Any, neighbours: Any) -> Any:
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
