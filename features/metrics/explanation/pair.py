"""A pair of graphs, explained: which nodes are aligned, and what matches in each facet."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.metrics.alignment.solve import Alignments, best_alignments
from features.metrics.arrays import Items, Kind, owners
from features.metrics.focus import NODES
from features.metrics.label_vectors import NO_VECTORS, LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison, f1
from features.metrics.overlap import BAGS, concepts_of
from features.metrics.registry import BUILT_IN, METRICS
from features.metrics.triples import TRIPLES, count_triples


@dataclass(frozen=True, slots=True)
class _Place:
    """What a facet reads in one place of a graph."""

    kind: Kind
    index: int  # position of the node, attribute or relation in its graph
    nodes: tuple[int, ...]  # the node that it stands at, or source and target as the facet reads them
    key: int  # equal for what the facet compares as equal


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
    """Explain pairs of graphs; without vectors of words, the metrics that compare them have no score."""
    if not pairs:
        return []
    graphs = GraphBatch.of([graph for pair in pairs for graph in pair])
    first = np.arange(0, 2 * len(pairs), 2)
    comparison = Comparison(graphs, first, first + 1, vectors or NO_VECTORS)
    # The aligned facets follow below; their score is computed from the matches.
    names = [name for name in METRICS if name not in TRIPLES and (vectors is not None or not BUILT_IN[name].vectors)]
    scores = compare(comparison, names)
    readings = comparison.readings
    triples = {name: read(readings) for name, read in TRIPLES.items()}
    aligned = {name: best_alignments(count_triples(readings, read), first, first + 1) for name, read in triples.items()}
    items = triples | {name: read(readings) for name, read in BAGS.items()}
    items |= {name: concepts_of(readings, read(readings)) for name, read in NODES.items()}
    places = {name: _places(graphs, items.get(name, ())) for name in METRICS}
    explained = []
    for position, both in enumerate(pairs):
        values = scores.row(position, named=True)
        sides = {name: (of[2 * position], of[2 * position + 1]) for name, of in places.items()}
        images = {name: _image(alignments, position, *sides[name]) for name, alignments in aligned.items()}
        matches = {name: _matches(name, *of, images) for name, of in sides.items()}
        touching = {pair for a, b in matches["smatch"] for pair in zip(a.nodes, b.nodes, strict=True)}
        explained.append(
            GraphPair(
                *both,
                alignment=tuple(pair for pair in sorted(images["smatch"].items()) if pair in touching),
                proven=bool(aligned["smatch"].proven[position]),
                facets=tuple(_facet(name, values.get(name), both, sides[name], matches[name]) for name in METRICS),
            )
        )
    return explained


def _places(graphs: GraphBatch, items: Iterable[Items]) -> list[list[_Place]]:
    """Return what a facet reads from each graph, in the graph's own numbering."""
    places: list[list[_Place]] = [[] for _ in range(len(graphs))]
    graph_of_node = owners(graphs.node_offsets)
    offsets = {"attribute": graphs.attribute_offsets, "relation": graphs.relation_offsets}
    for kind, at, ends, keys in items:
        graph_of = graph_of_node[ends[0]]
        index = at - offsets.get(kind, graphs.node_offsets)[graph_of]
        nodes = np.column_stack([end - graphs.node_offsets[graph_of] for end in ends])
        for graph, *place in zip(graph_of.tolist(), index.tolist(), nodes.tolist(), keys.tolist(), strict=True):
            places[graph].append(_Place(kind, place[0], tuple(place[1]), place[2]))
    return places


_Image = dict[int, int]  # node of the first graph → node of the second
_Matches = list[tuple[_Place, _Place]]


def _image(alignments: Alignments, pair: int, left: Sequence[_Place], right: Sequence[_Place]) -> _Image:
    """Return an alignment in the graphs' own numbering: a part renumbers its nodes, in order."""
    ours, theirs = ([place.index for place in side if place.kind == "node"] for side in (left, right))
    image = alignments.images[alignments.offsets[pair] : alignments.offsets[pair + 1]]
    return {ours[i]: theirs[j] for i, j in enumerate(image) if j >= 0}


def _matches(name: str, left: list[_Place], right: list[_Place], images: Mapping[str, _Image]) -> _Matches:
    """Return what matches in a facet: of triples as many as possible, of bags first what stands at aligned nodes."""
    drawn = _match_aligned(left, right, images["smatch"])
    if name in TRIPLES:  # among equally good alignments, the one that is drawn
        own = _match_aligned(left, right, images[name])
        return drawn if len(drawn) == len(own) else own
    rest = (
        [(place.key, place) for place, is_matched in _mark(side, [match[n] for match in drawn]) if not is_matched]
        for n, side in enumerate((left, right))
    )
    return drawn + _pair_off(*rest)


def _match_aligned(left: Sequence[_Place], right: Sequence[_Place], image: _Image) -> _Matches:
    return _pair_off(
        (((place.kind, place.key, tuple(map(image.get, place.nodes))), place) for place in left),
        (((place.kind, place.key, place.nodes), place) for place in right),
    )


def _pair_off(left: Iterable[tuple[Hashable, _Place]], right: Iterable[tuple[Hashable, _Place]]) -> _Matches:
    """Return pairs of places with equal keys, each place in at most one."""
    waiting: defaultdict[Hashable, list[_Place]] = defaultdict(list)
    for key, place in right:
        waiting[key].append(place)
    return [(place, waiting[key].pop(0)) for key, place in left if waiting[key]]


def _mark(places: Sequence[_Place], matched: Iterable[_Place]) -> Iterator[tuple[_Place, bool]]:
    """Yield each place with whether it is matched; a node may be in a bag twice, and matched once."""
    left = Counter(matched)
    for place in places:
        yield place, left[place] > 0
        left[place] -= 1


def _facet(
    name: str, score: float | None, graphs: tuple[AmrGraph, AmrGraph], sides: Sequence[list[_Place]], matches: _Matches
) -> FacetMatch:
    if name in TRIPLES:
        score = float(f1(np.array([[len(matches), len(sides[0]), len(sides[1])]], float))[0])
    items = [
        tuple(_item(graph, place, matched=is_matched) for place, is_matched in _mark(side, [m[n] for m in matches]))
        for n, (graph, side) in enumerate(zip(graphs, sides, strict=True))
    ]
    return FacetMatch(name, score, len(matches) if name in TRIPLES or name in BAGS else None, *items)


def _item(graph: AmrGraph, place: _Place, *, matched: bool) -> Item:
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
