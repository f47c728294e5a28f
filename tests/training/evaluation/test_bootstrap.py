"""Intervals of correlations against scipy, and the conclusions they allow."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from features.metrics.corpus_scores import Bootstrap
from training.evaluation.bootstrap import FEWEST, compare, draw_spearman, interval

random = np.random.default_rng(0)
METRIC = random.integers(0, 4, 40).astype(np.float32)
GOOD = METRIC + random.normal(size=40)
NOISE = random.normal(size=40)
BOOTSTRAP = Bootstrap(300, seed=5)


def test_every_draw_is_scipys_spearman_of_the_pairs_that_were_drawn():
    found = draw_spearman(np.stack([GOOD, np.round(NOISE)], axis=1), METRIC, BOOTSTRAP)
    draws = np.random.default_rng(5)
    for row in found[:20]:
        rows = draws.integers(40, size=40)
        expected = [spearmanr(column[rows], METRIC[rows]).statistic for column in (GOOD, np.round(NOISE))]
        assert row.tolist() == pytest.approx(expected)


def test_draws_are_the_same_in_every_call_and_others_with_another_seed():
    one = draw_spearman(GOOD[:, None], METRIC, BOOTSTRAP)
    assert np.array_equal(one, draw_spearman(np.stack([GOOD, NOISE], axis=1), METRIC, BOOTSTRAP)[:, :1])
    assert not np.array_equal(one, draw_spearman(GOOD[:, None], METRIC, Bootstrap(300, seed=6)))


def test_an_interval_holds_the_middle_95_per_cent():
    found = interval(np.arange(1001) / 1000, Bootstrap(1001))
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))


def test_what_carries_the_metric_is_above_noise_and_noise_below_it():
    good, noise = draw_spearman(np.stack([GOOD, NOISE], axis=1), METRIC, BOOTSTRAP).T
    assert compare(good, noise, BOOTSTRAP).verdict == "above"
    assert compare(noise, good, BOOTSTRAP).verdict == "below"
    assert compare(good, good, BOOTSTRAP).verdict == "unclear"


def test_chance_is_rarely_taken_for_a_difference():
    verdicts = []
    for seed in range(40):
        chance = np.random.default_rng(seed).normal(size=(60, 3))
        one, other = draw_spearman(chance[:, :2], chance[:, 2], Bootstrap(200, seed)).T
        verdicts.append(compare(one, other, Bootstrap(200, seed)).verdict)
    assert verdicts.count("unclear") >= 34


def test_a_metric_that_differs_in_one_pair_says_nothing():
    metric = np.ones(40, np.float32)
    draws = draw_spearman(GOOD[:, None], metric, BOOTSTRAP)[:, 0]
    assert np.isnan(draws).all()
    metric[3] = 0
    draws = draw_spearman(GOOD[:, None], metric, BOOTSTRAP)[:, 0]
    assert 0.2 < np.isnan(draws).mean() < 0.6
    assert interval(draws, BOOTSTRAP) is None
    assert compare(draws, draws - 1, BOOTSTRAP) is None


def test_one_pair_has_no_draws():
    assert np.isnan(draw_spearman(np.ones((1, 2)), np.ones(1), BOOTSTRAP)).all()


def test_the_interval_of_a_mean_of_few_items_is_as_wide_as_students():
    random = np.random.default_rng(0)
    bootstrap = Bootstrap(400)
    for items in (FEWEST, 10, 30):
        verdicts = []
        for _ in range(400):  # differences of two encoders that are equally good
            differences = random.normal(size=items)
            drawn = np.stack([times @ differences / items for times in bootstrap.draws(items)])
            verdicts.append(compare(drawn, np.zeros_like(drawn), bootstrap, items).verdict)
        assert verdicts.count("unclear") / len(verdicts) == pytest.approx(0.95, abs=0.035)  # 0.83 for six otherwise


def test_a_mean_of_very_few_items_has_no_interval():
    draws = np.ones(1000)  # of a single query: every draw is the same
    assert interval(draws, Bootstrap(), FEWEST - 1) is None
    assert compare(draws, np.zeros(1000), Bootstrap(), 1) is None
    assert interval(draws, Bootstrap(), FEWEST) is not None
