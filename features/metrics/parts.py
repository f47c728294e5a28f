"""Parts of graphs to align: where relations share a target, and where predicates have arguments.

A part is some relations (and attributes), the instances they touch, and a root of its own, marked with its concept
(Damonte et al. 2017). Roles are read in one direction (`features.metrics.relations`).
"""

import numpy as np

from features.metrics.arrays import Mask, Positions, distinct, ids_of, owners
from features.metrics.readings import Readings
from features.metrics.relations import is_argument
from features.metrics.triples import TripleBatch, combine, make_triples


def coreference_triples(readings: Readings) -> TripleBatch:
    """Return the relations into nodes that more than one relation points to ("reentrancies")."""
    relations = readings.relations
    (_, targets, _), _ = distinct(relations.sources, relations.targets, relations.roles)
    incoming = np.bincount(targets, minlength=len(readings.graphs.concepts))
    return _part(readings, incoming[relations.targets] > 1, np.zeros(len(readings.attribute_nodes), bool))


def argument_triples(readings: Readings) -> TripleBatch:
    """Return the `:ARGn` relations and attributes."""
    graphs, relations = readings.graphs, readings.relations
    of_relations = np.array([is_argument(name) for name in relations.names], bool)
    of_attributes = np.array([is_argument(name.lower()) for name in graphs.role_names], bool)
    return _part(readings, of_relations[relations.roles], of_attributes[graphs.attribute_roles])


def _part(readings: Readings, kept: Mask, kept_attributes: Mask) -> TripleBatch:
    """Return some relations and attributes with the instances they touch and the root, with renumbered nodes."""
    graphs, relations, labels = readings.graphs, readings.relations, readings.labels
    sources, targets, roles = relations.sources[kept], relations.targets[kept], relations.roles[kept]
    nodes = readings.attribute_nodes[kept_attributes]
    names = ids_of(name.lower() for name in graphs.role_names)
    keys = combine(names[graphs.attribute_roles[kept_attributes]], readings.values[kept_attributes])
    roots = _roots(readings, np.union1d(sources, nodes))
    root_keys = keys.max(initial=-1) + 1 + labels[roots]

    touched = np.zeros(len(graphs.concepts), bool)
    touched[sources] = touched[targets] = touched[nodes] = True
    number = np.concatenate([[0], np.cumsum(touched)])
    return make_triples(
        number[graphs.node_offsets],
        labels[touched],
        number[np.concatenate([roots, nodes])],
        np.concatenate([root_keys, keys]),
        number[sources],
        number[targets],
        roles,
    )


def _roots(readings: Readings, starts: Positions) -> Positions:
    """Return the root of each graph's part: among the nodes with outgoing edges, the one nearest the root.

    FineSmatch marks the first node of its list, which depends on the order of the file. Here the first label breaks
    ties between equally near nodes, and nodes with the same label are all marked.
    """
    graph_of = owners(readings.graphs.node_offsets)[starts]
    distances, ranks = readings.distances[starts], readings.ranks[starts]
    order = np.lexsort((ranks, distances, graph_of))
    starts, graph_of, distances, ranks = starts[order], graph_of[order], distances[order], ranks[order]
    best = np.searchsorted(graph_of, graph_of)  # position of the first node of the same graph
    return np.asarray(starts[(distances == distances[best]) & (ranks == ranks[best])], np.int64)
