"""A new encoder replaces the current one only if its scores hold."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import RunGone, RunNotWritten, ScoredDifferently
from training.evaluation.promotion import (
    GoneRun,
    compare_scores,
    current_run,
    current_runs,
    encoder_in_use,
    encoder_in_use_with,
    gone_runs,
    on_same_pairs,
    promote,
    refusal,
)
from training.evaluation.settings import PromotionSettings
from training.runs import all_runs, find_encoder


def scores(ratings=None, facets=(0.6, 0.4), digest="same"):
    sets = [{"name": name, "pairs": 100, "encoder": value} for name, value in (ratings or {}).items()]
    rows = [{"name": f"facet{k}", "encoder": value} for k, value in enumerate(facets)]
    found = {"facets": {"data": digest, "rows": rows}} | (
        {"ratings": {"rows": sets, "data": [*ratings]}} if sets else {}
    )
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
        "human ratings of sts 80.0 → 75.0: 5.00 less, and 1 is allowed",
        "mean of 2 facets 50.0 → 50.0",
    )


def test_a_facet_that_one_of_them_cannot_score_is_left_out_on_both_sides():
    verdict = compare_scores(scores(facets=(0.6, None)), scores(facets=(0.6, 0.9)), LIMITS)
    assert verdict.reasons == ("mean of 1 facet 60.0 → 60.0",)
    for rated in ((scores({"sts": 0.1}), scores()), (scores(), scores({"sts": 0.9}))):
        assert compare_scores(*rated, LIMITS).reasons == ("mean of 2 facets 50.0 → 50.0",)


def test_without_a_score_in_common_nothing_is_promoted():
    assert not compare_scores(scores(facets=(None, 0.5)), scores(facets=(0.5, None)), LIMITS).holds


def test_scores_on_other_pairs_are_not_compared():
    with refused(ScoredDifferently):
        compare_scores(scores(digest="a"), scores(digest="b"), LIMITS)
    assert on_same_pairs(scores(), scores())
    rated = scores({"sts": 0.8})
    for new, current in ((scores(), rated), (rated, scores()), (scores(), scores(digest="b"))):
        assert not on_same_pairs(new, current)


ONE, TWO = "syntax/00001-aaaaaa/seed-0", "syntax/00002-aaaaaa/seed-0"
OTHER = "twin/00001-bbbbbb/seed-3"


@pytest.fixture
def runs(tmp_path):
    for time, name in enumerate((ONE, OTHER, TWO)):
        encoder = tmp_path / name / "encoder"
        encoder.mkdir(parents=True)
        (encoder / "training.json").write_text("{}")
        os.utime(encoder / "training.json", (time, time))
    return tmp_path


def test_the_current_run_of_an_encoder_is_replaced_in_one_step(runs):
    assert current_run(runs, "syntax") is None
    promote(runs / ONE, "syntax")
    promote(runs / TWO, "syntax")
    promote(runs / OTHER, "twin")
    assert current_runs(runs) == {"syntax": runs / TWO, "twin": runs / OTHER}
    assert sorted(path.name for path in (runs / "syntax").iterdir()) == ["00001-aaaaaa", "00002-aaaaaa", "current"]
    assert (runs / "syntax" / "current").readlink() == Path("00002-aaaaaa/seed-0"), "the folder of runs may be moved"


def test_the_link_is_no_run_of_its_own(runs):
    before = all_runs(runs)
    promote(runs / ONE, "syntax")
    assert all_runs(runs) == before
    assert find_encoder(runs, "syntax/current") == runs / ONE / "encoder"


def test_the_promoted_encoder_is_the_one_in_use_and_without_one_the_newest(runs):
    assert encoder_in_use(runs, "syntax") == runs / TWO / "encoder"
    promote(runs / ONE, "syntax")
    assert encoder_in_use(runs, "syntax") == encoder_in_use_with(runs, Path.exists) == runs / ONE / "encoder"
    assert encoder_in_use_with(runs, Path.exists, among=["twin"]) == runs / OTHER / "encoder", "it was never promoted"
    assert encoder_in_use_with(runs, lambda folder: folder != runs / ONE / "encoder") == runs / OTHER / "encoder"
    promote(runs / OTHER, "twin")
    assert encoder_in_use_with(runs, Path.exists) == runs / OTHER / "encoder", (
        "of several the newest; TWO was not promoted"
    )
    assert encoder_in_use_with(runs, Path.exists, among=["syntax"]) == runs / ONE / "encoder", (
        "the project no longer has a twin"
    )
    assert encoder_in_use_with(runs, Path.exists, among=["another"]) == runs / OTHER / "encoder"


def test_a_current_run_whose_encoder_is_gone_stops_nothing_and_a_refused_one_is_the_last_resort(runs):
    for run, name in ((ONE, "syntax"), (OTHER, "twin")):
        promote(runs / run, name)
    assert encoder_in_use_with(runs, lambda folder: folder != runs / ONE / "encoder") == runs / OTHER / "encoder"
    (runs / OTHER / "encoder" / "training.json").unlink()
    (runs / OTHER / "encoder").rmdir()
    assert encoder_in_use_with(runs, Path.exists) == runs / ONE / "encoder"
    only_refused = encoder_in_use_with(runs, lambda folder: folder == runs / TWO / "encoder")
    assert only_refused == runs / TWO / "encoder"


def test_what_is_not_finished_is_not_in_use(runs):
    promote(runs / ONE, "syntax")
    (runs / ONE / "encoder" / "training.json").unlink()
    begun = runs / "syntax/00003-aaaaaa/seed-0"
    (begun / "encoder").mkdir(parents=True)
    (begun / "train.json").touch()
    assert encoder_in_use_with(runs, Path.exists) == runs / TWO / "encoder"


def test_an_encoder_that_can_do_something_is_sought_among_those_that_can(runs):
    def is_a_twin(folder):
        return folder.parents[2].name == "twin"

    promote(runs / TWO, "syntax")
    assert encoder_in_use_with(runs, Path.exists) == runs / TWO / "encoder"
    assert encoder_in_use_with(runs, is_a_twin) == runs / OTHER / "encoder"
    assert encoder_in_use_with(runs, lambda folder: False) is None


def test_of_encoders_finished_at_the_same_time_every_process_uses_the_same(tmp_path):
    names = [f"encoder{number}" for number in range(9)]
    for name in names:  # as an archive with one time for all files leaves them
        encoder = tmp_path / name / "00001-aaaaaa" / "seed-0" / "encoder"
        encoder.mkdir(parents=True)
        (encoder / "training.json").write_text("{}")
        os.utime(encoder / "training.json", (0, 0))
    assert (
        encoder_in_use_with(tmp_path, Path.exists, among=names[1:])
        == tmp_path / "encoder1" / "00001-aaaaaa" / "seed-0" / "encoder"
    )


def test_something_else_of_that_name_is_left_alone(runs):
    (runs / "syntax" / "current" / "encoder").mkdir(parents=True)
    assert current_run(runs, "syntax") is None
    with refused(RunGone):
        promote(runs / ONE, "syntax")


def test_a_file_system_without_links_is_one_sentence_and_leaves_nothing(runs, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "symlink_to", refuse)
    with refused(RunNotWritten):
        promote(runs / ONE, "syntax")
    assert not list((runs / "syntax").glob(".*"))


def test_a_promoted_run_that_was_deleted_is_none(runs):
    promote(runs / ONE, "syntax")
    shutil.rmtree(runs / ONE)
    assert current_run(runs, "syntax") is None
    assert current_runs(runs) == {}
    assert gone_runs(runs) == {"syntax": GoneRun(runs / "syntax" / "current", ONE)}
    assert "twin" not in gone_runs(runs), "none was promoted"
    promote(runs / TWO, "syntax")
    assert gone_runs(runs) == {}


def test_a_current_run_that_was_restored_without_its_encoder_is_gone(runs):
    promote(runs / ONE, "syntax")
    shutil.rmtree(runs / ONE / "encoder")
    assert current_run(runs, "syntax") is None
    assert gone_runs(runs)["syntax"] == GoneRun(runs / "syntax" / "current", ONE)
    assert encoder_in_use(runs, "syntax") == runs / TWO / "encoder"


@pytest.mark.parametrize(
    ("record", "refused"),
    [
        ({"promoted": False, "holds": False}, True),
        ({"promoted": False, "holds": True}, False),
        ({"promoted": False, "holds": None}, False),
        ({"promoted": True, "holds": True}, False),
        ({"promoted": False, "holds": False, "reasons": 3}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_run_is_refused_if_its_scores_did_not_hold(runs, record, refused):
    if record is not None:
        (runs / ONE / "promotion.json").write_text(json.dumps(record))
    assert (refusal(runs / ONE) is not None) is refused
