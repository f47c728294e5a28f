import io
import json
from pathlib import Path

import polars as pl
import pytest
from sentences import told

from features.core.faults import NotParallel, UnknownName, Usage
from flows.command_line import run

BOY = "(s / sleep-01 :ARG0 (b / boy))\n\n"
GIRL = "(s / sleep-01 :ARG0 (g / girl))\n\n"


@pytest.fixture
def files(tmp_path):
    gold, parsed = tmp_path / "gold.amr", tmp_path / "parsed.amr"
    gold.write_text(BOY + GIRL)
    parsed.write_text(BOY + BOY)
    return [str(gold), str(parsed)]


def test_a_table_and_the_signatures(files, capsys):
    assert run(["score", *files, "--metrics", "smatch,frames", "--seed", "3"]) == 0
    said = capsys.readouterr().out
    # Seven of eight triples: sleep-01, TOP and ARG0 of both, boy of one.
    assert ["smatch", "87.50", "87.50", "87.50"] in [line.split()[:4] for line in said.splitlines()]
    assert "2 pairs of graphs" in said
    assert "frames|count:multiset|version:" in said
    assert "|pairing:position|wiki:kept\n" in said, "two pairs have no interval"
    assert "concepts" not in said


def test_the_signature_says_how_the_interval_was_drawn(tmp_path, capsys):
    (tmp_path / "six.amr").write_text(BOY * 6)
    assert run(["score", *[str(tmp_path / "six.amr")] * 2, "--metrics", "frames", "--seed", "3"]) == 0
    assert "|pairing:position|wiki:kept|bootstrap:1000|seed:3\n" in capsys.readouterr().out


def test_the_word_amr_may_be_said(files, capsys):
    assert run(["score", "--metrics", "smatch", *files]) == 0
    short = capsys.readouterr().out
    assert run(["score", "amr", "--metrics", "smatch", *files]) == 0
    assert capsys.readouterr().out == short


def test_scores_as_a_file(files, tmp_path):
    output = tmp_path / "scores.tsv"
    assert run(["score", *files, "--resamples", "0", "-o", str(output)]) == 0
    table = pl.read_csv(output, separator="\t")
    assert table["metric"].to_list()[0] == "smatch"
    assert table["f1"][0] == pytest.approx(0.875)
    assert table["f1_low"].null_count() == table.height


def test_a_format_is_that_of_a_table_to_write(files, refuses):
    refuses(Usage, "score", *files, "--format", "csv")


def test_a_wrong_graph_is_named_and_the_exit_code_says_so(files, capsys):
    Path(files[1]).write_text(BOY + "(s / sleep-01\n\n")
    assert run(["score", *files]) == 2
    assert "parsed.amr, graph at line 3" in capsys.readouterr().err


def test_scores_as_json(files, capsys):
    Path(files[1]).write_text(BOY + "(s / sleep-01\n\n")
    assert run(["score", *files, "--metrics", "smatch", "--resamples", "0", "--json"]) == 2
    found = capsys.readouterr()
    result = json.loads(found.out)
    (score,) = result["scores"]
    assert (score["metric"], score["pairs"]) == ("smatch", 2)
    assert score["recall"] == {"value": 0.5, "low": None, "high": None}
    assert result["wrong"] == found.err.splitlines()


def test_the_table_fits_a_terminal_of_80_columns(files, capsys):
    assert run(["score", *files, "--resamples", "10"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in said if "|" not in line) <= 80  # a signature is one word
    assert "…" not in "".join(said)


def test_graphs_that_all_agree_have_no_interval(tmp_path, capsys):
    (tmp_path / "gold.txt").write_text("(b / bark-01)\n\n" * 6)
    assert run(["score", *[str(tmp_path / "gold.txt")] * 2, "--metrics", "smatch"]) == 0
    (row,) = (line.split() for line in capsys.readouterr().out.splitlines() if " smatch " in line)
    assert row == ["smatch", *["100.00"] * 3, "–", "100.00", "100", "%"]


def test_standard_output_holds_one_thing(files, capsys, refuses):
    assert run(["score", *files, "--metrics", "smatch", "--resamples", "0", "-o", "-"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode(), separator="\t")
    assert table["f1"].to_list() == [pytest.approx(0.875)]
    refuses(Usage, "score", *files, "-o", "-", "--json")
    refuses(Usage, "score", "-", "-")


def test_more_resamples_than_a_life_is_long_are_refused(files, refuses):
    refuses(Usage, "score", *files, "--resamples", "1" + "0" * 23)


def test_gold_graphs_from_standard_input(files, capsys, monkeypatch):
    command = ["score", "--metrics", "smatch", "--json"]
    assert run([*command, *files]) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(files[0]).read_bytes())))
    assert run([*command, "-", files[1]]) == 0
    assert capsys.readouterr().out == expected


def test_other_ids_are_told_how_to_be_paired(files, refuses):
    Path(files[0]).write_text(f"# ::id 1\n{BOY}# ::id 2\n{GIRL}")
    Path(files[1]).write_text(f"# ::id 1\n{BOY}# ::id 3\n{GIRL}")
    refuses(NotParallel, "score", *files)
    assert run(["score", *files, "--by-position", "--metrics", "smatch"]) == 0
    # Not by position without a word where only some have ids.
    Path(files[1]).write_text(f"# ::id 7\n{BOY}{GIRL}")
    refuses(NotParallel, "score", *files)


def test_errors_are_one_sentence(files, tmp_path, capsys):
    assert run(["score", *files, "-o", str(tmp_path / "scores.xlsx")]) == 1
    assert run(["score", *files, "--metrics", "wlk"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert told(said[1], UnknownName)
