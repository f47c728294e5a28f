"""Two graphs as SVG, in one file or separately for a page: matches in one colour, the rest in another.

    2 ← the same number on both sides: these nodes correspond in the best alignment
    ┌────────────┐
    │  want-01   │   border and name: the concept matches or does not
    │ polarity - │   each constant separately
    └────────────┘
        │ ARG0       each relation separately

The text takes the colour of the page, boxes are a tint of their border, and the colours of a dark page are lighter.
Long names are wrapped. Every text is escaped; nothing is fetched from anywhere.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from markupsafe import Markup

from features.core.pages import render
from features.graphs.graph import AmrGraph
from features.metrics.explanation.layout import Layout, lay_out
from features.metrics.explanation.pair import FacetMatch, GraphPair, Item

_ALONE = "svg.amr { color-scheme: light dark; color: CanvasText; }\n"
_RISE, _LINE, _PAD = 52.0, 16.0, 8.0
_BETWEEN, _MARGIN = 48.0, 14.0
_WIDEST = 1040.0  # graphs of wider pairs are stacked
_LONGEST = 210.0  # longer names are wrapped
_SMALLEST = 0.7  # smallest scale of a drawing on a page; beyond that it scrolls
_NARROW = frozenset("iljtfrI.,:;'|()[]-! ")
_WIDE = frozenset("mwMWQOGD@%&")

_PARTS = re.compile(r"[^-_/. ]*[-_/. ]?")

Element = tuple[str, int]
"""Kind and index, as in `Item`."""


def drawing_rules() -> Markup:
    """Return the style of drawings, which is part of every page."""
    return render("features.core.pages/drawing.css")


def draw_pair(pair: GraphPair, titles: tuple[str, str] = ("", ""), facet: str = "smatch") -> str:
    """Return a drawing of a pair as a file of its own, with its style, its key and its namespace inside.

    Args:
        pair: the graphs with what matches.
        titles: title above each graph, such as its sentence.
        facet: the facet whose matches are coloured.
    """
    sides = _sides(pair, facet, titles)
    beside = sides[0].width + sides[1].width + _BETWEEN <= _WIDEST
    if beside:
        for side in sides:
            side.make_room(max(len(side.title) for side in sides))
    places = [(_MARGIN, _MARGIN), (_MARGIN + sides[0].width + _BETWEEN, _MARGIN)]
    if not beside:
        places[1] = (_MARGIN, _MARGIN + sides[0].height + _BETWEEN / 2)
    width = max(x + side.width for (x, _), side in zip(places, sides, strict=True)) + _MARGIN
    height = max(y + side.height for (_, y), side in zip(places, sides, strict=True)) + _MARGIN
    parts = [
        f'<g transform="translate({x:.1f} {y:.1f})">{side.draw()}</g>'
        for (x, y), side in zip(places, sides, strict=True)
    ]
    parts.append(_key(next(f for f in pair.facets if f.name == facet), height + 6))
    label = f"Two graphs: {titles[0]} | {titles[1]}" if any(titles) else "Two graphs"
    style = f"<style>{_ALONE}{drawing_rules()}</style>"
    return _svg(label, max(width, 460.0), height + 22, style + "".join(parts), 'xmlns="http://www.w3.org/2000/svg" ')


def draw_sides(pair: GraphPair, titles: tuple[str, str]) -> tuple[Markup, Markup]:
    """Return a drawing of each graph to embed in a page, which explains the colours.

    Every element has the classes `y-<facet>` or `x-<facet>` of all facets that read it, and `y` or `x` for Smatch.

    Args:
        pair: the graphs with what matches.
        titles: titles of the graphs, for readers who cannot see them.
    """
    left, right = (
        _svg(
            f"Graph of: {title}" if title else "Graph",
            side.width + 2 * _MARGIN,
            side.height + _MARGIN,
            f'<g transform="translate({_MARGIN:.1f} 0)">{side.draw()}</g>',
            f'style="min-width: {_SMALLEST * side.width:.0f}px" ',
        )
        for side, title in zip(_sides(pair, "smatch", ("", "")), titles, strict=True)
    )
    return Markup(left), Markup(right)  # noqa: S704  # escaped where they are drawn


def _sides(pair: GraphPair, facet: str, titles: tuple[str, str]) -> "tuple[_Side, _Side]":
    left = {a: number for number, (a, _) in enumerate(pair.alignment, start=1)}
    right = {b: number for number, (_, b) in enumerate(pair.alignment, start=1)}
    return (
        _Side(pair.left, _classes(((f.name, f.left) for f in pair.facets), facet), left, titles[0]),
        _Side(pair.right, _classes(((f.name, f.right) for f in pair.facets), facet), right, titles[1]),
    )


def _svg(label: str, width: float, height: float, content: str, attributes: str) -> str:
    return (
        f'<svg {attributes}class="amr" role="img" aria-label="{escape(label)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">{content}</svg>'
    )


def _classes(facets: Iterable[tuple[str, Sequence[Item]]], shown: str) -> dict[Element, str]:
    """Return the classes of each element that any facet reads."""
    matched: dict[Element, dict[str, bool]] = {}
    for name, items in facets:
        for item in items:
            of = matched.setdefault((item.kind, item.index), {})
            of[name] = of.get(name, True) and item.matched
    classes = {}
    for element, of in matched.items():
        names = [f"{'y' if found else 'x'}-{name}" for name, found in of.items()]
        classes[element] = " ".join((["y" if of[shown] else "x"] if shown in of else []) + names)
    return classes


def _key(facet: FacetMatch, y: float) -> str:
    score = "" if facet.score is None else f"{facet.name} {facet.score:.2f}"
    if facet.matched is not None:
        score += f": {facet.matched} of {len(facet.left)} | {facet.matched} of {len(facet.right)}"
    entries = ((_MARGIN, "y", "matched"), (_MARGIN + 80, "x", "not matched"))
    swatches = "".join(
        f'<rect class="{state}" x="{x}" y="{y:.0f}" width="14" height="10" rx="2"/>'
        f'<text class="key" x="{x + 20}" y="{y + 9:.0f}">{text}</text>'
        for x, state, text in entries
    )
    return f'{swatches}<text class="key" x="{_MARGIN + 190}" y="{y + 9:.0f}">{escape(score)}</text>'


class _Side:
    """One graph of a drawing.

    Args:
        graph: the graph.
        classes: classes of each element.
        numbers: number of each aligned node.
        title: title above it.
    """

    def __init__(self, graph: AmrGraph, classes: Mapping[Element, str], numbers: Mapping[int, int], title: str) -> None:
        self.graph = graph
        self.classes = classes
        self.numbers = numbers
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
        self.title = _wrap(title, max(self.layout.width, 270.0))
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

    def draw(self) -> str:
        """Return the title, the edges and the boxes, in this order."""
        parts = [
            f'<text class="title" x="0" y="{13 + 18 * line}">{escape(text)}</text>'
            for line, text in enumerate(self.title)
        ]
        offset = (self.width - self.layout.width) / 2
        parts.append(f'<g transform="translate({offset:.1f} {self.top:.1f})">')
        parts += [self._edge(at) for at in range(len(self.edges))]
        parts += self._roles()
        parts += [self._box(node) for node in range(len(self.graph.concepts))]
        return "".join(parts) + "</g>"

    def _class(self, kind: str, index: int, *more: str) -> str:
        return f'class="{" ".join([*more, self.classes.get((kind, index), "")]).strip()}"'

    def _box(self, node: int) -> str:
        (x, y), (width, height) = self.layout.centres[node], self.sizes[node]
        left = x - width / 2
        area = f'x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        parts = [f'<rect {self._class("node", node)} {area} rx="7"/>']
        lines = [(self._class("node", node, "concept"), name) for name in self.names[node]]
        lines += [(self._class(*element, "constant"), text) for element, text in self.lines[node]]
        parts += [
            f'<text {style} x="{x:.1f}" y="{y + 18 + _LINE * line:.1f}">{escape(text)}</text>'
            for line, (style, text) in enumerate(lines)
        ]
        if ("root", node) in self.classes:
            parts.append(f'<circle {self._class("root", node)} cx="{x:.1f}" cy="{y - 7:.1f}" r="3.5"/>')
        if node in self.numbers:
            parts.append(f'<text class="place" x="{left + 1:.1f}" y="{y - 4:.1f}">{self.numbers[node]}</text>')
        return "".join(parts)

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

    def _edge(self, at: int) -> str:
        points = self._points(at)
        (x, y), sign = points[-1], 1 if points[-2][1] < points[-1][1] else -1
        points[-1] = (x, y - 6 * sign)
        path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (ax, ay), (bx, by) in pairwise(points):
            bend = (by - ay) / 2
            path += f"C{ax:.1f} {ay + bend:.1f} {bx:.1f} {by - bend:.1f} {bx:.1f} {by:.1f}"
        index = self.edges[at][0]
        arrow = f"{x:.1f},{y:.1f} {x - 4:.1f},{y - 7 * sign:.1f} {x + 4:.1f},{y - 7 * sign:.1f}"
        style = self._class("relation", index)
        return f'<path {style} d="{path}"/><polygon {style} points="{arrow}"/>'

    def _roles(self) -> list[str]:
        """Return the labels of the edges, placed so that none covers another."""
        placed: list[tuple[float, float, float]] = []
        labels = []
        for at, (index, _, _) in enumerate(self.edges):
            role = self.graph.relations[index][1]
            width = text_width(role, 11)
            free = (
                place
                for place in self._label_places(at)
                if all(abs(place[0] - x) > (width + w) / 2 or abs(place[1] - y) > 11 for x, y, w in placed)
            )
            x, y = next(free, self._label_places(at)[0])
            placed.append((x, y, width))
            style = self._class("relation", index, "role")
            labels.append(f'<text {style} x="{x:.1f}" y="{y + 4:.1f}">{escape(role)}</text>')
        return labels

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
    """Return a name as lines of at most `width` pixels, broken after a separator if there is one."""
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and text_width(lines[-1] + part, size) > width:
            lines.append("")
        for sign in part:
            if lines[-1] and text_width(lines[-1] + sign, size) > width:
                lines.append("")
            lines[-1] += sign
    return lines


def _wrap(text: str, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, 13) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line for line in lines if line]
