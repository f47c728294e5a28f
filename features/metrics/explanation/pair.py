"""A pair of graphs, explained: which nodes are aligned, and what matches in each facet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.graphs.table import graphs_frame
from features.metrics.alignment.solve import best_alignments
from features.metrics.explanation.matching import Matches, match_bags, match_triples
from features.metrics.explanation.views import BAGS, NODES, TRIPLES, Place, View
from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison, f1
from features.metrics.parts import argument_triples, coreference_triples
from features.metrics.readings import Readings
from features.metrics.registry import BUILT_IN, METRICS
from features.metrics.triples import TripleBatch, smatch_triples, unlabeled_triples

_BATCHES: Mapping[str, Callable[[Readings], TripleBatch]] = {
    "smatch": smatch_triples,
    "unlabeled": unlabeled_triples,
    "coreference": coreference_triples,
    "srl": argument_triples,
}


@dataclass(frozen=True, slots=True)
class Item:
    """One item that a facet reads from a graph."""

    kind: str  # node, attribute, relation, or root (the mark that a node is the root of what the facet reads)
    index: int  # position of the node, attribute or relation in its graph
    text: str  # as written
    matched: bool  # whether it has a partner on the other side


@dataclass(frozen=True, slots=True)
class FacetMatch:
    """What matches in one facet."""

    name: str  # the metric
    score: float | None  # its value; None if it needs label vectors and there are none
    # number of matching items; None for a metric that counts none (wlk, wwlk, and those of one node)
    matched: int | None
    # items that it reads from the first graph; empty for wlk and wwlk, which read neighbourhoods
    left: tuple[Item, ...]
    right: tuple[Item, ...]  # items that it reads from the second graph

    @property
    def is_vacuous(self) -> bool:
        """Whether neither graph has anything that the metric reads, so that its value is 1 by definition."""
        return self.matched is not None and not self.left and not self.right


@dataclass(frozen=True, slots=True)
class GraphPair:
    """Two graphs with what matches."""

    left: AmrGraph  # the first graph
    right: AmrGraph  # the second
    alignment: tuple[tuple[int, int], ...]  # pairs of nodes in the best alignment that have something in common
    proven: bool  # whether that alignment is proven optimal
    facets: tuple[FacetMatch, ...]  # the facets, in the order of the metrics


def explain_graphs(pairs: Sequence[tuple[AmrGraph, AmrGraph]], vectors: LabelVectors | None = None) -> list[GraphPair]:
    """Explain pairs of graphs.

    Args:
        pairs: the graphs.
        vectors: vectors of the words in their labels; without them, the metrics that compare vectors have no score.

    Returns:
        One explanation per pair.
    """
    if not pairs:
        return []
    graphs = GraphBatch.from_rows(graphs_frame([graph for pair in pairs for graph in pair]))
    first = np.arange(0, 2 * len(pairs), 2)
    comparison = Comparison(graphs, first, first + 1, vectors or LabelVectors([], np.empty((0, 1), np.float32)))
    # The aligned facets follow below; their score is computed from the matches.
    names = [name for name in METRICS if name not in TRIPLES and (vectors is not None or not BUILT_IN[name].vectors)]
    scores = compare(comparison, names)
    images, proven = _align(comparison.readings, pairs)
    found = []
    for position, (left, right) in enumerate(pairs):
        views = View(left), View(right)
        values = scores.row(position, named=True)
        of_pair = {name: image[position] for name, image in images.items()}
        matches = {name: _match(name, views, of_pair) for name in METRICS}
        touching = {pair for match in matches["smatch"] or [] for pair in _node_pairs(views, *match)}
        found.append(
            GraphPair(
                left,
                right,
                alignment=tuple(pair for pair in sorted(of_pair["smatch"].items()) if pair in touching),
                proven=bool(proven[position]),
                facets=tuple(_facet(name, values.get(name), views, matches[name]) for name in METRICS),
            )
        )
    return found


Image = dict[int, int]


def _align(
    readings: Readings, pairs: Sequence[tuple[AmrGraph, AmrGraph]]
) -> tuple[dict[str, list[Image]], npt.NDArray[np.bool_]]:
    """Return metric → image of each pair, in the graphs' own numbering, and whether Smatch's is proven."""
    first = np.arange(0, 2 * len(pairs), 2)
    images: dict[str, list[Image]] = {}
    proven = np.ones(len(pairs), bool)
    for name, triples_of in _BATCHES.items():
        found = best_alignments(triples_of(readings), first, first + 1)
        images[name] = []
        for pair, (left, right) in enumerate(pairs):
            # A part renumbers its nodes, in order.
            ours, theirs = (TRIPLES[name](View(graph)).nodes for graph in (left, right))
            image = found.images[found.offsets[pair] : found.offsets[pair + 1]]
            images[name].append({ours[i]: theirs[j] for i, j in enumerate(image) if j >= 0})
        if name == "smatch":
            proven = found.proven
    return images, proven


def _match(name: str, views: tuple[View, View], images: Mapping[str, Image]) -> Matches | None:
    """Return what matches in a facet; None if it counts nothing."""
    if name in BAGS:
        return match_bags(BAGS[name](views[0]), BAGS[name](views[1]), views, images["smatch"])
    if name in TRIPLES:
        sides = [TRIPLES[name](view) for view in views]
        own = match_triples(sides[0], sides[1], views, images[name])
        # Among equally good alignments, the one that is drawn.
        drawn = match_triples(sides[0], sides[1], views, images["smatch"])
        return drawn if len(drawn) == len(own) else own
    return None


def _facet(name: str, score: float | None, views: tuple[View, View], matches: Matches | None) -> FacetMatch:
    if name in NODES:
        nodes = [NODES[name](view) for view in views]
        same = views[0].labels[nodes[0]] == views[1].labels[nodes[1]]
        sides = [(_item(view, Place("node", node), matched=same),) for view, node in zip(views, nodes, strict=True)]
        return FacetMatch(name, score, None, *sides)
    if matches is None:
        return FacetMatch(name, score, None, (), ())
    both = []
    for side, view in enumerate(views):
        left = [match[side] for match in matches]
        items = []
        for place in _places(name, view):
            matched = place in left
            if matched:
                left.remove(place)  # a node may be in a bag twice
            items.append(_item(view, place, matched=matched))
        both.append(tuple(items))
    if name in TRIPLES:
        score = float(f1(np.array([[len(matches), len(both[0]), len(both[1])]], float))[0])
    return FacetMatch(name, score, len(matches), *both)


def _places(name: str, view: View) -> list[Place]:
    if name in BAGS:
        return [place for _, place in BAGS[name](view)]
    triples = TRIPLES[name](view)
    nodes = [Place("node", node) for node in triples.nodes]
    return nodes + [attribute.place for attribute in triples.attributes] + [r.place for r in triples.relations]


def _item(view: View, place: Place, *, matched: bool) -> Item:
    graph = view.graph
    match place.kind:
        case "attribute":
            node, role, value = graph.attributes[place.index]
            text = f"{graph.concepts[node]} :{role} {value}"
        case "relation":
            source, role, target = graph.relations[place.index]
            text = f"{graph.concepts[source]} :{role} {graph.concepts[target]}"
        case _:
            text = graph.concepts[place.index]
    return Item(place.kind, place.index, text, matched)


def _node_pairs(views: tuple[View, View], left: Place, right: Place) -> list[tuple[int, int]]:
    """Return the pairs of nodes whose alignment makes two items match."""
    match left.kind:
        case "relation":
            ends = [view.forward[place.index] for view, place in zip(views, (left, right), strict=True)]
            straight = [(ends[0].source, ends[1].source), (ends[0].target, ends[1].target)]
            crossed = [(ends[0].source, ends[1].target), (ends[0].target, ends[1].source)]
            return straight + crossed  # `mod` may be an inverted `domain`; the alignment shows which it is
        case "attribute":
            return [(views[0].graph.attributes[left.index][0], views[1].graph.attributes[right.index][0])]
        case _:
            return [(left.index, right.index)]
