"""Sets that both encoders scored: aligned by their sentences, scored on any part, whatever the suite."""

import numpy as np
import pytest
from scipy import stats
from sentences import refused
from sklearn.metrics import roc_auc_score

from features.core.faults import ScoredDifferently
from features.metrics.bootstrap import Bootstrap
from training.differences.shared import shared_sets

DRAWS = Bootstrap(resamples=50)
RATED = [("a", "b", 1.0, 0.1), ("c", "d", 2.0, 0.4), ("c", "d", 3.0, 0.2), ("e", "f", 4.0, 0.9)]
JUDGED = [("a", "b", 1, 0.9), ("c", "d", 0, 0.9), ("e", "f", 1, 0.3), ("g", "h", 0, 0.2)]


def test_pairs_are_aligned_by_their_sentences_and_a_pair_that_a_set_has_twice_is_two(evaluated):
    # The two pairs (c, d) of RATED keep their order.
    other = [("x", "y", 0.0, 0.0), RATED[3], RATED[1], RATED[2], RATED[0]]
    shuffled = [(a, b, people, score + 1) for a, b, people, score in other]
    (found,) = shared_sets([evaluated("one", RATED, JUDGED)], [evaluated("two", shuffled)])
    assert (found.suite, found.scored.name, found.is_judged) == ("Similarity against human ratings", "sts", False)
    assert found.texts == [("a", "b"), ("c", "d"), ("c", "d"), ("e", "f")]
    assert found.expected.tolist() == [1, 2, 3, 4]
    assert found.scored.predicted == pytest.approx(np.array([[0.1, 1.1], [0.4, 1.4], [0.2, 1.2], [0.9, 1.9]]))


def test_judged_pairs_without_any_threshold_are_shared_and_scored_by_auroc_on_any_part(evaluated):
    worse = [(a, b, label, 1 - score) for a, b, label, score in JUDGED]
    sides = [evaluated("one", (), JUDGED, scored_by="classifier")], [evaluated("two", (), worse)]
    (found,) = shared_sets(*sides)
    assert found.is_judged
    assert found.scales == ("probability", "cosine")
    score = found.score(np.arange(4), DRAWS)
    assert score.a == pytest.approx(roc_auc_score([1, 0, 1, 0], [0.9, 0.9, 0.3, 0.2]))
    assert (score.pairs, score.b) == (4, pytest.approx(1 - score.a))
    # A positive and a negative with the same score: half. Two negatives: nothing to say.
    assert found.score(np.array([0, 1]), DRAWS).a == 0.5
    nothing = found.score(np.array([1, 3]), DRAWS)
    assert (nothing.a, nothing.b, nothing.difference) == (None, None, None)


def test_judged_pairs_that_are_also_rated_by_their_labels_are_there_once(evaluated):
    sides = [[evaluated(name, [(a, b, float(label), s) for a, b, label, s in JUDGED], JUDGED)] for name in "ab"]
    assert [found.scored.name for found in shared_sets(*sides)] == ["paws"]
    finer = [(a, b, label + n / 8, s) for n, (a, b, label, s) in enumerate(JUDGED)]
    sides = [[evaluated(name, finer, JUDGED)] for name in "cd"]
    assert [found.scored.name for found in shared_sets(*sides)] == ["sts", "paws"]
    sides = [[evaluated(name, [(a, "z", float(label), s) for a, _, label, s in JUDGED], JUDGED)] for name in "ef"]
    assert [found.scored.name for found in shared_sets(*sides)] == ["sts", "paws"], "of other pairs"


def test_several_runs_of_a_side_count_by_their_mean(evaluated):
    random = np.random.default_rng(0)
    people = random.random(40)
    runs = []
    for name, noise in (("a0", 1.0), ("a1", 2.0), ("b0", 0.1)):
        said = people + noise * random.normal(size=40)
        runs.append(evaluated(name, [(f"t{n}", "u", *both) for n, both in enumerate(zip(people, said, strict=True))]))
    (found,) = shared_sets(runs[:2], runs[2:])
    rows = np.arange(10, 40)
    expected = [stats.spearmanr(people[rows], column[rows]).statistic for column in found.scored.predicted.T]
    score = found.score(rows, DRAWS)
    assert (score.a, score.b) == pytest.approx((np.mean(expected[:2]), expected[2]))
    assert score.difference.verdict == "above"
    assert score.difference.low < score.b - score.a < score.difference.high


def test_other_pairs_are_no_shared_set_and_other_ratings_are_refused(evaluated):
    one = evaluated("one", RATED)
    assert shared_sets([one], [evaluated("other", [("x", "y", 1.0, 1.0)])]) == []
    both = [[evaluated(name, rated, JUDGED)] for name, rated in (("c", RATED), ("d", [("x", "y", 1.0, 1.0)]))]
    assert [found.scored.name for found in shared_sets(*both)] == ["paws"]
    changed = [(a, b, people + 1, score) for a, b, people, score in RATED]
    with refused(ScoredDifferently):
        shared_sets([one], [evaluated("changed", changed)])
