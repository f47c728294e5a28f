"""`facetflow status`: what it says about encoders."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from features.core.errors import RunError
from features.metrics.registry import METRIC_COLUMNS
from features.schemas import StageOutput
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from flows.building.ingest_corpora import ingest_corpora
from flows.command_line import run
from flows.project import load
from training.evaluation.promotion import promote
from training.evaluation.run import FORMAT
from training.jobs import Source, TrainingJob
from training.run_records import record_evaluation, record_failed_evaluation
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


def test_only_tables_that_the_project_has_or_wants_are_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facetflow.toml").write_text(
        'name = "papers"\n[[corpora]]\ndataset = "texts"\nfiles = { train = "papers.tsv" }\n'
        '[[encoders]]\nname = "task"\nkind = "aspect"\n'
    )
    (tmp_path / "papers.tsv").write_text("text\tlabel\nWe parse .\tparsing\nWe wait .\twaiting\n")
    ingest_corpora(load(tmp_path / "facetflow.toml"), Store.open(tmp_path / "store", create=True), "run-1")
    tables = re.findall(r"^  (\w+) .* rows ", said(capsys), re.MULTILINE)
    assert tables == ["sentences", "labels"]
    assert re.search(r"^  sentences +1 shard +2 rows ", said(capsys), re.MULTILINE)
    assert re.search(r"^  labels +1 shard +2 rows .*\n    texts +2 rows$", said(capsys), re.MULTILINE)
    toml = (tmp_path / "facetflow.toml").read_text()
    (tmp_path / "facetflow.toml").write_text(f"{toml}[srl]\nenabled = true\n")
    assert re.search(r"^  srl +0 shards .*, 1 wanted, 1 to make$", said(capsys), re.MULTILINE)
    tables = {table["table"]: table["corpora"] for table in json.loads(said(capsys, "--json"))["tables"]}
    assert tables == {name: {} for name in TABLES.keys() - {"rejects"}} | {"labels": {"texts": 2}}
    (file,) = (tmp_path / "store" / "tables" / "labels").rglob("*.parquet")
    file.unlink()
    assert "texts" not in said(capsys), "a damaged file does not keep it from saying the rest"


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


def test_a_newest_training_that_failed_is_told_with_the_command_that_tries_again(runs, capsys):
    failed = runs / "syntax" / "00003-aaaaaa" / "seed-1"
    advice = "`facetflow train syntax --release 3 --seeds 2` tries again"
    for at, told in (("2000-01-01", False), ("2099-01-01", True)):
        write_json(failed / "run.json", {"state": "failed", "message": "No room.", "at": f"{at}T00:00:00+00:00"})
        line = f"Newest training syntax/00003-aaaaaa/seed-1 failed: No room ({advice})\n"
        assert (line in said(capsys)) is told, "a newer one was finished since" if not told else ""
    assert json.loads(said(capsys, "--json"))["shortfalls"][0] == {
        "step": "training",
        "name": "syntax",
        "run": "syntax/00003-aaaaaa/seed-1",
        "said": "failed",
        "message": "No room.",
        "advice": advice,
    }
    write_json(failed / "run.json", {"state": "running", "message": "", "at": "2099-01-01T00:00:00+00:00"})
    killed = "Newest training syntax/00003-aaaaaa/seed-1 was interrupted: starts over when the same release"
    assert killed in said(capsys), "no process trains it"
    other = load(runs.parent / "facetflow.toml").encoder("syntax").model_copy(update={"max_tokens": 64})
    source = Source(store=runs.parent / "store", release=3)
    job = TrainingJob[Source, type(other)](source=source, settings=other, output=failed, base=runs.parent)
    (failed / "train.json").write_text(job.model_dump_json())
    assert killed not in said(capsys), "the project file went back to earlier settings"


def test_what_became_of_the_newest_training_after_it_is_told(runs, capsys):
    current, newest = (f"syntax/0000{release}-aaaaaa/seed-0" for release in (1, 2))
    again = f"(`facetflow evaluate {newest} --promote`"
    assert f"Newest training {newest} is not evaluated yet {again} does it)\n" in said(capsys)
    record_failed_evaluation(runs / newest, RunError("There is nothing to score on.\nA second line."))
    failed = f"Newest training {newest} could not be evaluated: There is nothing to score on {again} tries again)\n"
    assert failed in said(capsys)
    record_evaluation(runs / newest, {})
    for folder in (current, newest):
        write_json(runs / folder / "metrics.json", {"format": FORMAT, "suites": {}})
    assert "Newest training" not in said(capsys)
    decision = {"promoted": False, "holds": False, "against": current, "reasons": ["sts 80.0 → 70.0: 10.00 less"]}
    write_json(runs / newest / "promotion.json", decision)
    refused = f"Newest training {newest} was not promoted: sts 80.0 → 70.0: 10.00 less"
    assert f"{refused} (`facetflow compare {current} {newest}` shows more)\n" in said(capsys)
    write_json(runs / newest / "promotion.json", decision | {"promoted": True, "holds": True})
    held = f"Newest training {newest} held, but another run is current: {current} {again} judges it again)\n"
    assert held in said(capsys), "the project file went back to earlier settings"
    promote(runs / newest, "syntax")
    assert "Newest training" not in said(capsys)


def test_pairs_that_were_too_hard_to_align_are_counted(runs, capsys):
    assert "too hard" not in said(capsys)
    store = Store.open(runs.parent / "store")
    flags = {name: pl.Boolean for name in METRIC_COLUMNS if name.endswith("_optimal")}
    easy = {name: True if name in flags else "p0" if name == "pair_id" else 1.0 for name in METRIC_COLUMNS}
    hard = easy | {"pair_id": "p1", "unlabeled_optimal": False}
    recipe = Recipe("metrics")
    output = StageOutput(pl.DataFrame([easy, hard], schema=METRIC_COLUMNS))
    receipt = store.write_shard("metrics", "s0", fingerprint(recipe, ()), output)
    store.commit([receipt], run_id="r", recipes={"metrics": recipe})
    assert "  1 pair too hard to align exactly: its value is a lower bound where `smatch_optimal` " in said(capsys)
    assert json.loads(said(capsys, "--json"))["unproven"] == 1
    (file,) = (Path(store.location) / "tables" / "metrics").rglob("*.parquet")
    file.unlink()
    assert "too hard" not in said(capsys), "a damaged file does not keep it from saying the rest"
    assert json.loads(said(capsys, "--json"))["unproven"] is None


def test_releases_are_counted_where_only_the_newest_are_listed(runs, capsys):
    table, store = runs.parent / "x.tsv", Store.open(runs.parent / "store")
    table.write_text("sentence_a\tsentence_b\n")
    for number in range(1, 5):
        table.write_text(f"{table.read_text()}A dog {number}.\tA cat {number}.\n")
        ingest_corpora(load(runs.parent / "facetflow.toml"), store, f"run-{number}")
        store.publish(f"run-{number}", stages=[])
    assert re.search(r"\nReleases \(4 .*\n  2 of .*\n  3 of .*\n  4 of ", said(capsys))


def test_no_run_is_shown_nor_denied_where_none_is_asked_for(runs, capsys):
    assert "No run yet." in said(capsys)
    assert "No run yet." not in said(capsys, "--runs", "0")


def test_a_current_run_that_was_moved_elsewhere_and_linked_is_named_by_its_path(runs, tmp_path, capsys):
    group = runs / "syntax" / "00001-aaaaaa"
    shutil.move(group, tmp_path / "large disk")
    group.symlink_to(tmp_path / "large disk")
    assert f"Current encoder syntax: {tmp_path / 'large disk' / 'seed-0'}\n" in said(capsys)
