"""`facetflow compare --html`: a page in addition to the table, refused early if it cannot be written."""

import json
import os
import shutil

import pytest
from click.testing import CliRunner
from sentences import refused

from features.core.faults import EncoderUnfinished, NoScores, OutputRefused
from flows.commands.runs import compare
from training.evaluation.run import FORMAT
from training.writing import write_json

PROJECT = """\
name = "p"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "x.tsv" }
[dependencies]
model = "no-such-pipeline"
"""


@pytest.fixture
def project(tmp_path, tiny_encoder):
    """A project with two evaluated runs of an encoder without structure."""
    import polars as pl

    (tmp_path / "facetflow.toml").write_text(PROJECT)
    for name, sign in (("twin", -1), ("syntax", 1)):
        run = tmp_path / "runs" / name / "00001-aaaaaa" / "seed-0"
        shutil.copytree(tiny_encoder, run / "encoder")
        write_json(run / "encoder" / "training.json", {})
        write_json(run / "train.json", {})
        texts = [f"{'boy ' * (n // 10 + 1)}{n}" for n in range(80)]
        columns = {"set": ["sts"] * 80, "text_a": texts, "text_b": texts[::-1], "score": list(map(float, range(80)))}
        table = pl.DataFrame({**columns, "similarity": [float(sign * n) for n in range(80)]})
        table.write_parquet(run / "ratings.parquet")
        rated = {"rows": [{"name": "sts", "encoder": 0.5, "pairs": 80}], "data": {"sts": "0"}}
        write_json(run / "metrics.json", {"format": FORMAT, "suites": {"ratings": rated}})
    return tmp_path / "facetflow.toml"


def run(project, *arguments):
    return CliRunner().invoke(compare, ["twin", "syntax", *arguments], obj=project, catch_exceptions=False)


def test_the_page_is_written_beside_json_or_in_place_of_the_table(project, tmp_path):
    page = tmp_path / "page.html"
    done = run(project, "--html", str(page))
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"Wrote the comparison of twin and syntax to {page}." in done.stderr
    html = page.read_text()
    assert "ratings: sts" in html
    assert "B is closer to human judgement: the 5 pairs that moved most" in html
    assert "A (twin) sees no structure of a sentence. B (syntax) sees no structure of a sentence." in html
    assert "Not divided by tree depth: " in html
    assert "no-such-pipeline" in html
    plain = json.loads(run(project, "--json").stdout)
    assert json.loads(run(project, "--json", "--html", str(page)).stdout) == plain
    assert run(project, "--html", "-").stdout.startswith("<!doctype html>")


def test_an_evaluation_by_some_suites_is_not_said_to_be_none(project):
    folder = project.parent / "runs" / "twin" / "00001-aaaaaa" / "seed-0"
    (folder / "metrics.json").rename(folder / "metrics-paraphrase.json")
    with refused(NoScores):
        run(project)
    (folder / "metrics-paraphrase.json").unlink()
    with refused(NoScores):
        run(project)


def test_a_newest_training_without_scores_is_named_with_an_older_one_that_has_some(project):
    folder = project.parent / "runs" / "twin"
    shutil.copytree(folder / "00001-aaaaaa", folder / "00002-aaaaaa", ignore=lambda *_: ["metrics.json"])
    os.utime(folder / "00002-aaaaaa" / "seed-0" / "encoder" / "training.json", (4e9, 4e9))
    with refused(NoScores):
        run(project)


def test_an_older_training_that_is_compared_because_the_newest_failed_is_named(project):
    failed = project.parent / "runs" / "twin" / "00002-aaaaaa" / "seed-0"
    write_json(failed / "train.json", {})
    write_json(failed / "run.json", {"state": "failed", "message": "No room.", "at": "2099-01-01T00:00:00+00:00"})
    assert (
        "'twin' means twin/00001-aaaaaa/seed-0 here, because the newer twin/00002-aaaaaa/seed-0 failed (see `facetflow "
        "runs twin`)."
    ) in run(project).stderr
    (project.parent / "runs" / "twin" / "00001-aaaaaa" / "seed-0" / "metrics.json").unlink()
    with refused(NoScores):
        run(project)
    shutil.rmtree(project.parent / "runs" / "twin" / "00001-aaaaaa")
    with refused(EncoderUnfinished):
        run(project)


def test_a_page_that_cannot_be_written_is_refused_before_the_work(project, monkeypatch):
    monkeypatch.setattr("training.evaluation.comparison.compare_runs", lambda *_: pytest.fail("worked"))
    both = run(project, "--json", "--html", "-")
    assert both.exit_code == 2
    assert "--html - and --json would both write to standard output; give the page a file" in both.stderr
    with refused(OutputRefused):
        run(project, "--html", str(project / "page.html"))
