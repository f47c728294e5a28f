"""Which of several evaluated runs becomes the current one."""

import json
import math
import os
import shutil

import pytest

from flows.project import Project
from flows.trainings import promoting
from training.evaluation.promotion import best_seed, current_run, promote, refusal
from training.evaluation.run import FORMAT
from training.jobs import EvaluationJob, Source
from training.run_records import recorded

OLD, SEEDS = "syntax/00001-aaaaaa/seed-0", tuple(f"syntax/00002-aaaaaa/seed-{seed}" for seed in range(3))
NEWER = "syntax/00003-aaaaaa/seed-0"


@pytest.fixture
def project(tmp_path):
    """A project with an old run, three seeds, each 0.9 points worse than the one before, and a newer run."""
    for time, (name, score, dev) in enumerate(
        ((OLD, 0.800, 0.5), (SEEDS[0], 0.791, 0.6), (SEEDS[1], 0.795, 0.7), (SEEDS[2], 0.782, 0.9), (NEWER, 0.8, 0.1))
    ):
        encoder = tmp_path / "runs" / name / "encoder"
        encoder.mkdir(parents=True)
        training = {"settings": {"choose_by": "average_precision"}, "dev": {"average_precision": dev, "loss": dev}}
        (encoder / "training.json").write_text(json.dumps(training))
        os.utime(encoder / "training.json", (time, time))
        sets = {"rows": [{"name": "sts", "encoder": score, "pairs": 80}], "data": {"sts": "0"}}
        write(tmp_path / "runs" / name / "metrics.json", {"format": FORMAT, "suites": {"ratings": sets}})
        release = int(name.partition("/")[2][:5])
        write(
            tmp_path / "runs" / name / "train.json",
            {"source": {"store": "s", "release": release}, "settings": {"kind": "s3bert"}, "output": name},
        )
    content = {"name": "p", "runs": str(tmp_path / "runs"), "corpora": [{"dataset": "example"}]}
    return Project.model_validate(content)


def write(file, content):
    file.write_text(json.dumps(content))


def promote_best(project, *names, unattended=False, asked=()):
    runs = [project.runs / name for name in names]
    jobs = [EvaluationJob(source=Source(store="s", release=1), encoder=run / "encoder", output=run) for run in runs]
    promoting.promote_best(project, jobs, [project.runs / name for name in asked], unattended=unattended)
    found = current_run(project.runs, "syntax")
    return None if found is None else found.relative_to(project.runs.resolve()).as_posix()


def decision(project, name):
    return json.loads((project.runs / name / "promotion.json").read_text())


def test_seeds_are_judged_against_the_run_before_all_of_them_and_dev_chooses_among_those_that_hold(project, capsys):
    promote(project.runs / OLD, "syntax")
    assert promote_best(project, *SEEDS) == SEEDS[1]
    said = capsys.readouterr().err
    assert said.count("is now the current run") == 1
    first, second, third = (decision(project, name) for name in SEEDS)
    assert [(each["promoted"], each["holds"]) for each in (first, second, third)] == [
        (False, True),
        (True, True),
        (False, False),
    ], "the last one has the best dev score and is within the limit of the second, but not of the run before"
    assert {each["against"] for each in (first, second, third)} == {OLD}
    assert len(third["reasons"]) == 1, "which other one was chosen says nothing of it"
    assert second["reasons"][1] == "chosen among 2 seeds that hold, by its dev average precision of 0.7000"
    assert first["reasons"][1] == (f"{SEEDS[1]} was chosen by its dev average precision of 0.7000, this one has 0.6000")
    assert f"{SEEDS[0]} was not promoted: human ratings of sts 80.0 → 79.1; {SEEDS[1]} was chosen by its dev" in said

    before = [decision(project, name) for name in SEEDS]
    assert promote_best(project, *SEEDS) == SEEDS[1], "the same command again changes nothing"
    assert [decision(project, name) for name in SEEDS] == before
    assert capsys.readouterr().err == (
        f"{SEEDS[1]}, one of these seeds, is already the current run of the encoder 'syntax'; nothing changes.\n"
    )


def test_the_order_of_the_seeds_does_not_matter(project):
    for name in SEEDS:
        write(project.runs / name / "encoder" / "training.json", {"settings": {}, "dev": {"total": 0.5}})
    assert promote_best(project, *reversed(SEEDS)) == SEEDS[0]


def test_a_current_run_that_is_evaluated_stays_alone_or_beside_a_new_seed(project, capsys):
    promote(project.runs / SEEDS[0], "syntax")
    assert promote_best(project, SEEDS[0]) == SEEDS[0]
    said = f"{SEEDS[0]} is already the current run of the encoder 'syntax'; nothing changes.\n"
    assert capsys.readouterr().err == said
    assert (decision(project, SEEDS[0])["promoted"], decision(project, SEEDS[0])["holds"]) == (True, None)
    assert promote_best(project, *SEEDS[:2]) == SEEDS[0]
    assert promote_best(project, SEEDS[1], asked=SEEDS) == SEEDS[0], "it could not be evaluated again"
    assert decision(project, SEEDS[1])["reasons"] == [
        f"{SEEDS[0]}, another seed of the same training, is the current run"
    ]
    assert refusal(project.runs / SEEDS[1]) is None


def test_a_single_seed_by_hand_is_compared_and_by_a_server_only_with_another_training(project, capsys):
    promote(project.runs / OLD, "syntax")
    assert promote_best(project, SEEDS[0], unattended=True) == SEEDS[0]
    assert promote_best(project, SEEDS[1], unattended=True) == SEEDS[0]
    assert f"{SEEDS[0]}, another seed of the same training, is already" in capsys.readouterr().err
    assert promote_best(project, NEWER, unattended=True) == NEWER
    promote(project.runs / SEEDS[0], "syntax")
    assert promote_best(project, SEEDS[1]) == SEEDS[1]


def test_of_several_trainings_the_one_that_was_finished_last_is_chosen(project, capsys):
    promote(project.runs / OLD, "syntax")
    assert promote_best(project, *SEEDS, NEWER) == NEWER
    assert decision(project, SEEDS[1])["reasons"][1] == f"{NEWER} was chosen, of the training that was finished last"
    promote(project.runs / SEEDS[0], "syntax")
    assert promote_best(project, *SEEDS, NEWER) == NEWER
    assert "nothing changes" not in capsys.readouterr().err


@pytest.mark.parametrize("damaged", [{}, {"format": 3}, {"suites": None}, {"suites": {"ratings": 3}}])
def test_a_current_run_is_scored_again_where_its_scores_are_damaged_or_on_other_pairs(project, monkeypatch, damaged):
    scores = json.loads((project.runs / OLD / "metrics.json").read_text())
    write(project.runs / OLD / "metrics.json", scores | damaged)
    if not damaged:
        scores["suites"]["ratings"]["data"] = {"sts": "1"}
        write(project.runs / NEWER / "metrics.json", scores)
    scored = []

    def score(_, job):
        scored.append(job.encoder)
        job.output.mkdir()
        write(job.output / "metrics.json", scores)

    monkeypatch.setattr(promoting, "run_job", score)
    promote(project.runs / OLD, "syntax")
    assert promote_best(project, SEEDS[0], NEWER) == NEWER
    assert scored == [(project.runs / OLD / "encoder").resolve()]
    assert not (project.runs / OLD / "current").exists(), "its own scores stay"


@pytest.mark.parametrize(
    ("training", "by", "best"),
    [
        ({"settings": {"choose_by": "loss"}, "dev": {"total": 0.5}}, "dev loss", 0),
        ({"settings": {"choose_by": "loss"}, "dev": {"loss": 0.5}}, "dev loss", 0),
        ({"settings": {"choose_by": "mrr"}, "dev": {"mrr": 0.5, "loss": 0.5}}, "dev MRR", 2),
        (
            {
                "settings": {"choose_by": "sts-dev"},
                "dev": {"spearman": 0.5, "loss": 1},
                "chosen_by": {"set": "sts-dev"},
            },
            "Spearman on sts-dev",
            2,
        ),
        ({"settings": {"choose_by": "mrr"}, "dev": None}, "mean score", 1),
        ({"settings": {"choose_by": "mrr"}, "dev": {"mrr": math.nan}}, "mean score", 1),
        ({}, "mean score", 1),
    ],
)
def test_the_best_seed_has_the_best_of_what_chose_the_models(project, training, by, best):
    runs = [project.runs / name for name in SEEDS]
    for number, run in enumerate(runs):
        dev = training.get("dev") and {name: value + 0.1 * number for name, value in training["dev"].items()}
        write(run / "encoder" / "training.json", {"settings": {}} | training | ({"dev": dev} if training else {}))
    found = best_seed(runs)
    assert (found.by, found.run) == (by, runs[best])


@pytest.mark.parametrize(("by", "third"), [("loss", None), (None, 0.1)], ids=["another", "none"])
def test_seeds_that_were_chosen_by_different_scores_are_compared_by_the_suites_that_all_have(project, by, third):
    for name, chosen_by, facet in zip(SEEDS, ("mrr", "mrr", by), (0.9, None, third), strict=True):
        training = {"settings": {"choose_by": chosen_by or "mrr"}, "dev": chosen_by and {chosen_by: 0.5}}
        write(project.runs / name / "encoder" / "training.json", training)
        scores = json.loads((project.runs / name / "metrics.json").read_text())
        if name != SEEDS[2] or third:
            scores["suites"]["facets"] = {"rows": [{"name": "smatch", "encoder": facet}], "data": "0"}
        write(project.runs / name / "metrics.json", scores)
    found = best_seed([project.runs / name for name in SEEDS])
    assert (found.by, found.run) == ("mean score", project.runs / SEEDS[1])
    assert found.values[found.run] == pytest.approx(79.5)


def test_without_anything_to_choose_by_the_first_is_taken(project, capsys):
    for name in SEEDS:
        write(project.runs / name / "encoder" / "training.json", {"settings": {}})
        write(project.runs / name / "metrics.json", {"format": FORMAT, "suites": {}})
    assert promote_best(project, *SEEDS) == SEEDS[0]
    said = capsys.readouterr().err
    assert "there was no current encoder; the first of 3 seeds that hold." in said
    assert f"{SEEDS[1]} was not promoted: {SEEDS[0]} was chosen, the first of 3 seeds that hold." in said


def test_after_a_current_run_that_is_gone_a_refused_one_stays_refused(project, capsys):
    promote(project.runs / OLD, "syntax")
    promote_best(project, SEEDS[2])
    refused = decision(project, SEEDS[2])
    shutil.rmtree(project.runs / OLD)
    begun = shutil.copytree(project.runs / NEWER, project.runs / "syntax/00004-aaaaaa/seed-0") / "encoder"
    (begun / "training.json").unlink()
    capsys.readouterr()
    assert promote_best(project, SEEDS[2]) is None
    said = capsys.readouterr().err
    assert f"{SEEDS[2]} was not promoted: the current run {OLD} is gone, but this one was refused before (human" in said
    assert f"`facetflow evaluate {NEWER} --promote` promotes one that was not refused." in said
    assert decision(project, SEEDS[2]) == refused

    for name in (*SEEDS[:2], NEWER):
        shutil.rmtree(project.runs / name)
    assert promote_best(project, SEEDS[2]) is None
    link = project.runs / "syntax" / "current"
    assert f"delete the link {str(link)!r} and evaluate it again." in capsys.readouterr().err
    link.unlink()
    assert promote_best(project, SEEDS[2]) == SEEDS[2]


def test_after_a_current_run_that_is_gone_one_that_was_not_refused_is_promoted(project, capsys):
    promote(project.runs / OLD, "syntax")
    promote_best(project, SEEDS[2])
    shutil.rmtree(project.runs / OLD)
    assert promote_best(project, *SEEDS) == SEEDS[1], "the third, which was refused, has the best dev score"
    assert decision(project, SEEDS[1])["reasons"][0] == f"the current run {OLD} is gone"
    assert "there was no current encoder" not in capsys.readouterr().err


def test_unattended_a_run_of_an_older_release_is_late_unless_the_current_one_is_of_a_store_before(project):
    shutil.copytree(project.runs / NEWER, project.runs / "syntax/00003-bbbbbb/seed-0")
    promote(project.runs / NEWER, "syntax")
    assert promote_best(project, "syntax/00003-bbbbbb/seed-0", unattended=True) == "syntax/00003-bbbbbb/seed-0"
    assert promote_best(project, SEEDS[1]) == SEEDS[1], "by hand"
    promote(project.runs / NEWER, "syntax")
    for store, promoted in (("before", NEWER), ("now", SEEDS[1])):
        with recorded(project.runs / NEWER, {"store": "before"}), recorded(project.runs / SEEDS[1], {"store": store}):
            pass
        assert promote_best(project, SEEDS[1], unattended=True) == promoted
        if promoted == NEWER:
            reasons = ["the current run was trained on release 3, this one on release 2"]
            assert decision(project, SEEDS[1])["reasons"] == reasons
