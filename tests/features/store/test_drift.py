"""Drift of a metric: distances as scipy computes them, and words that match them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ks_2samp

from features.store.drift import compare_values

samples = arrays(np.float64, st.integers(2, 40), elements=st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]))


@given(samples, samples)
def test_the_distance_is_that_of_scipy(old, new):
    assert compare_values("smatch", old, new).distance == pytest.approx(ks_2samp(old, new, method="asymp").statistic)


@given(samples)
def test_equal_samples_do_not_drift(values):
    drift = compare_values("smatch", values, values)
    assert (drift.distance, drift.transport, drift.size) == (0.0, 0.0, "none")
    assert drift.old == drift.new


@pytest.mark.parametrize(
    ("shift", "size"), [(0.003, "within chance"), (0.03, "small"), (0.07, "moderate"), (0.2, "large")]
)
def test_a_word_says_how_large_a_drift_is(shift, size):
    values = np.linspace(0, 1, 20_000)
    drift = compare_values("smatch", values, values + shift)
    assert drift.size == size
    assert drift.transport == pytest.approx(shift)


def test_few_rows_cannot_tell():
    values = np.linspace(0, 1, 50)
    drift = compare_values("smatch", values, values + 0.2)
    assert drift.distance == pytest.approx(0.2)
    assert drift.size == "within chance"
    assert (drift.old.rows, drift.new.rows) == (50, 50)
    assert drift.old.quantiles == pytest.approx((0.05, 0.25, 0.5, 0.75, 0.95))
    assert (drift.old.mean, drift.old.deviation) == pytest.approx((0.5, np.std(values)))


def test_the_last_digit_of_values_that_many_pairs_have_is_no_drift():
    values = np.repeat([0.0, 1.0], 500)
    drift = compare_values("smatch", values, values * (1 - 1e-12))
    assert (drift.size, drift.distance, drift.transport) == ("none", 0.0, 0.0)


def test_shares_count_the_rows_of_both_releases_in_equal_parts_of_one_range():
    values = np.repeat([0.0, 0.5, 1.0], [10, 20, 70])
    drift = compare_values("smatch", values, values / 2)
    assert drift.range == (0, 1)
    assert {place: share for place, share in enumerate(drift.old.shares) if share} == {0: 0.1, 12: 0.2, 24: 0.7}
    assert {place: share for place, share in enumerate(drift.new.shares) if share} == {0: 0.1, 6: 0.2, 12: 0.7}


@pytest.mark.parametrize(("old", "new", "expected"), [([3.0], [-2.0], (-2, 3)), ([7.0], [7.0], (6.5, 7.5))])
def test_the_range_of_a_metric_that_leaves_the_unit_interval_holds_all_its_values(old, new, expected):
    drift = compare_values("own", np.array(old), np.array(new))
    assert drift.range == expected
    assert sum(drift.old.shares) == sum(drift.new.shares) == 1
