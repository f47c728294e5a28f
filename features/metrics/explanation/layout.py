"""Layout of a graph in layers, from the root down: positions of boxes and edges (after Sugiyama et al. 1981).

    rank       every edge leads down unless there is a cycle: a node is below all that point to it, in the first layer
               with room for it (after Coffman & Graham 1972)
    order      within a layer, nodes move to where their neighbours are until fewer edges cross
    position   as near to the neighbours as the adjacent boxes allow

An edge across several layers passes a way point in each of them, which is ordered and placed like a node.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

GAP = 15.0  # between two boxes of a layer
_WAY = 10.0  # width of a way point
_SWEEPS = 12
_FAR = 20  # layers; an edge across more of them passes no way points, of which a graph could have a hundred thousand
_FULL = 1400.0  # width of the boxes at which a layer is full


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions in pixels; the upper left corner of everything is 0, 0."""

    centres: list[tuple[float, float]]  # x of the middle and y of the upper side of each box
    # for each edge the points it passes between its boxes, from the source to the target
    ways: list[list[tuple[float, float]]]
    width: float  # total width
    height: float  # total height


def lay_out(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], labels: Sequence[float], rise: float
) -> Layout:
    """Lay a graph out; node 0 is the root.

    Args:
        sizes: width and height of each box.
        edges: source and target of each edge; none from a node to itself.
        labels: width of each edge's label; room for it is left above the target, or at a way point.
        rise: height between two layers of boxes.
    """
    widths = [width for width, _ in sizes]
    ranks, read = _ranks(widths, edges)
    layers: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node in read:
        layers[ranks[node]].append(node)
    chains: list[list[int]] = []
    links: list[tuple[int, int]] = []
    for (source, target), label in zip(edges, labels, strict=True):
        upper, lower = (source, target) if ranks[source] < ranks[target] else (target, source)
        chain, between = [upper], range(ranks[upper] + 1, ranks[lower])
        for rank in between if len(between) < _FAR else ():
            layers[rank].append(len(widths))
            chain.append(len(widths))
            widths.append(max(_WAY, label))
            ranks.append(rank)
        if len(chain) == 1:
            widths[lower] = max(widths[lower], label)
        chain.append(lower)
        links += pairwise(chain) if len(between) < _FAR else ()
        chains.append(chain if upper == source else chain[::-1])
    _order(layers, links, ranks)
    x = _place(layers, links, widths)
    heights = [max((sizes[node][1] for node in layer if node < len(sizes)), default=0.0) for layer in layers]
    tops = [sum(heights[:rank]) + rise * rank for rank in range(len(layers))]
    return Layout(
        centres=[(x[node], tops[ranks[node]]) for node in range(len(sizes))],
        ways=[[(x[way], tops[ranks[way]] + heights[ranks[way]] / 2) for way in chain[1:-1]] for chain in chains],
        width=max(x[node] + widths[node] / 2 for layer in layers for node in layer),
        height=tops[-1] + heights[-1],
    )


def _ranks(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the layer of each node, and the nodes as the graph is read, a reasonable initial order of the layers.

    The layer is the longest path from the root, without edges that close a cycle, or a later one.
    """
    n_nodes = len(widths)
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    for source, target in edges:
        below[source].append(target)
    into: list[list[int]] = [[] for _ in range(n_nodes)]
    met, done = dict[int, None](), dict[int, None]()
    for start in range(n_nodes):
        stack = [(start, iter(below[start]))] if start not in met else []
        met[start] = None
        while stack:
            node, targets = stack[-1]
            target = next(targets, -1)
            if target < 0:
                stack.pop()
                done[node] = None
            elif target in done or target not in met:  # else the edge closes a cycle
                into[target].append(node)
                if target not in met:
                    met[target] = None
                    stack.append((target, iter(below[target])))
    ranks, taken = [0] * n_nodes, [0.0] * (n_nodes + 1)
    for node in reversed(done):
        rank = max((ranks[source] + 1 for source in into[node]), default=0)
        while taken[rank] and taken[rank] + widths[node] > _FULL:
            rank += 1
        ranks[node] = rank
        taken[rank] += widths[node] + GAP
    return ranks, list(met)


def _order(layers: list[list[int]], links: Sequence[tuple[int, int]], ranks: Sequence[int]) -> None:
    """Sort each layer by the mean place of its neighbours, down and up again; keep the order with fewest crossings."""
    above, below = _neighbours(links)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, links, ranks)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for rank in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            fixed = {node: position for position, node in enumerate(layers[rank - 1 if down else rank + 1])}
            wanted: dict[int, tuple[float, int]] = {}
            for position, node in enumerate(layers[rank]):
                places = [fixed[other] for other in (above if down else below).get(node, ())]
                wanted[node] = (sum(places) / len(places) if places else position, position)
            layers[rank].sort(key=wanted.__getitem__)
        if (crossings := _crossings(layers, links, ranks)) < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _crossings(layers: Sequence[Sequence[int]], links: Sequence[tuple[int, int]], ranks: Sequence[int]) -> int:
    positions = {node: at for layer in layers for at, node in enumerate(layer)}
    ends = sorted((ranks[upper], positions[upper], positions[lower]) for upper, lower in links)
    count = 0
    for _, of_layer in groupby(ends, key=itemgetter(0)):
        passed: list[int] = []
        for _, _, lower in of_layer:
            count += len(passed) - bisect_right(passed, lower)
            insort(passed, lower)
    return count


def _neighbours(links: Sequence[tuple[int, int]]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for upper, lower in links:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    return above, below


def _place(
    layers: Sequence[Sequence[int]], links: Sequence[tuple[int, int]], widths: Sequence[float]
) -> dict[int, float]:
    """Return the x of each node's middle: as near to the mean of its neighbours as its layer allows."""
    above, below = _neighbours(links)
    x: dict[int, float] = {}
    for layer in layers:
        x.update(zip(layer, _spread([0.0] * len(layer), layer, widths), strict=True))
    for sweep in range(2 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for node in layer:
                others = above.get(node, []) + below.get(node, [])
                wanted.append(sum(x[other] for other in others) / len(others) if others else x[node])
            x.update(zip(layer, _spread(wanted, layer, widths), strict=True))
    left = min(x[node] - widths[node] / 2 for layer in layers for node in layer)
    return {node: value - left for node, value in x.items()}


def _spread(wanted: Sequence[float], layer: Sequence[int], widths: Sequence[float]) -> list[float]:
    """Return places in order, boxes not overlapping, with the least squared distance from the wanted ones.

    Isotonic regression on the places minus the width of the preceding boxes.
    """
    from scipy.optimize import isotonic_regression  # slow to import

    room = [0.0]
    for node, following in pairwise(layer):
        room.append(room[-1] + (widths[node] + widths[following]) / 2 + GAP)
    free = isotonic_regression(np.subtract(wanted, room)).x.tolist()
    return [place + before for place, before in zip(free, room, strict=True)]
