import json
from pathlib import Path

import pytest

from features.core.faults import NotParallel, UnknownFormat, Usage, WrongValue
from features.graph_files.aligned import align_files
from flows.command_line import run

BOY = "# ::snt A boy sleeps.\n(s / sleep-01 :ARG0 (b / boy))\n\n"
GIRL = "# ::id 7\n(s / sleep-01 :ARG0 (g / girl))\n\n"
WRONG = "(s / sleep-01 :ARG0 (g / girl)\n\n"


@pytest.fixture
def files(tmp_path):
    first, second = tmp_path / "a.amr", tmp_path / "b.amr"
    first.write_text(BOY + BOY)
    second.write_text(BOY + GIRL)
    return [str(first), str(second)]


def test_what_matches_as_data(files, tmp_path):
    output = tmp_path / "pairs.jsonl"
    assert run(["align", *files, "-o", str(output)]) == 0
    pairs = [json.loads(line) for line in output.read_text().splitlines()]
    assert [pair["names"] for pair in pairs] == [["A boy sleeps.", "A boy sleeps."], ["A boy sleeps.", "7"]]
    assert pairs[1]["graphs"]["alignment"] == [[0, 0], [1, 1]]
    smatch = pairs[1]["graphs"]["facets"][0]
    assert (smatch["name"], smatch["score"], smatch["matched"]) == ("smatch", 0.75, 3)
    assert [item["text"] for item in smatch["right"] if not item["matched"]] == ["girl"]


def test_progress_is_told_and_parts_make_no_difference(files, monkeypatch):
    told_of = []
    whole = align_files(*map(Path, files))
    monkeypatch.setattr("features.graph_files.aligned._AT_ONCE", 1)
    assert align_files(*map(Path, files), on_rows=lambda *counts: told_of.append(counts)) == whole
    assert told_of == [(0, 2), (1, 2)]


def test_a_page_of_drawings(files, tmp_path):
    output = tmp_path / "pairs.html"
    assert run(["align", *files, "-o", str(output), "--count", "1"]) == 0
    page = output.read_text()
    assert page.count("<svg") == 2
    assert "a.amr | b.amr" in page
    assert "://" not in page


def test_one_drawing(files, tmp_path):
    output = tmp_path / "pair.svg"
    assert run(["align", *files, "-o", str(output), "--start", "2"]) == 0
    svg = output.read_text()
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert ">girl</text>" in svg


def test_one_drawing_is_not_of_several_pairs(files, tmp_path, refuses):
    refuses(Usage, "align", *files, "-o", str(tmp_path / "pairs.svg"), "--count", "2")


def test_wrong_graphs_are_named_and_other_suffixes_refused(files, tmp_path, capsys, refuses):
    (tmp_path / "b.amr").write_text(WRONG + BOY)
    output = tmp_path / "pairs.jsonl"
    assert run(["align", *files, "-o", str(output)]) == 2
    assert "pair 1: b.amr, graph at line 1: line 1, column 1: 1 parenthesis is not closed" in capsys.readouterr().err
    pairs = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(pair["number"], pair["graphs"] is None) for pair in pairs] == [(1, True), (2, False)]
    assert "not closed" in pairs[0]["wrong"][0]
    assert run(["align", *files, "-o", str(tmp_path / "pairs.html")]) == 2
    assert "Not aligned: b.amr, graph at line 1" in (tmp_path / "pairs.html").read_text()
    refuses(UnknownFormat, "align", *files, "-o", str(tmp_path / "pairs.pdf"))
    assert run(["align", *files, "-o", str(tmp_path / "pair.svg")]) == 1
    assert "pair 1: b.amr, graph at line 1: line 1, column 1: 1 parenthesis is not closed" in capsys.readouterr().err
    refuses(WrongValue, "align", *files, "-o", str(output), "--start", "3")
    (tmp_path / "b.amr").write_text(BOY)
    refuses(NotParallel, "align", *files, "-o", str(output))


def test_ids_are_in_every_output_and_must_agree(files, tmp_path, capsys, refuses):
    (tmp_path / "a.amr").write_text("# ::id 7\n(b / boy)\n\n")
    (tmp_path / "b.amr").write_text("# ::id 8\n(b / boy)\n\n")
    refuses(NotParallel, "align", *files, "-o", "-")
    assert run(["align", *files, "-o", "-", "--by-position"]) == 0
    assert json.loads(capsys.readouterr().out)["ids"] == ["7", "8"]
    assert run(["align", *files, "-o", "-", "--by-position", "--format", "html"]) == 0
    assert "Pair 1 · 7 · 8" in capsys.readouterr().out


def test_a_folder_that_may_not_be_written_to_is_one_sentence(files, capsys):
    assert run(["align", *files, "-o", "/sys/pairs.html"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("facetflow: '/sys/pairs.html' cannot be written: ")
    assert said.count("\n") == 1
