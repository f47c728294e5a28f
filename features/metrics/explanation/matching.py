"""Which items of two graphs match: triples under an alignment of nodes, bags of labels one by one."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from features.metrics.explanation.views import BagItem, Place, Triples, View

Matches = list[tuple[Place, Place]]
"""Pairs of matching places in the first and the second graph, each place once per side and item."""


def match_triples(left: Triples, right: Triples, views: tuple[View, View], image: Mapping[int, int]) -> Matches:
    """Return the triples that match under an alignment of nodes.

    Args:
        left: triples of the first graph.
        right: triples of the second graph.
        views: both graphs.
        image: node of the first graph → node of the second.
    """
    theirs = set(right.nodes)
    found = [
        (Place("node", node), Place("node", image[node]))
        for node in left.nodes
        if image.get(node) in theirs and views[0].labels[node] == views[1].labels[image[node]]
    ]
    found += _pair_off(
        (((image.get(a.node), a.role, a.value), a.place) for a in left.attributes),
        (((a.node, a.role, a.value), a.place) for a in right.attributes),
    )
    found += _pair_off(
        (((image.get(r.source), r.role, image.get(r.target)), r.place) for r in left.relations),
        (((r.source, r.role, r.target), r.place) for r in right.relations),
    )
    return found


def match_bags(
    left: Sequence[BagItem], right: Sequence[BagItem], views: tuple[View, View], image: Mapping[int, int]
) -> Matches:
    """Return as many pairs of equal labels as possible; aligned nodes and their constants come first.

    Args:
        left: items of the first graph.
        right: items of the second graph.
        views: both graphs.
        image: node of the first graph → node of the second.
    """
    aligned = _pair_off(
        (((label, place.kind, image.get(_node(views[0], place))), place) for label, place in left),
        (((label, place.kind, _node(views[1], place)), place) for label, place in right),
    )
    ours, theirs = _without(left, [a for a, _ in aligned]), _without(right, [b for _, b in aligned])
    return aligned + _pair_off(ours, theirs)


def _node(view: View, place: Place) -> int:
    return view.graph.attributes[place.index][0] if place.kind == "attribute" else place.index


def _pair_off(left: Iterable[tuple[Hashable, Place]], right: Iterable[tuple[Hashable, Place]]) -> Matches:
    """Return pairs of items with equal keys, each item in at most one."""
    waiting: defaultdict[Hashable, list[Place]] = defaultdict(list)
    for key, place in right:
        waiting[key].append(place)
    return [(place, waiting[key].pop(0)) for key, place in left if waiting[key]]


def _without(items: Sequence[BagItem], taken: list[Place]) -> list[BagItem]:
    """Return the items without one for each taken place: a node may be in a bag twice."""
    left = list(taken)
    kept = []
    for item in items:
        if item[1] in left:
            left.remove(item[1])
        else:
            kept.append(item)
    return kept
