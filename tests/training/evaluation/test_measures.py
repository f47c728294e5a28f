"""Measures of judged pairs against scikit-learn, and by hand; thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, matthews_corrcoef, roc_auc_score

from features.metrics.bootstrap import Bootstrap
from training.evaluation.measures import MEASURES, Scored
from training.thresholds import best_f1

judged = st.lists(st.tuples(st.booleans(), st.sampled_from((-0.5, 0.0, 0.1, 0.3, 0.7, 0.9))), min_size=2, max_size=40)
"""Judgement and score of some pairs; few scores, so that there are ties."""
of_both_labels = judged.filter(lambda pairs: len({positive for positive, _ in pairs}) == 2)


def scored(pairs, threshold=0.3):
    positive, scores = zip(*pairs, strict=True)
    return Scored(np.array(positive), np.array(scores, dtype=np.float64), threshold)


@given(of_both_labels, st.sampled_from((-1.0, 0.1, 0.3, 0.5, 2.0)))
def test_the_measures_are_those_of_scikit_learn_with_ties_too(pairs, threshold):
    found = scored(pairs, threshold)
    called = found.scores >= threshold
    assert np.array_equal(found.predicted, called)
    assert found.measure() == pytest.approx(
        {
            "accuracy": accuracy_score(found.positive, called),
            "f1": f1_score(found.positive, called, zero_division=0.0),
            "average_precision": average_precision_score(found.positive, found.scores),
            "mcc": matthews_corrcoef(found.positive, called),
            "auroc": roc_auc_score(found.positive, found.scores),
        }
    )


@given(of_both_labels)
def test_a_draw_is_measured_as_the_pairs_that_it_drew(pairs):
    found, bootstrap = scored(pairs), Bootstrap(5, 7)
    draws = found.draw(bootstrap)
    assert all(draws[name].shape == (5,) for name in MEASURES)
    for number, times in enumerate(bootstrap.draws(len(pairs))):
        drawn = Scored(np.repeat(found.positive, times), np.repeat(found.scores, times), found.threshold).measure()
        measured = [np.nan if drawn[name] is None else drawn[name] for name in MEASURES]
        assert [draws[name][number] for name in MEASURES] == pytest.approx(measured, nan_ok=True)


@given(of_both_labels, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(pairs, random):
    mixed = list(pairs)
    random.shuffle(mixed)
    assert scored(pairs).measure() == pytest.approx(scored(mixed).measure())
    assert best_f1(*_arrays(pairs)) == best_f1(*_arrays(mixed))


def test_the_measures_of_five_pairs_are_those_counted_by_hand():
    # 3 positives; called: two of them and one other. Ranks of the positives: 1, 3, 5.
    found = scored([(True, 0.9), (False, 0.8), (True, 0.7), (False, 0.2), (True, 0.1)], 0.5).measure()
    assert found["accuracy"] == pytest.approx(3 / 5)
    assert found["f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert found["average_precision"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert found["auroc"] == pytest.approx((2 + 1 + 0) / 6)
    assert found["mcc"] == pytest.approx((2 * 1 - 1 * 1) / (3 * 3 * 2 * 2) ** 0.5)


def test_what_one_label_alone_cannot_say_is_undefined():
    positives = scored([(True, 0.9), (True, 0.1)]).measure()
    assert positives == {
        "accuracy": 0.5,
        "f1": pytest.approx(2 / 3),
        "average_precision": None,
        "mcc": None,
        "auroc": None,
    }
    negatives = scored([(False, 0.2), (False, 0.1)]).measure()
    assert negatives["f1"] is None  # there is nothing to find, and nothing was said to be found
    assert negatives["accuracy"] == 1


def test_without_a_threshold_only_the_order_is_measured():
    found = scored([(True, 0.9), (False, 0.1)], None).measure()
    assert {name for name in MEASURES if found[name] is None} == {"accuracy", "f1", "mcc"}
    assert found["auroc"] == found["average_precision"] == 1


def _arrays(pairs):
    positive, scores = zip(*pairs, strict=True)
    return np.array(positive), np.array(scores, dtype=np.float64)


@given(judged.filter(lambda pairs: any(positive for positive, _ in pairs)))
def test_no_threshold_has_a_higher_f1_than_the_chosen_one_and_none_as_good_is_higher(pairs):
    positive, scores = _arrays(pairs)
    chosen = best_f1(positive, scores)

    def f1(threshold):
        called = scores >= threshold
        return 2 * (called & positive).sum() / (called.sum() + positive.sum())

    best, others = f1(chosen), {each: f1(each) for each in (*scores, 2.0)}
    assert best == pytest.approx(max(others.values()))
    lowest = min(scores[scores >= chosen])
    assert all(reached < best for each, reached in others.items() if each > lowest)


def test_a_threshold_lies_halfway_between_two_scores():
    assert best_f1(*_arrays([(True, 0.9), (True, 0.5), (False, 0.3), (False, 0.1)])) == pytest.approx(0.4)
    assert best_f1(*_arrays([(True, 0.9), (True, 0.5)])) == 0.5  # there is nothing below
    almost = np.nextafter(0.5, 1)
    assert best_f1(*_arrays([(True, almost), (False, 0.5)])) == almost  # nothing lies between the two
