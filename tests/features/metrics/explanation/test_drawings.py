"""Drawings: nothing overlaps, edges lead down, nothing is missing, and every text is escaped."""

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.graphs.graph import AmrGraph, decode
from features.metrics.explanation.drawing import draw_pair, draw_sides, facet_rules, fold_label, show_pair, text_width
from features.metrics.explanation.layout import GAP, lay_out
from features.metrics.explanation.pair import explain_graphs
from features.metrics.registry import METRICS

WANT = "(w / want-01 :ARG0 (b / boy :quant 2) :ARG1 (s / sleep-01 :ARG0 b :polarity -))"
GIRL = "(w / want-01 :ARG0 (g / girl :quant 2) :ARG1 (s / sleep-01 :ARG0 g))"
HOSTILE = '<script>alert(1)</script> & "quotes"'

quick = settings(suppress_health_check=list(HealthCheck))


def explained(left, right):
    return explain_graphs([(decode(left), decode(right))])[0]


def parse(svg):
    return ET.fromstring(svg)  # noqa: S314  # our own drawing


@st.composite
def boxes_and_edges(draw):
    n = draw(st.integers(1, 14))
    sizes = draw(st.lists(st.tuples(st.integers(20, 120), st.integers(20, 60)), min_size=n, max_size=n))
    nodes = st.integers(0, n - 1)
    edges = [(draw(st.integers(0, i - 1)), i) for i in range(1, n)]
    edges += draw(st.lists(st.tuples(nodes, nodes).filter(lambda e: e[0] != e[1]), max_size=6)) if n > 1 else []
    return sizes, edges


@quick
@given(boxes_and_edges())
def test_boxes_do_not_overlap_and_lie_within(drawn):
    sizes, edges = drawn
    layout = lay_out(sizes, edges, [30.0] * len(edges), 50.0)
    areas = [
        (x - width / 2, y, x + width / 2, y + height)
        for (x, y), (width, height) in zip(layout.centres, sizes, strict=True)
    ]
    for one, other in combinations(areas, 2):
        apart = one[2] <= other[0] + 1e-6 or other[2] <= one[0] + 1e-6
        assert apart or one[3] <= other[1] + 1e-6 or other[3] <= one[1] + 1e-6
    for left, top, right, bottom in areas:
        assert min(left, top) >= -1e-6
        assert right <= layout.width + 1e-6
        assert bottom <= layout.height + 1e-6


@quick
@given(boxes_and_edges())
def test_edges_lead_down_where_there_is_no_cycle(drawn):
    sizes, edges = drawn
    forward = [(min(edge), max(edge)) for edge in edges]
    layout = lay_out(sizes, forward, [30.0] * len(edges), 50.0)
    for (source, target), ways in zip(forward, layout.ways, strict=True):
        heights = [layout.centres[source][1], *(y for _, y in ways), layout.centres[target][1]]
        assert heights == sorted(heights)
        assert len(set(heights)) == len(heights)


def test_neighbours_keep_the_gap_and_a_parent_stands_over_its_children():
    layout = lay_out([(40, 20)] * 4, [(0, 1), (0, 2), (0, 3)], [20.0] * 3, 50.0)
    xs = [x for x, _ in layout.centres]
    assert xs[2] - xs[1] == pytest.approx(40 + GAP) == pytest.approx(xs[3] - xs[2])
    assert xs[0] == pytest.approx(xs[2])


def test_crossings_that_need_not_be_are_none():
    layout = lay_out([(40, 20)] * 5, [(0, 1), (0, 2), (1, 4), (2, 3)], [20.0] * 4, 50.0)
    one, two, three, four = (layout.centres[node][0] for node in (1, 2, 3, 4))
    assert (one < two) == (four < three)


@quick
@given(data=st.data())
def test_every_part_of_a_graph_is_drawn(data, graph_pairs):
    pairs = data.draw(graph_pairs)
    for pair in explain_graphs(pairs):
        for svg in (draw_pair(pair, ("", "")), f"<g>{''.join(draw_sides(pair, ('', '')))}</g>"):
            texts = [element.text for element in parse(svg).iter() if element.text]
            for graph in (pair.left, pair.right):
                for concept in graph.concepts:
                    texts.remove(concept)
                for _, role, value in graph.attributes:
                    texts.remove(f"{role} {value}")
                for source, role, target in graph.relations:
                    texts.remove(f"{role} ↺" if source == target else role)


def test_a_drawing_of_its_own_is_a_whole_file_that_fetches_nothing():
    svg = draw_pair(explained(WANT, GIRL), ("Two boys want not to sleep.", "Two girls want to sleep."))
    root = parse(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert re.search(r"smatch 0\.\d\d: (\d+) of \d+ \| \1 of \d+", svg)
    assert svg.count("http") == 1  # the namespace
    assert "<style>" in svg


def test_colours_follow_the_facet():
    pair = explained(WANT, GIRL)

    def classes(svg, tag, text):
        (found,) = [e.get("class") for e in parse(svg).iter() if e.tag.endswith(tag) and e.text == text]
        return found.split()

    svg = draw_pair(pair, ("", ""))
    assert classes(svg, "text", "boy")[:2] == ["concept", "x"]
    assert "y" in [c for e in parse(svg).iter() if e.text == "want-01" for c in e.get("class").split()]
    assert classes(svg, "text", "polarity -") == ["constant", "x", "x-smatch", "x-unlabeled"]
    negations = f"<g>{''.join(draw_sides(pair, ('', ''), 'negations'))}</g>"
    assert {"y", "x"}.isdisjoint(classes(negations, "text", "boy"))
    assert "x" in [c for e in parse(negations).iter() if e.text == "sleep-01" for c in e.get("class").split()]


def test_texts_are_escaped():
    graph = AmrGraph([HOSTILE, "boy"], [(0, HOSTILE, HOSTILE)], [(0, HOSTILE, 1)])
    (pair,) = explain_graphs([(graph, graph)])
    for html in (draw_pair(pair, (HOSTILE, HOSTILE)), show_pair(pair, (HOSTILE, HOSTILE), "p1")):
        assert "<script" not in html
        assert "alert(1)&lt;/script&gt;" in html
    parse(draw_pair(pair, (HOSTILE, HOSTILE)))


def test_wide_pairs_stand_below_each_other():
    wide = AmrGraph(["and"] + ["a-rather-long-concept-01"] * 6, [], [(0, f"op{i}", i) for i in range(1, 7)])
    pair, narrow = explain_graphs([(wide, wide), (decode(WANT), decode(GIRL))])

    def tops(svg):
        return [float(y) for y in re.findall(r'<g transform="translate\([\d.]+ ([\d.]+)\)"><text class="title"', svg)]

    above, below = tops(draw_pair(pair, ("a", "b")))
    assert below > above
    assert len(set(tops(draw_pair(narrow, ("a", "b"))))) == 1


def test_a_legend_lets_choose_every_facet_that_reads_something():
    pair = explained(WANT, GIRL)
    html = show_pair(pair, ("a", "b"), "p1")
    chosen = re.findall(r'<input type="radio" name="p1" id="p1-(\w+)"', html)
    assert chosen == [facet.name for facet in pair.facets if facet.left or facet.right]
    assert html.count(" checked ") == 1
    assert 'id="p1-smatch" checked' in html
    assert all(f".c-{name}:checked" in facet_rules() for name in chosen)
    assert all(f'for="p1-{name}" class="l-{name}" title="{METRICS[name].question}"' in html for name in chosen)
    assert "Not drawn: named_entities 1.00, wlk " in html
    assert "proven to be optimal" in html
    assert "<script" not in facet_rules() + html


def test_a_long_name_goes_over_several_lines_that_lose_nothing():
    for name in ("a-rather-long-concept-" * 9 + "01", "x" * 300, 'wiki "New York"', ""):
        lines = fold_label(name, 210, 13)
        assert "".join(lines) == name
        assert all(text_width(line, 13) <= 210 for line in lines)
    assert fold_label("have-org-role-91", 210, 13) == ["have-org-role-91"]
    assert len(fold_label("a-" * 40, 210, 13)) < 6


def test_many_children_go_below_each_other_instead_of_ever_further_to_the_side():
    star = lay_out([(100, 30)] * 50, [(0, n) for n in range(1, 50)], [20.0] * 49, 50.0)
    assert len({y for _, y in star.centres}) > 3
    assert star.width < 49 * (100 + GAP) * 0.8


def test_an_edge_across_half_of_a_deep_graph_passes_no_points():
    chain = [(n, n + 1) for n in range(59)]
    layout = lay_out([(40, 20)] * 60, [*chain, (0, 15), (0, 59)], [20.0] * 61, 50.0)
    assert [len(way) for way in layout.ways[-2:]] == [14, 0]  # hundreds of such edges would pass a hundred thousand


def test_wider_texts_are_wider():
    assert text_width("boy", 13) < text_width("boys", 13) < text_width("mobs", 13)
    assert text_width("猫", 13) > text_width("c", 13)
