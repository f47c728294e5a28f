"""Calibration and reliability of a facet: monotone, within range, exact for equal sentences, cautious on few pairs."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import norm, spearmanr

from training.encoders.s3bert.calibration import LEAST_PAIRS, FacetCalibration, calibrate_facet, measure_reliability
from training.encoders.s3bert.facets import Facet, FacetLayout

values = st.floats(0, 1)
places = st.floats(-1, 1) | st.just(1.0) | st.sampled_from([0.5, 0.25])
pairs = st.lists(st.tuples(places, values), min_size=LEAST_PAIRS, max_size=40)


@given(pairs=pairs, asked=st.lists(st.floats(-3, 3), min_size=1, max_size=20))
def test_no_prediction_leaves_the_range_falls_or_misses_the_identity(pairs, asked):
    similarities, measured = np.array(pairs).T
    found = calibrate_facet(similarities, measured, 1.0)
    asked = np.sort(asked)
    predicted = found(asked)
    assert ((predicted >= 0) & (predicted <= 1)).all()
    assert (np.diff(predicted) >= 0).all()
    assert found(np.array([1.0, 1 - 1e-8, 1 + 1e-8])).tolist() == [1, 1, 1]


@given(pairs=pairs)
def test_a_metric_of_the_projects_own_stays_between_the_values_that_were_seen(pairs):
    similarities, measured = np.array(pairs).T
    predicted = calibrate_facet(similarities, measured * 2 - 1, None)(np.linspace(-2, 2, 41))
    assert predicted.min() >= (measured * 2 - 1).min() - 1e-6
    assert predicted.max() <= (measured * 2 - 1).max() + 1e-6


@given(pairs=pairs, scale=st.floats(0.1, 2), shift=st.floats(-1, 1))
def test_no_straight_line_that_rises_has_a_smaller_error_on_the_pairs_it_was_fitted_to(pairs, scale, shift):
    similarities, measured = np.array(pairs).T
    similarities, measured = similarities.round(6), measured.round(6)
    found = calibrate_facet(similarities, measured, None)
    error = np.abs(found(similarities) - measured).sum()
    assert error <= np.abs(scale * similarities + shift - measured).sum() + 1e-6


def test_levels_are_medians_of_what_would_fall():
    similarities = np.arange(10) / 10
    measured = np.array([0, 0, 0.4, 0.2, 0.3, 0.6, 0.6, 0.6, 1.0, 0.9])
    found = calibrate_facet(similarities, measured, 1.0)
    np.testing.assert_allclose(found(np.array([-1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1])),
                               [0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.95, 0.95, 1])  # fmt: skip


def test_a_constant_metric_is_predicted_as_it_is():
    found = calibrate_facet(np.linspace(-1, 0.9, 30), np.ones(30), 1.0)
    assert found(np.linspace(-2, 1, 9)).tolist() == [1] * 9


def test_manhattan_similarities_without_a_lowest_value_are_calibrated_too():
    similarities = 1 - np.geomspace(1, 500, 50)
    found = calibrate_facet(similarities, np.linspace(1, 0, 50), 1.0)
    assert found(np.array([-1e9])) == [0]
    assert found(np.array([1.0])) == [1]


def test_pairs_that_the_encoder_cannot_tell_apart_do_not_move_the_identity():
    similarities = np.append(np.linspace(0, 0.9, 20), [1.0] * 9)
    found = calibrate_facet(similarities, np.append(np.full(20, 0.5), np.zeros(9)), 1.0)
    assert found(np.array([0.9, 1.0])).tolist() == [0.5, 1]
    assert calibrate_facet(np.ones(LEAST_PAIRS), np.zeros(LEAST_PAIRS), 1.0).values == (1,)


def test_few_pairs_are_not_calibrated_and_not_reliable():
    similarities = np.linspace(0, 1, LEAST_PAIRS - 1)
    assert calibrate_facet(similarities, similarities, 1.0) is None
    found = measure_reliability(similarities, similarities)
    assert (found.pairs, found.spearman, found.low, found.is_clear) == (LEAST_PAIRS - 1, 1, None, False)


@pytest.mark.parametrize("knots", [((0.0, 0.0), (0.1, 0.2)), ((0.0, 1.0), (0.3, 0.2)), ((0.0,), (0.1, 0.2)), ((), ())])
def test_a_calibration_that_is_no_rising_map_is_refused(knots):
    with pytest.raises(ValidationError):
        FacetCalibration(similarities=knots[0], values=knots[1])


def test_the_interval_holds_the_correlation_of_the_population():
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        x = random.standard_normal(60)
        y = 0.5 * x + np.sqrt(0.75) * random.standard_normal(60)
        found = measure_reliability(x, y)
        inside += found.low <= 6 / np.pi * np.arcsin(0.25) <= found.high
    assert 0.92 <= inside / 400 <= 0.98


@pytest.mark.parametrize("slope", [-1.0, -0.5, 0.1, 0.9, 1.0])
def test_the_interval_is_that_of_bonett_and_wright(slope):
    x, noise = np.random.default_rng(1).standard_normal((2, 60))
    y = slope * x + np.sqrt(1 - slope**2) * noise
    correlation = spearmanr(x, y).statistic
    half = norm.ppf(0.975) * np.sqrt((1 + correlation**2 / 2) / 57)
    low, high = np.tanh(np.arctanh(0.999999 * correlation) + np.array([-half, half]))
    found = measure_reliability(x, y)
    assert [found.spearman, found.low, found.high] == pytest.approx([correlation, low, high], abs=1e-4)


def test_a_facet_that_follows_nothing_is_seldom_called_reliable_though_most_pairs_agree():
    random = np.random.default_rng(0)
    clear = 0
    for _ in range(400):
        measured = (random.random(200) < 0.9).astype(float)
        clear += measure_reliability(random.random(200), measured).is_clear
    assert clear / 400 <= 0.05


def test_a_constant_metric_has_no_correlation_and_is_not_reliable():
    found = measure_reliability(np.linspace(0, 1, 50), np.ones(50))
    assert (found.spearman, found.is_clear) == (None, False)


def test_a_layout_is_calibrated_saved_and_loaded(tmp_path):
    layout = FacetLayout(
        dimension=2, facets=(Facet(name="smatch", start=0, stop=1, slope=1.3), Facet(name="own", start=1, stop=2))
    )
    random = np.random.default_rng(0)
    similarities = random.random((40, 2))
    found = layout.calibrated(similarities, np.column_stack([similarities[:, 0] ** 2, random.random(40)]))
    (tmp_path / "facets.json").write_text(found.text())
    assert FacetLayout.load(tmp_path) == found
    assert json.loads((tmp_path / "facets.json").read_text())["format"] == 2
    assert found.lacks == ""
    assert [facet.is_clear for facet in found.facets] == [True, False]
    assert found.predictions(np.ones((1, 2)))[0, 0] == 1
    assert found.scaled(np.ones((1, 2)))[0, 0] == 1.3
    assert len(found.facets[0].usual) == 41
