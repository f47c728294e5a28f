"""Scores of items that are positive or not, against scikit-learn; draws are scores of the drawn items."""

import numpy as np
import polars as pl
import pytest
from sentences import refused
from sklearn.metrics import f1_score

from features.core.faults import NoScores
from features.metrics.bootstrap import Bootstrap
from training.evaluation.items import ItemScores, align, read_sets


def items(name, predicted, scored_by="f1", order=None):
    places = list(range(len(predicted))) if order is None else order
    expected = np.array([1.0, 1, 0, 0, 1, 0, 1, 0, 0, 1])
    return ItemScores(
        name,
        [f"pair {place}" for place in places],
        np.array(predicted, float)[places],
        expected[places],
        scored_by=scored_by,
    )


FIRST, SECOND = [1, 1, 0, 0, 1, 0, 0, 1, 0, 0], [1, 0, 1, 1, 1, 1, 1, 1, 1, 1]


def test_f1_of_items_is_that_of_scikit_learn_whatever_their_order_and_so_is_that_of_a_draw():
    aligned = align([items("one", FIRST), items("one", SECOND, order=[3, 1, 4, 0, 5, 9, 2, 6, 8, 7])])
    expected = [1, 1, 0, 0, 1, 0, 1, 0, 0, 1]
    assert aligned.scores().tolist() == pytest.approx([f1_score(expected, FIRST), f1_score(expected, SECOND)])
    bootstrap = Bootstrap(20, 3)
    draws = aligned.draw(bootstrap).draws
    for drawn, times in zip(draws, bootstrap.of("\n".join(aligned.items)).draws(10), strict=True):
        every = np.repeat(np.arange(10), times)
        scored = [f1_score(np.array(expected)[every], np.array(of)[every]) for of in (FIRST, SECOND)]
        assert drawn.tolist() == pytest.approx(scored)


def test_f1_of_items_of_which_none_is_positive_or_called_so_is_undefined():
    nothing = ItemScores("none", ["a", "b"], np.zeros(2), np.zeros(2), scored_by="f1")
    assert np.isnan(align([nothing]).scores()).all()


def test_only_what_expects_nothing_has_the_interval_of_a_mean():
    values = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    drawn = align([ItemScores("accuracy", ["a", "b"], right, groups=["same"] * 2) for right in values]).draw(
        Bootstrap(5)
    )
    assert (drawn.mean, drawn.differ) == (True, 1)
    assert not align([items("one", FIRST), items("one", SECOND)]).draw(Bootstrap(5)).mean


def test_common_items_keep_their_groups_whatever_their_order():
    first, second = (ItemScores("s", [*"abc"][::step], np.arange(3.0), groups=[*"xyz"][::step]) for step in (1, -1))
    assert align([first, second]).groups == [*"xyz"]


def test_each_pair_of_a_set_is_an_item_of_its_own(tmp_path):
    rows = {"set": ["one"] * 4, "text_a": ["a", "ab", "a", "a"], "text_b": ["bc", "c", "bc", None]}
    pl.DataFrame(rows).write_parquet(file := tmp_path / "items.parquet")
    ((_, items),) = read_sets(file, ["one", "of no item"])
    assert items["item"].n_unique() == 4
    with refused(NoScores):
        list(read_sets(file, ["one"], "predicted"))
