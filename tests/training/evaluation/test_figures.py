"""Figures of the report: what they say that they show, and as many marks as there are values."""

import re

import numpy as np
import polars as pl
import pytest

from training.evaluation.figures import (
    draw_course,
    draw_distribution,
    draw_precision,
    draw_prediction,
    draw_reliability,
)

HISTORY = [{"step": step, "loss": 0.4 + step / 1000, "average_precision": 0.9 - step / 1000} for step in (100, 200)]
BOX = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H[\d.]+z")


def ticks(plot, side):
    return re.findall(rf'<span style="{side}:[\d.]+%">([^<]+)</span>', plot)


def line(plot, style):
    """Return the points of the line of a kind, in percent from the left and from the top."""
    path = re.search(rf'<path class="{style}" d="M([^"h]+)"', plot)[1]
    return [tuple(map(float, point.split())) for point in path.split("L")]


def boxes(plot):
    """Return opacity → left, bottom, right and top of its boxes, in percent from the left and from the top."""
    paths = re.findall(r'<path class="box" fill-opacity="([\d.]+)" d="([^"]+)"', plot)
    return {float(opacity): [tuple(map(float, box)) for box in BOX.findall(path)] for opacity, path in paths}


def pairs(measured, predicted):
    return pl.DataFrame({"own<b>_measured": measured, "own<b>_predicted": predicted})


def test_predictions_are_squares_that_are_fuller_for_more_pairs():
    plot = draw_prediction(pairs([0.0, 0.5, 0.5, 0.5, 1.0], [0.01, 0.51, 0.51, 0.52, 0.99]), "own<b>")
    assert 'aria-label="own&lt;b&gt;: predicted against measured values"' in plot
    assert boxes(plot)[1.0] == [(50, 50, 55, 45)]
    (faint,) = (squares for opacity, squares in boxes(plot).items() if opacity < 1)
    assert faint == [(0, 100, 5, 95), (95, 5, 100, 0)]
    assert line(plot, "guide") == [(0, 100), (100, 0)]
    assert ticks(plot, "left") == ticks(plot, "bottom") == ["0.0", "0.5", "1.0"]


def test_predictions_beyond_the_range_of_a_metric_are_shown():
    plot = draw_prediction(pairs([-1.0, 1.0], [-1.5, 1.5]), "own<b>")
    assert [square for squares in boxes(plot).values() for square in squares] == [(0, 100, 5, 95), (95, 5, 100, 0)]
    assert ticks(plot, "left") == ["−1", "0", "1"]
    assert line(plot, "guide") == [(0, 83.33), (100, 16.67)]


def test_a_distribution_is_in_percent_of_the_pairs():
    plot = draw_distribution(pairs([0.02, 0.98, 1.0, 1.0], [0.0] * 4), "own<b>")
    assert boxes(plot) == {1.0: [(0, 100, 5, 75), (95, 100, 100, 25)]}
    assert ticks(plot, "bottom") == ["0", "50", "100"]
    assert "↑ % of pairs" in plot


def test_precision_has_a_line_for_each_model_and_names_them():
    recall = np.array([0.1, 0.5, 1.0])
    plot = draw_precision({"encoder": (recall, np.ones(3)), "start model": (recall, recall)}, "a & b")
    assert 'aria-label="a &amp; b: precision over recall of encoder and start model"' in plot
    assert line(plot, "a") == [(10, 0), (50, 0), (100, 0)]
    assert line(plot, "b") == [(10, 90), (50, 50), (100, 0)]
    assert re.findall(r"</svg> ([^<]+)</span>", plot) == ["encoder", "start model"]


def test_reliability_has_a_point_for_each_bin_larger_with_more_pairs():
    bins = [{"said": 0.25, "so": 0.5, "pairs": 9}, {"said": 0.75, "so": 1.0, "pairs": 16}]
    plot = draw_reliability(bins, "tweets")
    assert line(plot, "a") == [(25, 50), (75, 0)]
    assert re.findall(r'stroke-width:([\d.]+)px" d="M([^"]+)h0"', plot) == [("10", "25 50"), ("12", "75 0")]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"chosen_by": "average_precision"}, "dev average precision"),
        ({"chosen_by": "loss"}, "dev loss"),
        ({}, "dev loss"),
        ({"chosen_by": "stsb-dev", "ratings": "stsb-dev"}, "Spearman with stsb-dev"),
    ],
)
def test_the_course_of_a_training_shows_the_score_that_chose_the_model(options, shown):
    plot = draw_course(HISTORY, 200, **options)
    assert f"{shown} over the steps of the training" in plot
    assert f"↑ {shown}</div>" in plot


def test_the_course_of_a_score_rises_or_falls_with_it_and_marks_the_kept_model():
    losses, precision = (draw_course(HISTORY, 200, chosen_by=by) for by in ("loss", "average_precision"))
    assert line(losses, "a") == [(0, 100), (100, 0)]
    assert line(precision, "a") == [(0, 0), (100, 100)]
    assert line(losses, "guide") == [(100, 100), (100, 0)]
    assert losses.count("stroke-width:5px") == 2
