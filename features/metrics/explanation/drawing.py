"""Two graphs as SVG, in one file or separately for a page: matches in one colour, the rest in another.

    2 ← the same number on both sides: these nodes correspond in the best alignment
    ┌────────────┐
    │  want-01   │   border and name: the concept matches or does not
    │ polarity - │   each constant separately
    └────────────┘
        │ ARG0       each relation separately

The text takes the colour of the page, boxes are a tint of their border, and the colours of a dark page are lighter.
Long names are wrapped. Nothing is fetched from anywhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from features.core.pages import render
from features.metrics.explanation.layout import Layout, lay_out
from features.metrics.explanation.pair import GraphPair, Item
from features.metrics.focus import NODES
from features.metrics.overlap import BAGS
from features.metrics.registry import METRICS
from features.metrics.triples import TRIPLES

_FIRST = "smatch"  # facet whose matches are coloured until another is chosen
_RISE, _LINE, _PAD = 52.0, 16.0, 8.0
_BETWEEN, _MARGIN = 48.0, 14.0
_WIDEST = 1040.0  # graphs of wider pairs are stacked
_LONGEST = 210.0  # longer names are wrapped
_SMALLEST = 0.7  # smallest scale of a drawing on a page; beyond that it scrolls
_NARROW = frozenset("iljtfrI.,:;'|()[]-! ")
_WIDE = frozenset("mwMWQOGD@%&")

_PARTS = re.compile(r"[^-_/. ]*[-_/. ]?")

Element = tuple[str, int]  # kind and index, as in `Item`


def draw_pair(pair: GraphPair, titles: tuple[str, str]) -> Markup:
    """Return a drawing of a pair as a file of its own, with its style, its key and its namespace inside.

    The matches of Smatch are coloured; above each graph stands its title, such as its sentence, perhaps empty.
    """
    left, right = (_Side(pair, side, _FIRST, title) for side, title in enumerate(titles))
    if left.width + right.width + _BETWEEN <= _WIDEST:
        for side in (left, right):
            side.make_room(max(len(left.title), len(right.title)))
        x, y = _MARGIN + left.width + _BETWEEN, _MARGIN
    else:
        x, y = _MARGIN, _MARGIN + left.height + _BETWEEN / 2
    return render(
        "features.metrics.explanation/graphs.html",
        label=f"Two graphs: {titles[0]} | {titles[1]}" if any(titles) else "Two graphs",
        sides=[(_MARGIN, _MARGIN, left), (x, y, right)],
        width=max(_MARGIN + left.width, x + right.width, 460.0 - _MARGIN) + _MARGIN,
        height=max(_MARGIN + left.height, y + right.height) + _MARGIN + 22,
        facet=next(each for each in pair.facets if each.name == _FIRST),
        alone=True,
    )


def draw_sides(pair: GraphPair, titles: tuple[str, str], facet: str = _FIRST) -> list[Markup]:
    """Return a drawing of each graph to embed in a page, which explains the colours.

    Every element has the classes `y-<facet>` or `x-<facet>` of all facets that read it, and `y` or `x` for one of them.
    Nodes have the attribute `data-link`, as in `links_of`. The titles are for readers who cannot see the graphs.
    """
    return [
        render(
            "features.metrics.explanation/graphs.html",
            label=f"Graph of: {title}" if title else "Graph",
            sides=[(_MARGIN, 0.0, side)],
            width=side.width + 2 * _MARGIN,
            height=side.height + _MARGIN,
            least=_SMALLEST * side.width,
            alone=False,
        )
        for side, title in zip((_Side(pair, number, facet) for number in (0, 1)), titles, strict=True)
    ]


def links_of(pair: GraphPair) -> tuple[list[str], list[str]]:
    """Return a name for each node of both graphs, equal for the two of an aligned pair."""
    left = [f"a{node}" for node in range(len(pair.left.concepts))]
    right = [f"b{node}" for node in range(len(pair.right.concepts))]
    for a, b in pair.alignment:
        right[b] = left[a]
    return left, right


def _classes(facets: Iterable[tuple[str, Sequence[Item]]], shown: str) -> dict[Element, str]:
    """Return the classes of each element that any facet reads."""
    matched: dict[Element, dict[str, bool]] = {}
    for name, items in facets:
        for item in items:
            by_facet = matched.setdefault((item.kind, item.index), {})
            by_facet[name] = by_facet.get(name, True) and item.matched
    classes = {}
    for element, by_facet in matched.items():
        chosen = ["xy"[by_facet[shown]]] if shown in by_facet else []
        classes[element] = " ".join(chosen + [f"{'xy'[match]}-{name}" for name, match in by_facet.items()])
    return classes


class _Side:
    """The first or the second graph of a pair, drawn below a title; the matches of one facet are coloured."""

    def __init__(self, pair: GraphPair, side: int, facet: str, title: str = "") -> None:
        self.graph = graph = (pair.left, pair.right)[side]
        self.links = links_of(pair)[side]
        self.classes = _classes(((each.name, (each.left, each.right)[side]) for each in pair.facets), facet)
        self.numbers = {ends[side]: number for number, ends in enumerate(pair.alignment, start=1)}
        self.names = [fold_label(concept, _LONGEST, 13 * 1.1) for concept in graph.concepts]
        self.lines: list[list[tuple[Element, str]]] = [[] for _ in graph.concepts]
        for index, (node, role, value) in enumerate(graph.attributes):
            parts = fold_label(f"{role} {value}", _LONGEST, 11.5)
            self.lines[node] += [(("attribute", index), part) for part in parts]
        self.edges: list[tuple[int, int, int]] = []
        for index, (source, role, target) in enumerate(graph.relations):
            if source == target:
                self.lines[source].append((("relation", index), f"{role} ↺"))
            else:
                self.edges.append((index, source, target))
        self.sizes = [self._size(node) for node in range(len(graph.concepts))]
        # Above its target, a label is a third of the way to the other edges of the source: it takes more room.
        roles = [1.35 * text_width(graph.relations[index][1], 11) for index, _, _ in self.edges]
        self.layout: Layout = lay_out(self.sizes, [(source, target) for _, source, target in self.edges], roles, _RISE)
        lines = fold_label(title, max(self.layout.width, 270.0), 13)
        self.title = [line.strip() for line in lines if line.strip()]
        self.width = max([self.layout.width, *(text_width(line, 13) for line in self.title)])
        self.make_room(len(self.title))

    def make_room(self, lines: int) -> None:
        """Start the graph below this many lines of title."""
        self.top = 18.0 * lines + (26 if lines else 16)
        self.height = self.top + self.layout.height

    def _size(self, node: int) -> tuple[float, float]:
        widths = [text_width(name, 13 * 1.1) for name in self.names[node]]  # it is bold
        widths += [text_width(text, 11.5) for _, text in self.lines[node]]
        return max(widths) + 2 * _PAD, 27 + _LINE * (len(self.names[node]) + len(self.lines[node]) - 1)

    def boxes(self) -> Iterator[dict[str, Any]]:
        """Yield the nodes, each with its lines of text."""
        for node, ((x, y), (width, height)) in enumerate(zip(self.layout.centres, self.sizes, strict=True)):
            lines = [(self._class("node", node, "concept"), name) for name in self.names[node]]
            lines += [(self._class(*element, "constant"), text) for element, text in self.lines[node]]
            yield {
                "classes": self._class("node", node),
                "x": x,
                "y": y,
                "width": width,
                "height": height,
                "lines": lines,
                "root": self.classes.get(("root", node)),
                "number": self.numbers.get(node),
                "link": self.links[node],
            }

    def arrows(self) -> Iterator[tuple[str, str, str]]:
        """Yield the edges: classes, path, points of the tip."""
        for at, (index, _, _) in enumerate(self.edges):
            points = self._points(at)
            (x, y), sign = points[-1], 1 if points[-2][1] < points[-1][1] else -1
            points[-1] = (x, y - 6 * sign)
            path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
            for (ax, ay), (bx, by) in pairwise(points):
                bend = (by - ay) / 2
                path += f"C{ax:.1f} {ay + bend:.1f} {bx:.1f} {by - bend:.1f} {bx:.1f} {by:.1f}"
            tip = f"{x:.1f},{y:.1f} {x - 4:.1f},{y - 7 * sign:.1f} {x + 4:.1f},{y - 7 * sign:.1f}"
            yield self._class("relation", index), path, tip

    def roles(self) -> Iterator[tuple[str, float, float, str]]:
        """Yield the labels of the edges, placed so that none covers another: classes, x, y, text."""
        placed: list[tuple[float, float, float]] = []
        for at, (index, _, _) in enumerate(self.edges):
            role = self.graph.relations[index][1]
            width = text_width(role, 11)
            candidates = self._label_places(at)
            free = (
                (x, y)
                for x, y in candidates
                if all(abs(x - left) > (width + w) / 2 or abs(y - top) > 11 for left, top, w in placed)
            )
            x, y = next(free, candidates[0])
            placed.append((x, y, width))
            yield self._class("relation", index, "role"), x, y + 4, role

    def _class(self, kind: str, index: int, *more: str) -> str:
        return " ".join([*more, self.classes.get((kind, index), "")]).strip()

    def _points(self, at: int) -> list[tuple[float, float]]:
        """Return the points that an edge passes, from the side of its source to the side of its target."""
        _, source, target = self.edges[at]
        (sx, sy), (tx, ty) = self.layout.centres[source], self.layout.centres[target]
        down = sy < ty
        start = (sx, sy + self.sizes[source][1] if down else sy)
        end = (tx + self._port(at), ty if down else ty + self.sizes[target][1])
        return [start, *self.layout.ways[at], end]

    def _port(self, at: int) -> float:
        """Return how far from the middle an edge arrives: edges into one node arrive side by side."""
        target = self.edges[at][2]
        into = [other for other, edge in enumerate(self.edges) if edge[2] == target]
        came = {o: (self.layout.ways[o] or [self.layout.centres[self.edges[o][1]]])[-1][0] for o in into}
        into.sort(key=lambda other: came[other])
        step = min(22.0, (self.sizes[target][0] - 16) / max(1, len(into)))
        return (into.index(at) - (len(into) - 1) / 2) * step

    def _label_places(self, at: int) -> list[tuple[float, float]]:
        """Return the possible places of an edge's label, the best one first."""
        ways = self.layout.ways[at]
        if ways:
            return ways[len(ways) // 2 :]
        (ax, ay), (bx, by) = self._points(at)
        # On the curve, nearer to the target, where the edges of a node are further apart.
        return [
            (ax + (bx - ax) * (3 * t**2 - 2 * t**3), ay + (by - ay) * (1.5 * t * (1 - t) + t**3))
            for t in (0.6, 0.42, 0.75, 0.3)
        ]


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in pixels; no font metrics are available."""
    return size * sum(_width_of(sign) for sign in text)


def _width_of(sign: str) -> float:
    if sign in _NARROW:
        return 0.38
    if sign in _WIDE or ord(sign) > 0x2E7F:  # from there on: Chinese, Japanese, Korean
        return 1.0
    return 0.7 if sign.isupper() else 0.63


def fold_label(text: str, width: float, size: float) -> list[str]:
    """Return a name or a title as lines of at most `width` pixels, broken after a separator if there is one."""
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and text_width(lines[-1] + part, size) > width:
            lines.append("")
        for sign in part:
            if lines[-1] and text_width(lines[-1] + sign, size) > width:
                lines.append("")
            lines[-1] += sign
    return lines


def facet_rules() -> Markup:
    """Return the rules that colour the chosen facet in all pairs of a page."""
    drawn = {name: metric.question for name, metric in METRICS.items() if name in {*TRIPLES, *BAGS, *NODES}}
    return render("features.metrics.explanation/facets.css", questions=drawn, first=_FIRST)


def show_pair(pair: GraphPair, titles: tuple[str, str], name: str) -> Markup:
    """Return the drawings of a pair and its facets as HTML; the page needs `facet_rules` once.

    Above each graph is its title; the name, letters and digits, is unique to the pair within the page.
    """
    drawn = [facet for facet in pair.facets if facet.left or facet.right]
    return render(
        "features.metrics.explanation/pair.html",
        name=name,
        first=_FIRST,
        facets=drawn,
        others=[facet for facet in pair.facets if facet not in drawn and facet.score is not None],
        questions={facet.name: METRICS[facet.name].question for facet in drawn},
        sides=list(zip(titles, draw_sides(pair, titles), strict=True)),
        proven=pair.proven,
    )
