"""A new encoder takes the place of the current one only if its scores hold."""

import pytest

from features.errors import InputError, ModelError
from training.evaluation.promotion import compare_scores, current_run, encoder_in_use, promote
from training.evaluation.settings import PromotionSettings
from training.runs import latest_encoder


def scores(ratings=None, facets=(0.6, 0.4), digest="same"):
    sets = [{"name": name, "pairs": 100, "encoder": value} for name, value in (ratings or {}).items()]
    rows = [{"name": f"facet{k}", "encoder": value} for k, value in enumerate(facets)]
    found = {"facets": {"data_digest": digest, "rows": rows}} | ({"ratings": {"sets": sets}} if sets else {})
    return {"format": 3, "suites": found}


LIMITS = PromotionSettings(ratings=1.0, facets=2.0)


@pytest.mark.parametrize(
    ("new", "holds"),
    [
        (scores({"sts": 0.80}), True),
        (scores({"sts": 0.79}), True),
        (scores({"sts": 0.7899}), False),
        (scores({"sts": 0.90}, facets=(0.6, 0.36)), True),
        (scores({"sts": 0.90}, facets=(0.6, 0.35)), False),
        (scores({"sts": 0.90}, facets=(0.7, 0.30)), True),
    ],
)
def test_scores_hold_within_the_limits(new, holds):
    assert compare_scores(new, scores({"sts": 0.80}), LIMITS).holds is holds


def test_the_reasons_say_what_was_lost():
    verdict = compare_scores(scores({"sts": 0.75}), scores({"sts": 0.80}), LIMITS)
    assert verdict.reasons == (
        "human ratings of sts 80.0 → 75.0, more than the 1 points allowed",
        "mean of 2 facets 50.0 → 50.0",
    )


def test_a_facet_that_one_of_them_cannot_score_is_left_out_on_both_sides():
    verdict = compare_scores(scores(facets=(0.6, None)), scores(facets=(0.6, 0.9)), LIMITS)
    assert verdict.reasons == ("mean of 1 facets 60.0 → 60.0",)


def test_without_a_score_in_common_nothing_is_promoted():
    assert not compare_scores(scores(facets=(None, 0.5)), scores(facets=(0.5, None)), LIMITS).holds


def test_scores_on_other_pairs_are_not_compared():
    with pytest.raises(InputError, match="different pairs"):
        compare_scores(scores(digest="a"), scores(digest="b"), LIMITS)


@pytest.fixture
def runs(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "encoder").mkdir(parents=True)
        (tmp_path / name / "encoder" / "facets.json").touch()
    return tmp_path


def test_the_current_run_is_replaced_in_one_step(runs):
    assert current_run(runs) is None
    promote(runs / "one")
    promote(runs / "two")
    assert current_run(runs) == runs / "two"
    assert sorted(path.name for path in runs.iterdir()) == ["current", "one", "two"]


def test_the_link_is_no_run_of_its_own(runs):
    promote(runs / "one")
    assert latest_encoder(runs).parent.name in {"one", "two"}


def test_the_promoted_encoder_is_the_one_in_use_and_without_one_the_newest(runs):
    import os

    os.utime(runs / "one" / "encoder" / "facets.json", (1, 1))
    assert encoder_in_use(runs) == runs / "two" / "encoder"
    promote(runs / "one")
    assert encoder_in_use(runs) == runs / "one" / "encoder"


def test_something_else_of_that_name_is_left_alone(runs):
    (runs / "current").mkdir()
    with pytest.raises(ModelError, match="is no link to a run"):
        promote(runs / "one")


def test_a_promoted_run_that_was_deleted_is_none(runs):
    import shutil

    promote(runs / "one")
    shutil.rmtree(runs / "one")
    assert current_run(runs) is None
