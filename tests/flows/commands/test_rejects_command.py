import json
from pathlib import Path

import polars as pl
import pytest

from features.stage_output import Reject, rejects_frame
from features.stages.recipe import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from features.types import RejectCode
from flows.command_line import run

PROJECT = """
name = "test"
[[corpora]]
dataset = "pairs"
files = { train = "pairs.tsv" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose ingest rejected a row."""
    (tmp_path / "facetflow.toml").write_text(PROJECT)
    (tmp_path / "pairs.tsv").write_text("sentence_a\tsentence_b\n[red]A boy[/red]\t\n")
    store = Store.open(tmp_path / "store", create=True, project="test")
    recipe = Recipe("ingest")
    rejects = [Reject("pairs.tsv:2", RejectCode.EMPTY_SENTENCE, "pairs.tsv:2: a sentence is empty")]
    receipt = store.write_rejects("ingest", "ingest", fingerprint(recipe, []), rejects_frame(rejects))
    store.commit([receipt], run_id="r", recipes={"ingest": recipe})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rejects_are_shown_with_their_line(folder, capsys):
    assert run(["rejects"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ingest empty_sentence pairs.tsv:2: a sentence is empty",
        "    [red]A boy[/red] | ",
    ]
    assert run(["rejects", "--limit", "0"]) == 0
    assert capsys.readouterr().out == "1 more of 1: --export FILE writes all of them.\n"


def test_rejects_as_json_and_as_a_table(folder, capsys):
    assert run(["rejects", "--json", "--export", "rejects.csv"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["file"], row["line"], row["code"]) == ("pairs.tsv", 2, "empty_sentence")
    assert pl.read_csv(folder / "rejects.csv")["text"].to_list() == [row["text"]]


def test_a_stage_without_rejects_is_refused(folder, capsys):
    assert run(["rejects", "--stage", "amr"]) == 1
    assert "No row was rejected with the stage 'amr'; there are ingest." in capsys.readouterr().err
