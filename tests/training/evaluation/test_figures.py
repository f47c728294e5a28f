"""Figures of the report: what they say that they show."""

import re

import pytest

from training.evaluation.figures import draw_course

HISTORY = [{"step": step, "loss": 0.4 + step / 1000, "average_precision": 0.9 - step / 1000} for step in (100, 200)]


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
    assert f"{shown} over the steps of the training" in draw_course(HISTORY, 200, **options)


def test_the_course_of_another_score_is_another_line():
    lines = [
        re.findall(r'<path d="([^"]+)"', draw_course(HISTORY, 200, chosen_by=by))
        for by in ("loss", "average_precision")
    ]
    assert lines[0] != lines[1]
