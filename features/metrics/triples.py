"""The triples of a batch of graphs, as each metric takes them.

Two readings of the roles as written:

    smatch     as smatch 1.0.4: `X-of` is turned round (but `consist-of`, `prep-out-of`, `prep-on-behalf-of`), `mod` is
               turned round into `domain`, inverted roles (and `mod`) with a constant are dropped, a constant counts up
               to its first blank, quotes and trailing underscores do not count, all in lower case
    directed   `X-of` is turned round (same exceptions); `mod` stays, and `domain` stays

The first is for Smatch, whose numbers are to be comparable. The second is for all that looks at the shape of the graph:
with `mod` turned round every modified argument would have two parents. Parts of graphs (for `coreference`, `srl`) are
taken from the second, and have a root of their own, marked with its concept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from features.graphs.batch import GraphBatch, Ids, Offsets

NOT_INVERTED = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})
"""Roles that end in -of and are no inverse."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TripleBatch:
    """Triples of a batch of graphs, ready to be aligned; nodes are numbered within their graph.

    A triple that occurs twice in a graph is one row with count 2: a graph is a multiset of triples, so that a triple
    that occurs 2 and 3 times in two graphs is 2 matches (smatch 1.0.4 counts 6, and so can exceed an F1 of 1).

    Args:
        node_offsets: shape (n_graphs + 1,).
        labels: id of each node's concept, shape (n_nodes,).
        attribute_offsets: shape (n_graphs + 1,).
        attributes: node, id of role and constant, count; shape (n_attributes, 3).
        relation_offsets: shape (n_graphs + 1,).
        relations: source, target, id of role, count; shape (n_relations, 4).
    """

    node_offsets: Offsets
    labels: Ids
    attribute_offsets: Offsets
    attributes: Ids
    relation_offsets: Offsets
    relations: Ids

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of triples of each graph, shape (n_graphs,)."""
        nodes = np.diff(self.node_offsets)
        attributes = _sums(self.attributes[:, 2], self.attribute_offsets)
        relations = _sums(self.relations[:, 3], self.relation_offsets)
        return nodes + attributes + relations


@dataclass(frozen=True)
class DirectedRelations:
    """Relations with every inverted role turned round; nodes are numbered through the whole batch.

    Args:
        names: distinct roles, in lower case.
        roles: shape (n_relations,).
        sources: shape (n_relations,).
        targets: shape (n_relations,).
    """

    names: list[str]
    roles: Ids
    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]


def smatch_triples(graphs: GraphBatch) -> TripleBatch:
    """Return the triples of smatch 1.0.4, with the attribute (root, TOP, top)."""
    return _smatch_reading(graphs, labelled=True)


def unlabeled_triples(graphs: GraphBatch) -> TripleBatch:
    """Return the triples of Smatch with all role labels made equal (but TOP); directions stay as for Smatch."""
    return _smatch_reading(graphs, labelled=False)


def coreference_triples(
    graphs: GraphBatch, relations: DirectedRelations, distances: npt.NDArray[np.int64]
) -> TripleBatch:
    """Return the part of the graphs where relations share a target (Damonte et al. 2017, "reentrancies").

    Args:
        graphs: the graphs.
        relations: their relations, turned round.
        distances: steps from the root to each node, shape (n_nodes,).

    Returns:
        The relations into nodes that more than one relation points to, the instances they touch, and the part's root.
    """
    (_, targets, _), _ = distinct(relations.sources, relations.targets, relations.roles)
    incoming = np.bincount(targets, minlength=len(graphs.concepts))
    kept = incoming[relations.targets] > 1
    return _part(graphs, relations, distances, kept, np.zeros(len(graphs.attribute_nodes), bool))


def role_triples(
    graphs: GraphBatch,
    relations: DirectedRelations,
    distances: npt.NDArray[np.int64],
    is_kept: Callable[[str], bool],
) -> TripleBatch:
    """Return the part of the graphs that some roles make up.

    Args:
        graphs: the graphs.
        relations: their relations, turned round.
        distances: steps from the root to each node, shape (n_nodes,).
        is_kept: whether a role, in lower case, belongs.

    Returns:
        The relations and attributes of these roles, the instances they touch, and the part's root.
    """
    of_relations = np.array([is_kept(name) for name in relations.names], bool)
    of_attributes = np.array([is_kept(name.lower()) for name in graphs.role_names], bool)
    return _part(graphs, relations, distances, of_relations[relations.roles], of_attributes[graphs.attribute_roles])


def direct(graphs: GraphBatch) -> DirectedRelations:
    """Turn round the relations whose role is inverted; see the module."""
    names: dict[str, int] = {}
    inverted = np.array([_is_inverted(name) for name in graphs.role_names], bool)
    forward = (name.removesuffix("-of") if _is_inverted(name) else name for name in graphs.role_names)
    roles = _ids((name.lower() for name in forward), names)
    flipped = inverted[graphs.relation_roles]
    sources, targets = _through_the_batch(graphs)
    return DirectedRelations(
        names=list(names),
        roles=roles[graphs.relation_roles],
        sources=np.where(flipped, targets, sources),
        targets=np.where(flipped, sources, targets),
    )


def node_labels(graphs: GraphBatch) -> Ids:
    """Return the id of each node's concept, equal for concepts that Smatch takes for equal, shape (n_nodes,)."""
    return _ids(map(_comparable, graphs.concept_names), {})[graphs.concepts]


def _smatch_reading(graphs: GraphBatch, *, labelled: bool) -> TripleBatch:
    turned = np.array([_is_inverted(name) or name == "mod" for name in graphs.role_names], bool)
    role_ids: dict[str, int] = {}
    names = (_smatch_role(name) if labelled else "" for name in graphs.role_names)
    roles = _ids(names, role_ids)
    values = _ids((_comparable(value.split()[0] if value.split() else value) for value in graphs.value_names), {})

    flipped = turned[graphs.relation_roles]
    sources, targets = _through_the_batch(graphs)
    kept = ~turned[graphs.attribute_roles]
    nodes = attribute_nodes(graphs)[kept]
    keys = roles[graphs.attribute_roles[kept]].astype(np.int64) * (values.max(initial=0) + 1)
    keys = keys + values[graphs.attribute_values[kept]]
    roots = graphs.node_offsets[:-1]
    top = keys.max(initial=-1) + 1
    return _triples(
        graphs.node_offsets,
        node_labels(graphs),
        np.concatenate([roots, nodes]),
        np.concatenate([np.full(len(roots), top), keys]),
        np.where(flipped, targets, sources),
        np.where(flipped, sources, targets),
        roles[graphs.relation_roles],
    )


def _part(
    graphs: GraphBatch,
    relations: DirectedRelations,
    distances: npt.NDArray[np.int64],
    kept: Mask,
    kept_attributes: Mask,
) -> TripleBatch:
    """Return some relations and attributes with the instances they touch and the root, nodes numbered anew."""
    sources, targets, roles = relations.sources[kept], relations.targets[kept], relations.roles[kept]
    nodes = attribute_nodes(graphs)[kept_attributes]
    values = _ids(map(_comparable, graphs.value_names), {})
    names = _ids((name.lower() for name in graphs.role_names), {})
    labels = node_labels(graphs)
    keys = names[graphs.attribute_roles[kept_attributes]].astype(np.int64) * (values.max(initial=0) + 1)
    keys = keys + values[graphs.attribute_values[kept_attributes]]
    roots = _part_roots(graphs, distances, np.union1d(sources, nodes))
    root_keys = keys.max(initial=-1) + 1 + labels[roots]

    touched = np.zeros(len(graphs.concepts), bool)
    touched[sources] = touched[targets] = touched[nodes] = True
    number = np.concatenate([[0], np.cumsum(touched)])
    return _triples(
        number[graphs.node_offsets],
        labels[touched],
        number[np.concatenate([roots, nodes])],
        np.concatenate([root_keys, keys]),
        number[sources],
        number[targets],
        roles,
    )


def _part_roots(
    graphs: GraphBatch, distances: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the root of each graph's part: of the nodes that something starts from, the one nearest the root.

    FineSmatch marks the first node of its list, which depends on the order of the file. Here the first label decides
    between equally near nodes, and nodes that are equal in this too are all marked.
    """
    graph_of = owners(graphs.node_offsets)[starts]
    ranks = alphabetical_ranks(graphs.concept_names)[graphs.concepts[starts]]
    order = np.lexsort((ranks, distances[starts], graph_of))
    starts, graph_of, ranks = starts[order], graph_of[order], ranks[order]
    best = np.searchsorted(graph_of, graph_of)  # position of the first node of the same graph
    roots = starts[(distances[starts] == distances[starts[best]]) & (ranks == ranks[best])]
    return np.asarray(roots, np.int64)


def _triples(
    node_offsets: Offsets,
    labels: Ids,
    attribute_nodes: npt.NDArray[np.int64],
    attribute_keys: npt.NDArray[np.int64],
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    roles: npt.NDArray[np.int32],
) -> TripleBatch:
    """Count equal triples, sort them by graph, and number nodes within their graph."""
    small_keys = np.unique(attribute_keys, return_inverse=True)[1]
    (attribute_nodes, small_keys), attribute_counts = distinct(attribute_nodes, small_keys)
    (sources, targets, roles), relation_counts = distinct(sources, targets, roles)
    graph_of_node = owners(node_offsets)
    of_attributes = graph_of_node[attribute_nodes]
    of_relations = graph_of_node[sources]
    n_graphs = len(node_offsets) - 1
    first = node_offsets[:-1]
    return TripleBatch(
        node_offsets=node_offsets,
        labels=labels,
        attribute_offsets=_offsets(of_attributes, n_graphs),
        attributes=_rows(attribute_nodes - first[of_attributes], small_keys, attribute_counts),
        relation_offsets=_offsets(of_relations, n_graphs),
        relations=_rows(sources - first[of_relations], targets - first[of_relations], roles, relation_counts),
    )


def _is_inverted(role: str) -> bool:
    return role.endswith("-of") and role not in NOT_INVERTED


def _smatch_role(role: str) -> str:
    if _is_inverted(role):
        role = role.removesuffix("-of")
    elif role == "mod":
        role = "domain"
    return role.lower().rstrip("_")


def _comparable(name: str) -> str:
    return name.replace('"', "").replace(" ", "").lower().rstrip("_")


def _ids(names: Iterable[str], known: dict[str, int]) -> Ids:
    """Return an id for each name, equal for equal names; `known` grows."""
    return np.array([known.setdefault(name, len(known)) for name in names], np.int32)


def distinct(*columns: npt.NDArray[Any]) -> tuple[tuple[npt.NDArray[Any], ...], npt.NDArray[np.int64]]:
    """Return the distinct rows of some columns, sorted, and how often each occurs."""
    order = np.lexsort(columns[::-1])
    columns = tuple(column[order] for column in columns)
    starts = np.ones(len(order), bool)
    starts[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    counts = np.diff(np.append(np.flatnonzero(starts), len(order)))
    return tuple(column[starts] for column in columns), counts


def alphabetical_ranks(names: list[str]) -> npt.NDArray[np.int64]:
    """Return the place of each name in the alphabetical order of names in lower case, equal for equal ones."""
    order = np.unique(np.array([_comparable(name) for name in names], np.str_), return_inverse=True)[1]
    return np.asarray(order, np.int64)


def attribute_nodes(graphs: GraphBatch) -> npt.NDArray[np.int64]:
    """Return the node of each attribute, numbered through the batch."""
    return np.asarray(graphs.attribute_nodes + graphs.node_offsets[owners(graphs.attribute_offsets)], np.int64)


def _through_the_batch(graphs: GraphBatch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return sources and targets of the relations as written, numbered through the batch."""
    first = graphs.node_offsets[owners(graphs.relation_offsets)]
    return graphs.relation_sources + first, graphs.relation_targets + first


def owners(offsets: Offsets) -> npt.NDArray[np.int64]:
    """Return the graph of each row of an array with these offsets."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _offsets(owners: npt.NDArray[np.int64], n_graphs: int) -> Offsets:
    return np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n_graphs))]).astype(np.int64)


def _sums(counts: Ids, offsets: Offsets) -> npt.NDArray[np.int64]:
    totals = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return np.asarray(totals[offsets[1:]] - totals[offsets[:-1]], np.int64)


def _rows(*columns: npt.NDArray[np.integer]) -> Ids:
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)
