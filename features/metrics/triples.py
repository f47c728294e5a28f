"""The triples of a batch of graphs as smatch 1.0.4 takes them.

`X-of` is inverted (except `consist-of`, `prep-out-of`, `prep-on-behalf-of`), `mod` is inverted to `domain`, inverse
roles (and `mod`) with a constant are dropped, a constant counts up to its first space; case, quotes and trailing
underscores do not count. The root has the attribute (root, TOP, top).

A part of a graph is some relations (and attributes), the instances they touch, and a root of its own, marked with its
concept (Damonte et al. 2017); roles are read in one direction (`Readings.relations`).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from features.metrics.arrays import Ids, Items, Mask, Positions, distinct, ids_of, offsets_of, owners, ranks_of, sums
from features.metrics.readings import Readings, comparable, forward, is_argument, is_inverted


class TripleBatch(NamedTuple):
    """Triples of a batch of graphs, ready for alignment; nodes are numbered within their graph.

    A triple that occurs twice in a graph is one row with count 2: a graph is a multiset of triples, so that a triple
    that occurs 2 and 3 times in two graphs is 2 matches (smatch 1.0.4 counts 6, and so can exceed an F1 of 1).
    """

    node_offsets: Positions  # (n_graphs + 1,)
    labels: Ids  # id of each node's concept, (n_nodes,)
    attribute_offsets: Positions  # (n_graphs + 1,)
    attributes: Ids  # node, id of role and constant, count; shape (n_attributes, 3)
    relation_offsets: Positions  # (n_graphs + 1,)
    relations: Ids  # source, target, id of role, count; shape (n_relations, 4)

    @property
    def sizes(self) -> Positions:
        """Number of triples of each graph, shape (n_graphs,)."""
        nodes = np.diff(self.node_offsets)
        attributes = sums(self.attributes[:, 2], self.attribute_offsets)
        relations = sums(self.relations[:, 3], self.relation_offsets)
        return nodes + attributes + relations


Triples = tuple[Items, Items, Items, Items]
"""Instances, marks of roots, attributes and relations, each as it stands in its graph."""


def _smatch(readings: Readings) -> Triples:
    names = ("domain" if name == "mod" else forward(name) for name in readings.graphs.role_names)
    return _all_triples(readings, ranks_of(name.lower().rstrip("_") for name in names))


def _coreference(readings: Readings) -> Triples:
    relations = readings.relations
    (_, targets, _), _ = distinct(relations.sources, relations.targets, relations.roles)
    incoming = np.bincount(targets, minlength=len(readings.graphs.concepts))
    return _part(readings, incoming[relations.targets] > 1, np.zeros(len(readings.attribute_nodes), bool))


def _arguments(readings: Readings) -> Triples:
    graphs, relations = readings.graphs, readings.relations
    of_relations = np.array([is_argument(name) for name in relations.names], bool)
    of_attributes = np.array([is_argument(name.lower()) for name in graphs.role_names], bool)
    return _part(readings, of_relations[relations.roles], of_attributes[graphs.attribute_roles])


TRIPLES: Mapping[str, Callable[[Readings], Triples]] = {
    "smatch": _smatch,
    # directions stay, and so does TOP
    "unlabeled": lambda readings: _all_triples(readings, np.zeros(len(readings.graphs.role_names), np.int64)),
    "coreference": _coreference,
    "srl": _arguments,
}
"""The triples that each metric with an alignment reads."""


def _all_triples(readings: Readings, roles: Positions) -> Triples:
    graphs = readings.graphs
    turned = np.array([is_inverted(name) or name == "mod" for name in graphs.role_names], bool)
    flipped = turned[graphs.relation_roles]
    sources, targets = readings.ends_as_written
    kept = ~turned[graphs.attribute_roles]
    values = ids_of(comparable((name.split() or [name])[0]) for name in graphs.value_names)
    keys = _combine(roles[graphs.attribute_roles[kept]], values[graphs.attribute_values[kept]])
    nodes, roots = np.arange(len(graphs.concepts)), graphs.node_offsets[:-1]
    ends = np.where(flipped, targets, sources), np.where(flipped, sources, targets)
    return (
        Items("node", nodes, (nodes,), readings.labels),
        Items("root", roots, (roots,), np.full(len(roots), keys.max(initial=-1) + 1)),
        Items("attribute", np.flatnonzero(kept), (readings.attribute_nodes[kept],), keys),
        Items("relation", np.arange(len(flipped)), ends, roles[graphs.relation_roles]),
    )


def _part(readings: Readings, kept: Mask, kept_attributes: Mask) -> Triples:
    """Return some relations and attributes with the instances they touch and the root."""
    graphs, relations, labels = readings.graphs, readings.relations, readings.labels
    ends = relations.sources[kept], relations.targets[kept]
    attribute_nodes = readings.attribute_nodes[kept_attributes]
    names = ids_of(name.lower() for name in graphs.role_names)
    keys = _combine(names[graphs.attribute_roles[kept_attributes]], readings.values[kept_attributes])
    roots = _roots(readings, np.union1d(ends[0], attribute_nodes))
    nodes = np.unique(np.concatenate([*ends, attribute_nodes]))
    return (
        Items("node", nodes, (nodes,), labels[nodes]),
        Items("root", roots, (roots,), keys.max(initial=-1) + 1 + labels[roots]),
        Items("attribute", np.flatnonzero(kept_attributes), (attribute_nodes,), keys),
        Items("relation", np.flatnonzero(kept), ends, ranks_of(relations.names)[relations.roles[kept]]),
    )


def _roots(readings: Readings, starts: Positions) -> Positions:
    """Return the root of each graph's part: among the nodes with outgoing edges, the one nearest the root.

    FineSmatch marks the first node of its list, which depends on the order of the file. Here the first label breaks
    ties between equally near nodes, and nodes with the same label are all marked.
    """
    starts = readings.nearest_first[np.isin(readings.nearest_first, starts)]
    graph_of = owners(readings.graphs.node_offsets)[starts]
    distances, labels = readings.distances[starts], readings.labels[starts]
    best = np.searchsorted(graph_of, graph_of)  # position of the first node of the same graph
    return np.asarray(starts[(distances == distances[best]) & (labels == labels[best])], np.int64)


def count_triples(readings: Readings, triples: Triples) -> TripleBatch:
    """Count equal triples, sort them by graph, and number the nodes that occur within their graph."""
    instances, roots, attributes, relations = triples
    occurs = np.zeros(len(readings.graphs.concepts), bool)
    occurs[instances.at] = True
    number = np.concatenate([[0], np.cumsum(occurs)])
    node_offsets = number[readings.graphs.node_offsets]
    marked, keys = (np.concatenate(both) for both in ((roots.at, *attributes.ends), (roots.keys, attributes.keys)))
    small_keys = np.unique(keys, return_inverse=True)[1]
    (nodes, small_keys), attribute_counts = distinct(number[marked], small_keys)
    sources, targets = (number[end] for end in relations.ends)
    (sources, targets, role_ids), relation_counts = distinct(sources, targets, relations.keys)
    graph_of_node = owners(node_offsets)
    of_attributes, of_relations = graph_of_node[nodes], graph_of_node[sources]
    n_graphs = len(node_offsets) - 1
    first = node_offsets[:-1]
    return TripleBatch(
        node_offsets=node_offsets,
        labels=np.asarray(instances.keys, np.int32),
        attribute_offsets=offsets_of(of_attributes, n_graphs),
        attributes=_rows(nodes - first[of_attributes], small_keys, attribute_counts),
        relation_offsets=offsets_of(of_relations, n_graphs),
        relations=_rows(sources - first[of_relations], targets - first[of_relations], role_ids, relation_counts),
    )


def triples_of(name: str, readings: Readings) -> TripleBatch:
    """Return the triples that a metric with an alignment reads, such as `smatch`."""
    return count_triples(readings, TRIPLES[name](readings))


def _combine(roles: Ids | Positions, values: Ids) -> Positions:
    """Return one number for each role and constant."""
    return roles.astype(np.int64) * (int(values.max(initial=0)) + 1) + values


def _rows(*columns: npt.NDArray[np.integer]) -> Ids:
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)
