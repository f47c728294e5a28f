"""The triples of a batch of graphs as smatch 1.0.4 takes them.

`X-of` is inverted (except `consist-of`, `prep-out-of`, `prep-on-behalf-of`), `mod` is inverted to `domain`, inverse
roles (and `mod`) with a constant are dropped, a constant counts up to its first space; case, quotes and trailing
underscores do not count. The root has the attribute (root, TOP, top).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from features.metrics.arrays import Ids, Positions, distinct, ids_of, offsets_of, owners, sums
from features.metrics.readings import Readings, comparable
from features.metrics.relations import ends_as_written, is_inverted


@dataclass(frozen=True)
class TripleBatch:
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

    @cached_property
    def sizes(self) -> Positions:
        """Number of triples of each graph, shape (n_graphs,)."""
        nodes = np.diff(self.node_offsets)
        attributes = sums(self.attributes[:, 2], self.attribute_offsets)
        relations = sums(self.relations[:, 3], self.relation_offsets)
        return nodes + attributes + relations


def smatch_triples(readings: Readings) -> TripleBatch:
    """Return all triples."""
    return _all_triples(readings, ids_of(map(_smatch_role, readings.graphs.role_names)))


def unlabeled_triples(readings: Readings) -> TripleBatch:
    """Return all triples with all role labels made equal (except TOP); directions stay."""
    return _all_triples(readings, np.zeros(len(readings.graphs.role_names), np.int32))


def _all_triples(readings: Readings, roles: Ids) -> TripleBatch:
    graphs = readings.graphs
    turned = np.array([is_inverted(name) or name == "mod" for name in graphs.role_names], bool)
    flipped = turned[graphs.relation_roles]
    sources, targets = ends_as_written(graphs)
    kept = ~turned[graphs.attribute_roles]
    values = ids_of(comparable((name.split() or [name])[0]) for name in graphs.value_names)
    keys = combine(roles[graphs.attribute_roles[kept]], values[graphs.attribute_values[kept]])
    roots = graphs.node_offsets[:-1]
    top = keys.max(initial=-1) + 1
    return make_triples(
        graphs.node_offsets,
        readings.labels,
        np.concatenate([roots, readings.attribute_nodes[kept]]),
        np.concatenate([np.full(len(roots), top), keys]),
        np.where(flipped, targets, sources),
        np.where(flipped, sources, targets),
        roles[graphs.relation_roles],
    )


def make_triples(
    node_offsets: Positions,
    labels: Ids,
    attribute_nodes: Positions,
    attribute_keys: Positions,
    sources: Positions,
    targets: Positions,
    roles: Ids,
) -> TripleBatch:
    """Count equal triples, sort them by graph, and number nodes within their graph.

    Args:
        node_offsets: shape (n_graphs + 1,).
        labels: shape (n_nodes,).
        attribute_nodes: node of each attribute, numbered through the batch, shape (n_attributes,).
        attribute_keys: role and constant of each attribute in one number.
        sources: source of each relation, numbered through the batch, shape (n_relations,).
        targets: target of each relation, numbered through the batch, shape (n_relations,).
        roles: role of each relation, shape (n_relations,).
    """
    small_keys = np.unique(attribute_keys, return_inverse=True)[1]
    (attribute_nodes, small_keys), attribute_counts = distinct(attribute_nodes, small_keys)
    (sources, targets, role_ids), relation_counts = distinct(sources, targets, roles)
    graph_of_node = owners(node_offsets)
    of_attributes, of_relations = graph_of_node[attribute_nodes], graph_of_node[sources]
    n_graphs = len(node_offsets) - 1
    first = node_offsets[:-1]
    return TripleBatch(
        node_offsets=node_offsets,
        labels=labels,
        attribute_offsets=offsets_of(of_attributes, n_graphs),
        attributes=_rows(attribute_nodes - first[of_attributes], small_keys, attribute_counts),
        relation_offsets=offsets_of(of_relations, n_graphs),
        relations=_rows(sources - first[of_relations], targets - first[of_relations], role_ids, relation_counts),
    )


def combine(roles: Ids, values: Ids) -> Positions:
    """Return one number for each role and constant."""
    return roles.astype(np.int64) * (int(values.max(initial=0)) + 1) + values


def _smatch_role(role: str) -> str:
    if is_inverted(role):
        role = role.removesuffix("-of")
    elif role == "mod":
        role = "domain"
    return role.lower().rstrip("_")


def _rows(*columns: npt.NDArray[np.integer]) -> Ids:
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)
