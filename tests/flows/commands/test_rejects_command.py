import json
import os
import pty
import subprocess
import sys

import polars as pl
import pytest

from features.core.faults import OutputOverwrites, UnknownName
from features.core.types import RejectCode
from features.schemas import Reject, rejects_frame
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from flows.command_line import run

PROJECT = """
name = "test"
[[corpora]]
dataset = "pairs"
files = { train = "pairs.tsv" }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
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
    assert run(["rejects", "--limit", str(10**23)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ingest empty_sentence pairs.tsv:2: a sentence is empty",
        "    [red]A boy[/red] | ",
    ]
    assert run(["rejects", "--limit", "0"]) == 0
    assert capsys.readouterr().out == "1 more of 1: --export FILE writes all of them.\n"


def test_a_long_text_is_cut_for_the_terminal_alone(folder, capsys):
    words = "a boy " * 700
    (folder / "pairs.tsv").write_text(f"sentence_a\tsentence_b\n{words}\t\n")
    assert run(["rejects"]) == 0
    shown = capsys.readouterr().out.splitlines()[1]
    assert len(shown) < 320
    assert shown.endswith("…")
    assert run(["rejects", "--json"]) == 0
    assert words.strip() in json.loads(capsys.readouterr().out)[0]["text"]


def test_rejects_as_json_and_as_a_table(folder, capsys):
    assert run(["rejects", "--json", "--export", "rejects.csv"]) == 0
    output = capsys.readouterr()
    assert output.err == "Wrote 1 rejected row to rejects.csv.\n"
    (row,) = json.loads(output.out)
    assert (row["file"], row["line"], row["code"]) == ("pairs.tsv", 2, "empty_sentence")
    assert pl.read_csv(folder / "rejects.csv")["text"].to_list() == [row["text"]]


def test_no_corpus_is_overwritten(folder, refuses):
    before = (folder / "pairs.tsv").read_bytes()
    refuses(OutputOverwrites, "rejects", "--export", "pairs.tsv")
    assert (folder / "pairs.tsv").read_bytes() == before


def test_a_stage_without_rejects_is_refused(folder, refuses):
    refuses(UnknownName, "rejects", "--stage", "amr")


def test_control_characters_are_shown_and_kept_in_files(folder):
    hostile = "=1 \x1b]0;owned\x07\x1b[2J \u009b31m\u202eevil\u2028"
    (folder / "pairs.tsv").write_text(f"sentence_a\tsentence_b\n{hostile}\t\n")

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "flows.command_line", "rejects", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    # click leaves out what a terminal would obey where there is none
    assert said().splitlines()[1] == "    =1 \\u001b]0;owned\\u0007 \\u009b31m\\u202eevil\\u2028 | "
    as_json = said("--json", "--export", "rejects.tsv")
    assert not set(as_json) & set("\x1b\x07\u009b\u202e\u2028")
    text = f"{hostile} | "
    assert json.loads(as_json)[0]["text"] == text
    said("--export", "rejects.csv")
    assert pl.read_csv(folder / "rejects.tsv", separator="\t")["text"].to_list() == [text]
    assert pl.read_csv(folder / "rejects.csv")["text"].to_list() == [f"'{text}"]


def test_control_characters_are_shown_on_a_terminal(folder):
    (folder / "pairs.tsv").write_text("sentence_a\tsentence_b\n\x1b[2J\t\n")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "flows.command_line", "rejects"]
    subprocess.run(command, stdout=theirs, check=True)
    os.close(theirs)
    assert b"    \\u001b[2J | " in os.read(ours, 4096)
    os.close(ours)
