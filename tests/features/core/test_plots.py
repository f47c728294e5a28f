"""Plots with two axes: round ticks, marks where the values are, text that stays text."""

import re

import pytest

from features.core.pages.plots import Axis, bars, draw_plot

HOSTILE = "<script>alert('x')</script> & \"quotes\""
SQUARE = (Axis("x", 0, 10), Axis("y", 0, 10))


def drawn(style, plot):
    """Return the points of each path of a kind, in percent from the left and from the top."""
    paths = re.findall(rf'<path class="{style}"[^>]* d="([^"]*)"', plot)
    return [[tuple(map(float, point.split())) for point in re.findall(r"[\d.-]+ [\d.-]+", path)] for path in paths]


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 1, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0, 1, 3, ["0.0", "0.5", "1.0"]),
        (-0.1, 1.08, 3, ["0.0", "0.5", "1.0"]),
        (-1, 1, 3, ["−1", "0", "1"]),
        (0, 100, 5, ["0", "20", "40", "60", "80", "100"]),
        (0.3, 0.6, 3, ["0.3", "0.4", "0.5", "0.6"]),  # 0.3 / 0.1 is less than 3
        (1.2e-5, 4.4e-5, 4, ["0.00002", "0.00003", "0.00004"]),
        (0, 30_000, 3, ["0", "10,000", "20,000", "30,000"]),
    ],
)
def test_ticks_are_round_and_within_the_axis(low, high, most, ticks):
    axis = Axis("", low, high, most)
    assert list(axis.ticks.values()) == ticks
    assert all(-1e-6 <= axis.at(tick) <= 100 + 1e-6 for tick in axis.ticks)


@pytest.mark.parametrize(
    "values",
    [
        [0.43, 0.61],
        [0.437],
        [0.4],
        [0.43276706790505337, 0.4327670679050534],
        [0],
        [-3.0, -3.0],
        [200, 5000],
        [1e-9, 2e-9],
    ],
)
def test_an_axis_over_values_holds_them_between_a_first_and_a_last_tick(values):
    axis = Axis.over("", values)
    ticks = list(axis.ticks)
    assert (ticks[0], ticks[-1]) == pytest.approx((axis.low, axis.high))
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert 2 <= len(ticks) <= 8


def test_marks_lie_where_their_values_are():
    plot = draw_plot(
        "two",
        *SQUARE,
        boxes={0.25: bars([0, 5, 10], [0, 4]), 1.0: [(0, 0, 1, 1)]},
        guide=[(0, 0), (10, 10)],
        lines=[[(0, 0), (5, 2.5), (10, 10)], []],
        dots=[(5, 2.5, 7.5)],
    )
    assert re.findall(r'<path class="box" fill-opacity="([^"]*)" d="([^"]*)"', plot) == [
        ("0.25", "M50 100H100V60H50z"),
        ("1", "M0 100H10V90H0z"),
    ]
    assert drawn("guide", plot) == [[(0, 100), (100, 0)]]
    assert drawn("a", plot) == [[(0, 100), (50, 75), (100, 0)], [(50, 75)]]
    assert 'style="stroke-width:7.5px"' in plot
    assert drawn("b", plot) == []
    assert "keys" not in plot


def test_a_line_of_one_point_is_a_dot_and_the_second_line_stays_the_second():
    plot = draw_plot("two", *SQUARE, lines=[[], [(5, 5)]], names=["one", "other"])
    assert '<path class="b one" d="M50 50h0"/>' in plot
    assert re.findall(r'<path class="(\w)" d="M1 9h22"/></svg> (\w+)', plot) == [("a", "one"), ("b", "other")]


def test_names_stay_text():
    plot = draw_plot(HOSTILE, Axis(HOSTILE, 0, 1), Axis(HOSTILE, 0, 1), lines=[[(0, 0), (1, 1)]], names=[HOSTILE])
    assert plot.count("&lt;script&gt;") == 4
    assert "<script" not in plot
    assert '"quotes"' not in plot
