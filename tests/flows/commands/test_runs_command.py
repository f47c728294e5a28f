"""`facetflow runs`: every suite that scored an encoder, without a line about it in the command."""

import json
import os
import sys

import pytest
from click.testing import CliRunner
from sentences import refused

from features.core.errors import RunError
from features.core.faults import EncoderUnfinished, NoEncoder
from flows import command_line
from flows.commands.runs import runs
from flows.project import load
from flows.trainings.finished_runs import runs_to_evaluate
from training.evaluation.run import FORMAT
from training.evaluation.suites import SUITES
from training.run_records import record_failed_evaluation
from training.writing import write_json

PROJECT = 'name = "p"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "x.tsv" }\n'
CLASSES = """
from training.evaluation.suites import Suite


class ClassSuite(Suite):
    name, title, needs, measure = "classes", "Classes", "texts", "accuracy"
    of = score = tables = None
"""
SCORES = {
    "facets": {"rows": [{"name": "smatch", "encoder": 0.5}, {"name": "frames", "encoder": 0.7}], "data": "0"},
    "ratings": {"rows": [{"name": "sts", "encoder": 0.8}], "data": "0"},
    "predictors": {"rows": [{"name": "smatch on sts", "encoder": 0.4}], "data": "0"},
    "classes": {"rows": [{"name": "mr", "encoder": 0.9}], "data": "0"},
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with three runs: scored also by a suite of the future, by ratings alone, and not at all."""
    (tmp_path / "class_suite.py").write_text(CLASSES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SUITES, "classes", "class_suite:ClassSuite")
    (tmp_path / "facetflow.toml").write_text(PROJECT)
    group = tmp_path / "runs" / "syntax" / "00003-aaaaaa"
    for seed, suites in enumerate(
        (SCORES, {"ratings": {"rows": [{"name": "sts", "encoder": None}], "data": "0"}}, None)
    ):
        write_json(group / f"seed-{seed}" / "train.json", {})
        if suites is not None:
            write_json(group / f"seed-{seed}" / "metrics.json", {"format": FORMAT, "suites": suites})
    yield tmp_path / "facetflow.toml"
    sys.modules.pop("class_suite", None)


def test_every_suite_has_its_columns_and_the_note_says_what_they_are(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    lines = [line.split() for line in shown.splitlines() if line.split()]
    header, first, second, third = [words for words in lines if words[0] == "run" or words[0].startswith("syntax/")][:4]
    assert header[-3:] == ["facets", "sts", "mr"]
    assert first[-3:] == ["60.0", "80.0", "90.0"]
    assert second[-3:] == ["–", "–", "–"]
    assert third[0] == "syntax/00003-aaaaaa/seed-2"
    said = " ".join(shown.split())
    assert "facets: Spearman × 100, the mean over all. sts: Spearman × 100. mr: accuracy × 100." in said


def test_json_has_the_scores_by_suite(project):
    found = json.loads(CliRunner().invoke(runs, ["--json"], obj=project, catch_exceptions=False).stdout)
    assert [run["release"] for run in found] == [3, 3, 3]
    assert [run["evaluated"] for run in found] == [True, True, False]
    assert found[0]["scores"] == {
        "facets": {"facets": 0.6},
        "ratings": {"sts": 0.8},
        "predictors": {},
        "classes": {"mr": 0.9},
    }
    assert [run["scores"] for run in found[1:]] == [{"ratings": {"sts": None}}, {}]


def test_scores_on_other_data_are_marked(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    group = project.parent / "runs" / "syntax" / "00003-aaaaaa"
    for seed, digest in enumerate(("before", "now", "now")):
        rated = {"rows": [{"name": "sts", "encoder": 0.8 - seed / 10}], "data": digest}
        file = group / f"seed-{seed}" / "metrics.json"
        write_json(file, {"format": FORMAT, "date": f"2026-01-0{seed + 1}", "suites": {"ratings": rated}})
        os.utime(file, (9 - seed, 9 - seed))  # as in a copy
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    scores = [line.split()[-1] for line in shown.splitlines() if "seed-" in (line.split() or [""])[0]][:3]
    assert scores == ["80.0*", "70.0", "60.0"]
    assert "* on other data than in the newest evaluation" in " ".join(shown.split())
    found = json.loads(CliRunner().invoke(runs, ["--json"], obj=project, catch_exceptions=False).stdout)
    assert [run["elsewhere"] for run in found] == [["ratings"], [], []]


def test_a_facet_without_a_score_leaves_the_mean_of_the_others(project, monkeypatch):
    rows = [*SCORES["facets"]["rows"], {"name": "quantifiers", "encoder": None}]
    file = project.parent / "runs" / "syntax" / "00003-aaaaaa" / "seed-0" / "metrics.json"
    write_json(file, {"format": FORMAT, "suites": {"facets": {"rows": rows, "data": "0"}}})
    found = json.loads(CliRunner().invoke(runs, ["--json"], obj=project, catch_exceptions=False).stdout)
    assert found[0]["scores"] == {"facets": {"facets": pytest.approx(0.6)}}


def test_what_a_search_has_found_stands_beside_the_run(project, monkeypatch):
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    assert "found by search" not in shown

    tried = [{"values": {"learning_rate": rate}, "dev": {"loss": rate}} for rate in (1e-5, 2e-5)]
    folder = project.parent / "runs" / "syntax" / "00003-aaaaaa" / "seed-2" / "encoder"
    search = {"chosen": {"learning_rate": 1e-5}, "tried": tried}
    write_json(folder / "training.json", {"settings": {}, "search": search})
    monkeypatch.setenv("COLUMNS", "160")
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    assert "learning_rate 1e-05" in " ".join(shown.split())
    found = json.loads(CliRunner().invoke(runs, ["--json"], obj=project, catch_exceptions=False).stdout)
    assert [run["chosen"] for run in found] == [{}, {}, {"learning_rate": 1e-5}]
    assert found[2]["tried"] == tried


def test_refused_runs_and_failed_evaluations_are_told(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    group = project.parent / "runs" / "syntax" / "00003-aaaaaa"
    write_json(group / "seed-1" / "promotion.json", {"promoted": False, "holds": False, "reasons": []})
    record_failed_evaluation(group / "seed-2", RunError("There is nothing to score on."))
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    assert "interrupted, refused" in shown
    assert "refused: its scores did not hold against those of the run that was current then" in shown
    assert "syntax/00003-aaaaaa/seed-2 could not be evaluated: There is nothing to score on (FF500).\n" in shown


def test_a_training_whose_record_is_damaged_is_named_among_the_others(project):
    file = project.parent / "runs" / "syntax" / "00003-aaaaaa" / "seed-2" / "encoder" / "training.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"search": {')
    listed = json.loads(CliRunner().invoke(runs, ["--json"], obj=project, catch_exceptions=False).stdout)
    assert [f"{file} ".replace("'", "") in run["message"].replace("'", "") for run in listed] == [False, False, True]
    shown = CliRunner().invoke(runs, obj=project, catch_exceptions=False).stdout
    assert "is damaged" in shown
    assert f"delete the folder {str(file.parent)!r}, then train or copy it again" in shown


def test_a_report_that_cannot_be_written_leaves_the_scores_the_only_json(project, monkeypatch, capsys):
    def refuse(*_):
        raise RunError("The report cannot be written.")

    run = project.parent / "runs" / "syntax" / "00003-aaaaaa" / "seed-0"
    write_json(run / "encoder" / "training.json", {})
    monkeypatch.setattr("training.evaluation.run.write_report", refuse)
    assert command_line.run(["report", "--project", str(project), "--encoder", "syntax", "--json"]) == 1
    assert capsys.readouterr().out == (run / "metrics.json").read_text()


def test_an_export_of_one_of_several_seeds_tells_whose_numbers_it_has(project, tmp_path, monkeypatch, capsys):
    for seed in (0, 1):
        run = project.parent / "runs" / "syntax" / "00003-aaaaaa" / f"seed-{seed}"
        write_json(run / "encoder" / "training.json", {})
        os.utime(run / "encoder" / "training.json", (seed, seed))
        write_json(run / "metrics.json", {"format": FORMAT, "suites": {}})
    monkeypatch.setattr("training.evaluation.run.write_report", lambda run, _: run / "report.html")
    assert command_line.run(["report", "--project", str(project), "--export", str(tmp_path / "numbers.csv")]) == 0
    assert str(run / "report.html") in capsys.readouterr().out


def test_a_report_is_of_the_training_with_the_settings_of_the_project_file(project, monkeypatch, capsys):
    for time, (digest, alpha) in enumerate({"aaaaaa": 0.9, "bbbbbb": 0.5}.items()):
        run = project.parent / "runs" / "syntax" / f"00004-{digest}" / "seed-0"
        settings = {"kind": "s3bert", "alpha": alpha}
        write_json(run / "train.json", {"source": {"store": "s", "release": 4}, "settings": settings, "output": "o"})
        write_json(run / "encoder" / "training.json", {})
        os.utime(run / "encoder" / "training.json", (time, time))
        write_json(run / "metrics.json", {"format": FORMAT, "suites": {}, "of": digest})
    monkeypatch.setattr("training.evaluation.run.write_report", lambda run, _: run)
    for alpha, digest in {0.5: "bbbbbb", 0.9: "aaaaaa"}.items():
        project.write_text(PROJECT + f'[[encoders]]\nname = "syntax"\nkind = "s3bert"\nalpha = {alpha}\n')
        for named in ([], ["--encoder", "syntax"]):
            assert command_line.run(["report", "--project", str(project), "--json", *named]) == 0
            assert json.loads(capsys.readouterr().out)["of"] == digest


def test_an_encoder_without_a_training_is_to_be_trained(project, refuses):
    with refused(NoEncoder):
        runs_to_evaluate(load(project), ())
    refuses(EncoderUnfinished, "report", "--project", str(project), "--encoder", "s3bert")
