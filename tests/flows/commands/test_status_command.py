"""`facetflow status`: what it says about encoders."""

import json
import shutil

import pytest

from features.store.store import Store
from flows.command_line import run
from training.evaluation.promotion import promote
from training.writing import write_json

PROJECT = """\
name = "p"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "x.tsv" }
[[encoders]]
name = "syntax"
kind = "s3bert"
"""


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Go to the folder of a project with two runs of its encoder, the older one promoted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facetflow.toml").write_text(PROJECT)
    Store.open(tmp_path / "store", create=True)
    for release in (1, 2):
        folder = tmp_path / "runs" / "syntax" / f"0000{release}-aaaaaa" / "seed-0"
        write_json(folder / "encoder" / "training.json", {})
        write_json(folder / "train.json", {})
    promote(tmp_path / "runs" / "syntax" / "00001-aaaaaa" / "seed-0", "syntax")
    return tmp_path / "runs"


def said(capsys, *words):
    assert run(["status", *words]) == 0
    return capsys.readouterr().out


def test_a_current_run_that_is_gone_is_told_with_what_to_do(runs, capsys):
    assert "Current encoder syntax: syntax/00001-aaaaaa/seed-0\n" in said(capsys)
    shutil.rmtree(runs / "syntax" / "00001-aaaaaa")
    gone = "Current encoder syntax: syntax/00001-aaaaaa/seed-0 is gone; restore its folder, or "
    assert f"{gone}promote another run: `facetflow evaluate syntax --promote`\n" in said(capsys)
    found = json.loads(said(capsys, "--json"))
    assert (found["current_encoders"], found["gone_encoders"]) == ({}, {"syntax": "syntax/00001-aaaaaa/seed-0"})
    shutil.rmtree(runs / "syntax" / "00002-aaaaaa")
    assert f"{gone}train the encoder again: `facetflow train syntax`\n" in said(capsys)
    toml = runs.parent / "facetflow.toml"
    toml.write_text(toml.read_text().replace('"syntax"', '"renamed"'))
    assert "the project file no longer has this encoder, so delete the link" in said(capsys)


def test_a_newest_training_that_failed_is_told(runs, capsys):
    failed = runs / "syntax" / "00003-aaaaaa" / "seed-0"
    for at, told in (("2000-01-01", False), ("2099-01-01", True)):
        write_json(failed / "run.json", {"state": "failed", "message": "No room.", "at": f"{at}T00:00:00+00:00"})
        line = "Newest training syntax/00003-aaaaaa/seed-0 failed: No room.\n"
        assert (line in said(capsys)) is told, "a newer one was finished since" if not told else ""
    assert json.loads(said(capsys, "--json"))["failed_trainings"] == [
        {"name": "syntax", "run": "syntax/00003-aaaaaa/seed-0", "message": "No room."}
    ]
