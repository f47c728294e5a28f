import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import TooFewTexts, UnknownName, WrongValue
from features.metrics.bootstrap import FEWEST, Bootstrap
from features.metrics.corpus_scores import as_table, choose_metrics, score_corpus
from features.metrics.registry import METRICS

counts = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)).map(lambda c: (c[0], c[0] + c[1], c[0] + c[2])),
    min_size=1,
    max_size=12,
)


def scored(rows, **bootstrap):
    return score_corpus(METRICS, {"concepts": np.array(rows, float)}, Bootstrap(**bootstrap))[0]


def test_numbers_are_made_of_sums():
    score = scored([(5, 6, 6), (2, 6, 4)])
    assert score.precision.value == pytest.approx(7 / 10)
    assert score.recall.value == pytest.approx(7 / 12)
    assert score.f1.value == pytest.approx(14 / 22)
    assert score.macro_f1.value == pytest.approx((10 / 12 + 4 / 10) / 2)


@given(counts)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(rows):
    score = scored(rows, resamples=0)
    precision, recall = score.precision.value, score.recall.value
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert score.f1.value == pytest.approx(expected)


@given(counts, st.integers(0, 3))
def test_intervals_hold_their_order_and_stay_in_range(rows, seed):
    score = scored(rows * FEWEST, resamples=30, seed=seed)
    for estimate in (score.precision, score.recall, score.f1, score.macro_f1):
        assert -1e-12 <= estimate.low <= estimate.high <= 1 + 1e-12


def test_where_no_side_has_anything_both_agree_and_where_one_has_not_nothing_is_found():
    assert scored([(0, 0, 0)]).f1.value == scored([(0, 0, 0)]).precision.value == 1.0
    for nothing in (scored([(0, 3, 0)]), scored([(0, 0, 3)])):
        assert (nothing.precision.value, nothing.recall.value, nothing.f1.value) == (0.0, 0.0, 0.0)


def test_a_seed_fixes_the_interval_and_pairs_that_are_all_alike_have_none():
    rows = np.random.default_rng(7).integers(0, 4, (50, 1)) + np.array([[0, 4, 5]])
    one, same, other = scored(rows, seed=1), scored(rows, seed=1), scored(rows, seed=2)
    assert one == same
    assert one.f1.low != other.f1.low
    alike = scored([(3, 4, 6)] * 20)
    for estimate, value in ((alike.precision, 1 / 2), (alike.recall, 3 / 4), (alike.f1, 3 / 5)):
        assert estimate.low == pytest.approx(estimate.high) == pytest.approx(value)


@pytest.mark.parametrize(("pairs", "known"), [(1, False), (FEWEST - 1, False), (FEWEST, True)])
def test_a_few_pairs_have_no_interval(pairs, known):
    score = scored([(3, 4, 4)] * pairs)
    assert [estimate.low is not None for estimate in (score.precision, score.f1, score.macro_f1)] == [known] * 3
    assert ("bootstrap:" in score.signature) is known


def test_the_interval_is_as_wide_as_theory_says():
    """Of 400 pairs with one item a side, of which 30 % match: a binomial share."""
    rows = [(int(number < 120), 1, 1) for number in range(400)]
    f1 = scored(rows, resamples=4000).f1
    margin = 1.96 * np.sqrt(0.3 * 0.7 / 400)
    assert f1.high - f1.low == pytest.approx(2 * margin, rel=0.1)


def test_all_metrics_see_the_same_draws():
    rows = np.random.default_rng(3).integers(0, 4, (30, 1)) + np.array([[0, 4, 4]])
    both = score_corpus(METRICS, {"concepts": rows.astype(float), "frames": rows.astype(float)}, Bootstrap())
    assert both[0].f1 == both[1].f1


def test_what_makes_no_sense_is_refused():
    with refused(TooFewTexts):
        score_corpus(METRICS, {"concepts": np.empty((0, 3))}, Bootstrap())
    with refused(WrongValue):
        Bootstrap(resamples=-1)
    with refused(WrongValue):
        Bootstrap(confidence=1.0)
    with refused(UnknownName):
        choose_metrics(["smatch", "wlk"])


def test_metrics_that_count_are_known_by_their_statistics():
    assert set(choose_metrics([])).isdisjoint({"wlk", "wwlk", "root", "max_degree"})
    assert tuple(choose_metrics(["srl", "smatch", "srl"])) == ("srl", "smatch")


def test_the_table_has_every_number_and_the_signature_says_how():
    six = {"concepts": np.array([(1.0, 2, 2)] * 6)}
    table = as_table(score_corpus(METRICS, six, Bootstrap(10, 5), {"wiki": "kept"}))
    assert table.row(0, named=True)["f1"] == 0.5
    assert table["signature"][0].endswith("|pairs:6|wiki:kept|bootstrap:10|seed:5")
    without = as_table(score_corpus(METRICS, six, Bootstrap(0)))
    assert without["f1_low"][0] is None
    assert without.schema == table.schema
