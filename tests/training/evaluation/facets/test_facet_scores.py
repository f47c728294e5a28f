"""Baselines of facets, and scores of facets against them, on data with known results."""

import numpy as np
import pytest

from features.metrics.bootstrap import Bootstrap
from training.encoders.s3bert.facets import plan_layout
from training.evaluation.bootstrap import in_groups
from training.evaluation.facets.scoring import assigned_membership, count_verdicts, random_memberships, score_facets
from training.similarity import spearman_matrix


def test_random_partitions_are_seeded_and_overlap_nowhere():
    first, second = random_memberships(dimension=10, n_facets=3, width=3, draws=2, seed=4)
    for membership in (first, second):
        assert membership.sum(axis=0).tolist() == [3, 3, 3]
        assert membership.sum(axis=1).max() == 1
    assert not np.array_equal(first, second)
    again = random_memberships(dimension=10, n_facets=3, width=3, draws=2, seed=4)
    np.testing.assert_array_equal(first, again[0])


def test_the_integer_programme_finds_the_dimensions_that_carry_a_metric():
    random = np.random.default_rng(0)
    left, right = random.standard_normal((2, 300, 6)).astype(np.float32)
    products = left * right
    metrics = np.stack([products[:, 1] + products[:, 4], products[:, 2], random.random(300)], axis=1)
    membership = assigned_membership(left, right, metrics.astype(np.float32))
    assert membership[[1, 4], 0].tolist() == [1, 1]
    assert membership[2, 1] == 1
    assert (membership.sum(axis=1) <= 1).all()
    assert (membership.sum(axis=0) >= 1).all()


def test_the_integer_programme_is_optimal():
    """Eq. 5 to 7 by trying every assignment."""
    random = np.random.default_rng(1)
    left, right, metrics = (random.standard_normal((40, n)).astype(np.float32) for n in (4, 4, 2))
    weights = spearman_matrix(left * right, metrics)
    best = max(
        sum(weights[i, j] for i, j in enumerate(choice) if j < 2)
        for choice in np.ndindex(3, 3, 3, 3)
        if {0, 1} <= set(choice)
    )
    assert (assigned_membership(left, right, metrics) * weights).sum() == pytest.approx(best)


def test_facets_that_carry_their_metric_score_one_and_random_ones_less():
    random = np.random.default_rng(0)
    layout = plan_layout(["a", "b"], width=4, dimension=8)
    left, right = random.standard_normal((2, 200, 8)).astype(np.float32)
    metrics = layout.similarities(left, right).astype(np.float32)
    rows = score_facets(
        layout.similarities(left, right),
        (left, right),
        metrics,
        layout,
        bundled={},
        fitting=None,
        bootstrap=in_groups(Bootstrap(200), range(200)),
    )
    for row in rows:
        assert row["encoder"] == pytest.approx(1)
        assert row["encoder_interval"] == pytest.approx({"low": 1, "high": 1})
        assert row["differences"]["full"]["verdict"] == row["differences"]["random"]["verdict"] == "above"
        assert row["differences"]["assigned"] is None
        assert row["random"] is not None
        assert row["full"] is not None
        assert row["random"] < 0.9
        assert row["full"] < 0.9
        assert row["assigned"] is None
    assert count_verdicts(rows, "full") == {"above": 2, "below": 0, "unclear": 0}
    assert not any(count_verdicts(rows, "assigned").values())  # a score that is undefined is not unclear
