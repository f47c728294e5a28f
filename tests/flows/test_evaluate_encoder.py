"""Which runs an evaluation covers, and which suites score them."""

import json
import os
from unittest.mock import Mock

import pytest
from sentences import refused

from features.core.errors import InputError, PartlyDoneError, RunError
from features.core.faults import EncoderUnfinished, UnknownName
from features.core.locks import only_one
from flows import evaluate_encoder
from flows.project import Project
from flows.server.outbox import Outbox
from flows.trainings.due import evaluation_identity, evaluation_job
from flows.trainings.finished_runs import check_suites, left_behind, runs_to_evaluate, shortfalls
from training.evaluation.promotion import promote
from training.run_records import LOCK, evaluation_of, record_failed_evaluation

SEEDS = ("syntax/00002-aaaaaa/seed-0", "syntax/00002-aaaaaa/seed-1")
OTHERS = ("syntax/00001-aaaaaa/seed-0", "twin/00001-bbbbbb/seed-0")
JOB = {"source": {"store": "store", "release": 1}, "settings": {"kind": "s3bert"}}


@pytest.fixture
def project(tmp_path):
    for time, name in enumerate((*OTHERS, *SEEDS)):
        encoder = tmp_path / name / "encoder"
        encoder.mkdir(parents=True)
        (encoder / "training.json").write_text("{}")
        os.utime(encoder / "training.json", (time, time))
        (tmp_path / name / "train.json").write_text(json.dumps({**JOB, "output": str(tmp_path / name)}))
    (tmp_path / "syntax/00002-aaaaaa/seed-2").mkdir()  # not finished
    encoders = [{"name": name, "kind": "s3bert"} for name in ("syntax", "twin", "new")]
    return Project.model_validate(
        {"name": "p", "runs": str(tmp_path), "corpora": [{"dataset": "example"}], "encoders": encoders}
    )


@pytest.fixture
def evaluate(project, monkeypatch):
    """Return the flow, for this project, with a stand-in for its process, and for what chooses the current run."""
    monkeypatch.setattr(evaluate_encoder.project, "load", lambda _: project)
    monkeypatch.setattr(evaluate_encoder, "show_evaluation", lambda *_: [])

    def run_flow(run_job=lambda *_: None, promote_best=None, **asked):
        monkeypatch.setattr(evaluate_encoder, "run_job", run_job)
        monkeypatch.setattr(evaluate_encoder, "promote_best", promote_best)
        return evaluate_encoder.evaluate_encoder.fn(promote=promote_best is not None, **asked)

    return run_flow


def fail_the_first(_module, *jobs):
    (jobs[1].output / "metrics.json").write_text("{}")
    raise RunError("1 of 2 jobs failed (there is nothing to score on).")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), (*SEEDS, OTHERS[1])),
        (("syntax",), SEEDS),
        (("syntax/00002-aaaaaa",), SEEDS),
        (SEEDS[1:], SEEDS[1:]),
        (("syntax/00001-aaaaaa", "twin"), OTHERS[:2]),
        (("syntax", "syntax"), SEEDS),
    ],
    ids=lambda value: "+".join(value) or "all",
)
def test_an_encoder_means_the_finished_seeds_of_its_newest_training(project, names, found):
    assert [run.relative_to(project.runs).as_posix() for run in runs_to_evaluate(project, names)] == list(found)


def test_a_link_to_a_seed_and_its_id_with_a_slash_mean_that_seed_alone(project):
    promote(project.runs / SEEDS[0], "syntax")
    for name in ("syntax/current", f"{SEEDS[0]}/"):
        assert runs_to_evaluate(project, [name]) == [project.runs / SEEDS[0]]


def test_a_project_whose_encoders_have_other_names_evaluates_the_newest_run(project):
    renamed = project.model_copy(update={"encoders": project.encoders[2:]})
    assert runs_to_evaluate(renamed, ()) == [project.runs / name for name in SEEDS]
    with refused(EncoderUnfinished):
        runs_to_evaluate(renamed, ["new"])


def test_settings_that_the_project_file_went_back_to_mean_the_training_with_them(project):
    for name in SEEDS:
        job = {**JOB, "settings": {"kind": "s3bert", "alpha": 0.5}, "output": str(project.runs / name)}
        (project.runs / name / "train.json").write_text(json.dumps(job))
    assert runs_to_evaluate(project, ["syntax"]) == [project.runs / OTHERS[0]]
    assert runs_to_evaluate(project, ["syntax/00002-aaaaaa"]) == [project.runs / name for name in SEEDS]


def begin(project, name, state, at):
    run = project.runs / name
    run.mkdir(parents=True, exist_ok=True)
    (run / "train.json").write_text("{}")
    (run / "run.json").write_text(json.dumps({"state": state, "message": "No room.", "at": at}))
    return run


def test_newer_trainings_that_are_not_finished_are_named(project):
    assert left_behind(project, ()) == []
    begin(project, "syntax/00002-aaaaaa/seed-2", "failed", "1970-01-01T00:00:00+00:00")
    begin(project, "twin/00002-bbbbbb/seed-0", "failed", "1970-01-01T00:00:01+00:00")
    begin(project, "syntax/00001-cccccc/seed-0", "failed", "1970-01-01T00:00:00+00:00")
    beside = "'syntax' means syntax/00002-aaaaaa (2 seeds) here, because syntax/00002-aaaaaa/seed-2 failed"
    newer = "'twin' means twin/00001-bbbbbb/seed-0 here, because the newer twin/00002-bbbbbb/seed-0 "
    assert left_behind(project, ()) == [
        f"{beside} (see `facetflow runs syntax`).",
        f"{newer}failed (see `facetflow runs twin`).",
    ]
    assert left_behind(project, ["twin/00001-bbbbbb/seed-0", *SEEDS]) == []
    with only_one(project.runs / "twin/00002-bbbbbb/seed-0" / LOCK, "It is trained"):
        assert left_behind(project, ["twin"]) == [f"{newer}is still running (see `facetflow runs twin`)."]
    run = begin(project, "new/00001-dddddd/seed-0", "running", "1970-01-01T00:00:09+00:00")
    with only_one(run / LOCK, "It is trained"), refused(EncoderUnfinished):
        runs_to_evaluate(project, ["new"])


def test_a_training_that_began_before_the_last_one_was_finished_and_still_runs_is_named(project):
    os.utime(project.runs / OTHERS[1] / "encoder" / "training.json", (9, 9))
    run = begin(project, "twin/00002-bbbbbb/seed-0", "running", "1970-01-01T00:00:01+00:00")
    assert left_behind(project, ["twin"]) == []
    with only_one(run / LOCK, "It is trained"):
        assert "00002-bbbbbb/seed-0 is still running" in left_behind(project, ["twin"])[0]


@pytest.mark.parametrize(("seed", "seeds"), [(0, " --seeds 2"), (1, "")])
def test_the_newest_training_that_failed_is_tried_again_with_as_many_seeds_as_it_takes(project, seed, seeds):
    syntax = project.encoders[0]
    syntax = syntax.model_copy(update={"loop": syntax.loop.model_copy(update={"seed": seed})})
    project = project.model_copy(update={"encoders": (syntax,)})
    for number in range(2):
        run = begin(project, f"syntax/00003-aaaaaa/seed-{number}", "failed", f"2099-01-01T00:00:0{number}+00:00")
    lacks = [lack for lack in shortfalls(project) if lack.step == "training"]
    assert [(lack.run, lack.advice) for lack in lacks] == [
        ("syntax/00003-aaaaaa/seed-1", f"`facetflow train syntax --release 3{seeds}` tries again")
    ]
    with only_one(run / LOCK, "It is trained"):
        assert [lack.step for lack in shortfalls(project)] == ["evaluation"], "it is being done"


def test_a_run_lacks_its_evaluation_or_its_promotion_but_not_both(project):
    project = project.model_copy(update={"encoders": project.encoders[:1]})
    promote(project.runs / OTHERS[0], "syntax")
    first, second = (project.runs / name for name in SEEDS)
    record_failed_evaluation(first, InputError("No room."))
    for run in (first, second):
        (run / "promotion.json").write_text(
            '{"promoted": false, "holds": false, "against": null, "reasons": ["It is worse."]}'
        )
    assert [(lack.step, lack.run) for lack in shortfalls(project)] == [
        ("evaluation", SEEDS[0]),
        ("evaluation", SEEDS[1]),
        ("promotion", SEEDS[1]),
    ]


def test_an_evaluation_says_which_newer_training_it_leaves_out(project, evaluate, capsys):
    begin(project, "twin/00002-bbbbbb/seed-0", "failed", "2099-01-01T00:00:00+00:00")
    assert evaluate(name="twin") == [project.runs / OTHERS[1]]
    assert "because the newer twin/00002-bbbbbb/seed-0 failed" in capsys.readouterr().err


def test_an_evaluation_is_of_the_dev_split_unless_another_is_asked_for(project):
    run = project.runs / SEEDS[0]
    assert [evaluation_job(project, run, split).split for split in (None, "test")] == ["dev", "test"]
    job = {**JOB, "settings": {"kind": "s3bert", "splits": ["train", "test"]}, "output": str(run)}
    (run / "train.json").write_text(json.dumps(job))
    assert evaluation_job(project, run).split == "test", "which chose its model"


def test_suites_are_chosen_by_name(project):
    run = project.runs / SEEDS[0]
    check_suites(project, run, ("ratings",))
    with refused(UnknownName):
        check_suites(project, run, ("rating",))


def test_an_evaluation_that_fails_keeps_no_other_from_being_promoted(project, evaluate):
    promoted = []

    def promote_best(_, jobs, asked, **_by):
        promoted.extend(job.output for job in jobs)
        assert asked == [project.runs / seed for seed in SEEDS]

    with refused(PartlyDoneError) as failed:
        evaluate(fail_the_first, promote_best, name="syntax")
    assert promoted == failed.value.done == [project.runs / SEEDS[1]]

    with pytest.raises(RunError, match="All failed") as failed:
        evaluate(Mock(side_effect=RunError("All failed.")), name="syntax")
    assert not isinstance(failed.value, PartlyDoneError)


def test_a_failed_evaluation_or_promotion_is_recorded_until_one_succeeds(project, evaluate):
    runs = [project.runs / seed for seed in SEEDS]
    with refused(PartlyDoneError):
        evaluate(fail_the_first, name="syntax")
    failed = "1 of 2 jobs failed (there is nothing to score on) (FF500)."
    assert [evaluation_of(run).message for run in runs] == [failed, ""]

    evaluate(name="syntax", suites=["facets"])
    assert evaluation_of(runs[0]).message, "an evaluation by some suites says nothing of the whole one"
    evaluate(name="syntax")
    assert [evaluation_of(run).message for run in runs] == ["", ""]

    with pytest.raises(InputError):
        evaluate(promote_best=Mock(side_effect=InputError("The current encoder cannot be read.")), name="syntax")
    assert [evaluation_of(run).message for run in runs] == ["The current encoder cannot be read (FF100)."] * 2


@pytest.mark.parametrize("order", [1, -1])
def test_an_encoder_that_cannot_be_judged_leaves_others_evaluated(project, monkeypatch, order):
    def promote_best(_, jobs, *_asked, **_by):
        if any("twin" in str(job.output) for job in jobs):
            raise InputError("The current encoder cannot be read.")

    monkeypatch.setattr(evaluate_encoder, "run_job", lambda *_: None)
    monkeypatch.setattr(evaluate_encoder, "promote_best", promote_best)
    jobs = [evaluation_job(project, project.runs / name) for name in OTHERS]
    with pytest.raises(InputError):
        evaluate_encoder.evaluate_all(project, jobs[::order], Outbox(None), promote=True, unattended=True)
    assert [evaluation_of(job.output).state for job in jobs] == ["done", "failed"]


def test_an_evaluation_is_due_again_if_a_set_changes_while_it_is_scored_on(project, monkeypatch, tmp_path):
    rated = tmp_path / "rated.tsv"
    rated.write_text("sentence_a\tsentence_b\tscore\na\tb\t1\n")
    sets = ({"dataset": "pairs", "name": "rated", "file": str(rated)},)
    project = Project.model_validate(project.model_dump() | {"evaluation": sets})
    (before,) = jobs = [evaluation_job(project, project.runs / SEEDS[0])]
    expected = evaluation_identity({}, SEEDS[0], before)
    monkeypatch.setattr(evaluate_encoder, "run_job", lambda *_: rated.write_text("sentence_a\tsentence_b\tscore\n"))
    monkeypatch.setattr(evaluate_encoder, "show_evaluation", lambda *_: [])
    evaluate_encoder.evaluate_all(project, jobs, Outbox(None), promote=False, unattended=True)
    assert evaluation_of(project.runs / SEEDS[0]).identity == expected
