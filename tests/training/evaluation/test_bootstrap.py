"""Intervals of correlations against scipy, and the conclusions they allow."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from features.metrics.bootstrap import FEWEST, Bootstrap
from training.evaluation.bootstrap import (
    Drawn,
    compare,
    correlate,
    differing,
    draw_means,
    draw_right,
    draw_spearman,
    in_groups,
    interval,
)

PAIRS = 40
random = np.random.default_rng(0)
METRIC = random.integers(0, 4, 40).astype(np.float32)
GOOD = METRIC + random.normal(size=40)
NOISE = random.normal(size=40)
BOOTSTRAP = Bootstrap(300, seed=5)
EACH = in_groups(BOOTSTRAP, range(PAIRS))


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
    found = interval(np.arange(1001) / 1000, in_groups(Bootstrap(1001), range(PAIRS)))
    assert tuple(found.values()) == pytest.approx((0.025, 0.975))


def test_what_carries_the_metric_is_above_noise_and_noise_below_it():
    good, noise = draw_spearman(np.stack([GOOD, NOISE], axis=1), METRIC, BOOTSTRAP).T
    assert compare(good, noise, EACH).verdict == "above"
    assert compare(noise, good, EACH).verdict == "below"
    assert compare(good, good, EACH).verdict == "unclear"


def test_chance_is_rarely_taken_for_a_difference():
    verdicts = []
    for seed in range(40):
        chance = np.random.default_rng(seed).normal(size=(60, 3))
        drawn = correlate(chance[:, :2], chance[:, 2], in_groups(Bootstrap(200, seed), range(60)))
        verdicts.append(drawn.difference().verdict)
    assert verdicts.count("unclear") >= 34


def test_a_metric_that_differs_in_one_pair_says_nothing():
    metric = np.ones(40, np.float32)
    draws = draw_spearman(GOOD[:, None], metric, BOOTSTRAP)[:, 0]
    assert np.isnan(draws).all()
    metric[3] = 0
    draws = draw_spearman(GOOD[:, None], metric, BOOTSTRAP)[:, 0]
    assert 0.2 < np.isnan(draws).mean() < 0.6
    assert interval(draws, EACH) is None
    assert compare(draws, draws - 1, EACH) is None


def test_one_pair_has_no_draws():
    assert np.isnan(draw_spearman(np.ones((1, 2)), np.ones(1), BOOTSTRAP)).all()


@pytest.mark.soak
def test_the_interval_of_a_mean_of_few_items_is_as_wide_as_students():
    random = np.random.default_rng(0)
    for items in (FEWEST, 10, 30):
        bootstrap, verdicts = in_groups(Bootstrap(400), range(items)), []
        for _ in range(400):  # differences of two encoders that are equally good
            differences = random.normal(size=items)
            drawn = draw_means(differences[:, None], bootstrap)[:, 0]
            verdicts.append(compare(drawn, np.zeros_like(drawn), bootstrap, mean=True).verdict)
        assert verdicts.count("unclear") / len(verdicts) == pytest.approx(0.95, abs=0.035)  # 0.83 for six otherwise


def test_a_mean_of_very_few_items_has_no_interval():
    draws = np.ones(1000)  # of a single query: every draw is the same
    for mean in (True, False):
        assert interval(draws, in_groups(Bootstrap(), range(FEWEST - 1)), mean=mean) is None
        assert compare(draws, np.zeros(1000), in_groups(Bootstrap(), range(1)), mean=mean) is None
        assert interval(draws, in_groups(Bootstrap(), range(FEWEST)), mean=mean) is not None


def test_items_of_a_group_are_drawn_together():
    bootstrap = in_groups(Bootstrap(200), ["b", "a", "b", "c"])
    draws = np.array(list(bootstrap.draws(4)))
    assert bootstrap.count == 3
    assert (draws[:, 0] == draws[:, 2]).all()
    assert (draws[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_groups_of_one_change_no_draw():
    alone = in_groups(BOOTSTRAP.of("sts"), [f"premise {number}" for number in range(PAIRS)])
    np.testing.assert_array_equal(list(alone.draws(PAIRS)), list(BOOTSTRAP.of("sts").draws(PAIRS)))
    np.testing.assert_array_equal(
        draw_spearman(GOOD[:, None], METRIC, alone), draw_spearman(GOOD[:, None], METRIC, BOOTSTRAP.of("sts"))
    )


def test_equally_good_encoders_stay_so_on_pairs_that_agree_within_a_group():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 3)
    found = {"groups": 0, "pairs": 0}
    for _ in range(200):
        # Both are right about half of the premises, and then about all three hypotheses.
        right = random.integers(2, size=(60, 2))[groups].astype(np.float64)
        for name, drawn_together in (("groups", groups.tolist()), ("pairs", range(180))):
            bootstrap = in_groups(Bootstrap(200), drawn_together)
            draws = draw_means(right, bootstrap)
            found[name] += compare(draws[:, 0], draws[:, 1], bootstrap, mean=True).verdict != "unclear"
    assert found["groups"] / 200 == pytest.approx(0.05, abs=0.04)
    assert found["pairs"] / 200 > 0.15


@pytest.mark.parametrize(("better", "verdict"), [(4, "unclear"), (FEWEST - 1, "unclear"), (FEWEST, "above")])
def test_a_few_items_that_differ_among_many_that_do_not_could_be_chance(better, verdict):
    right = np.zeros((200, 2))
    right[:better, 0] = 1
    bootstrap = in_groups(Bootstrap(), range(200))
    drawn = draw_means(right, bootstrap)
    differ = differing(right[:, 0], right[:, 1])
    assert differ == better
    found = compare(drawn[:, 0], drawn[:, 1], bootstrap, mean=True, differ=differ)
    assert found.verdict == verdict
    assert (found.low <= 0) is (verdict == "unclear")
    assert compare(drawn[:, 1], drawn[:, 0], bootstrap, mean=True, differ=differ).high == -found.low


def test_items_of_a_group_that_differ_count_once():
    assert differing(np.arange(6), np.array([9, 9, 2, 9, 4, 9]), ["a", "a", "a", "b", "b", "c"]) == 3
    assert differing(np.array([True, False]), np.array([True, True])) == 1


@pytest.mark.parametrize(("wrong", "verdict"), [(2, "unclear"), (4, "above")])
def test_the_mean_of_sets_is_told_apart_where_models_differ_in_six_items_of_all_sets_together(wrong, verdict):
    right = np.stack([np.ones(30), np.arange(30) >= wrong], axis=1)
    sets = [draw_right(right, range(30), Bootstrap(300).of(name)) for name in "ab"]
    assert Drawn.average(sets).difference().verdict == verdict
    assert Drawn.average([sets[0], replace(sets[1], differ=None)]).differ is None  # in how many is not known
    assert Drawn(sets[0].scores[:1], sets[0].draws, EACH).paired()["start"] is None
