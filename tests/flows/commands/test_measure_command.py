"""`facetflow parse amr` and then `facetflow measure`: each line is paired with the line of the same number."""

import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import told

from features.core.faults import NotParallel, UnknownFormat, Usage
from flows.command_line import run

WORDS = ("dog", "cat", "boy", "girl")
GRAPHS = "".join(f"# ::snt A {word}.\n({word[0]} / {word})\n\n" for word in WORDS)

lines = st.sampled_from([*(f"A {word}." for word in WORDS), "", "  ", "Unseen.", "word " * 600])
"""Sentences with a graph, empty lines, a sentence without a graph, one that is too long."""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """Return a folder with graphs of some sentences, and vectors of their words."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "graphs.amr").write_text(GRAPHS)
    (folder / "words.txt").write_text("".join(f"{word} {n} 1\n" for n, word in enumerate(WORDS)))
    return folder


@given(st.lists(st.tuples(lines, lines), min_size=1, max_size=12))
def test_every_line_meets_the_line_of_its_number(graphs, pairs):
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    if not all(any(line.strip() for line in side) for side in sides):
        return  # a file without a sentence is refused
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, side in zip("ab", sides, strict=True):
            (folder / f"{file}.txt").write_text("".join(f"{line}\n" for line in side))
            parsed = ["parse", "amr", f"{folder}/{file}.txt", "-o", f"{folder}/{file}.amr", "-q"]
            assert run([*parsed, "--graphs", f"{graphs}/graphs.amr"]) in {0, 2}
        command = ["measure", f"{folder}/a.amr", f"{folder}/b.amr", "-o", f"{folder}/out.jsonl", "-q"]
        code = run([*command, "--glove", f"{graphs}/words.txt"])
        rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    good = [all(line.startswith("A ") for line in pair) for pair in pairs]
    assert code == (0 if all(good) else 2)
    assert [(row["pair"], row["id_a"], row["id_b"]) for row in rows] == [
        (number, str(number), str(number)) for number in range(1, len(pairs) + 1)
    ]
    assert [row["concepts"] for row in rows] == [
        float(pair[0] == pair[1]) if complete else None for pair, complete in zip(pairs, good, strict=True)
    ]


@pytest.fixture
def files(tmp_path, graphs):
    (tmp_path / "a.amr").write_text(
        "# ::id 1\n(d / dog)\n\n# ::id 2\n# ::reject no_graph: none\n\n# ::id 3\n(c / cat)\n\n"
    )
    (tmp_path / "b.amr").write_text("# ::id 1\n(d / dog)\n\n# ::id 2\n(b / boy)\n\n# ::id 3\n(c / cat)\n\n")
    return [f"{tmp_path}/a.amr", f"{tmp_path}/b.amr", "--glove", f"{graphs}/words.txt"]


def test_a_reject_is_an_empty_row_counted_and_named(files, tmp_path, capsys):
    assert run(["measure", *files, "-o", str(tmp_path / "out.tsv")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "pair 2: a.amr, block at line 4: rejected as no_graph: none" in said
    assert said[-1].startswith("Wrote 3 pairs, 2 of them measured, 1 empty, to ")
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    assert [row[:4] for row in rows[1:]] == [["1", "1", "1", "1.0"], ["2", "2", "2", ""], ["3", "3", "3", "1.0"]]


def test_parse_and_measure_tell_how_far_they_are(files, graphs, tmp_path, monkeypatch):
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("flows.watching.file_progress.FileProgress.__call__", lambda _, *counts: told.append(counts))
    assert run(["measure", *files, "-o", str(tmp_path / "out.tsv")]) == 2
    assert told == [(0, 3), (3, 3)]
    told.clear()
    (tmp_path / "in.txt").write_text("A dog.\n\nA cat.\nA dog.\n")
    parse = ["parse", "amr", str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.amr")]
    assert run([*parse, "--graphs", f"{graphs}/graphs.amr"]) == 0
    assert told == [(0, 2), (2, 2)]  # a sentence that is there twice is parsed once


def test_what_does_not_match_is_refused_and_nothing_written(files, tmp_path, capsys):
    (tmp_path / "b.amr").write_text("# ::id 1\n(d / dog)\n\n# ::id 3\n(c / cat)\n\n# ::id 4\n(b / boy)\n\n")
    assert run(["measure", *files, "-o", str(tmp_path / "out.tsv")]) == 1
    said = capsys.readouterr().err
    assert told(said, NotParallel)
    assert not (tmp_path / "out.tsv").exists()
    assert run(["measure", *files, "-o", str(tmp_path / "out.tsv"), "--by-position"]) == 2


def test_standard_input_and_output(files, capsys, monkeypatch, refuses):
    content = Path(files[0]).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert run(["measure", "-", *files[1:], "-o", "-", "--format", "jsonl", "-q"]) == 2
    found = capsys.readouterr()
    assert [json.loads(line)["smatch"] for line in found.out.splitlines()] == [1.0, None, 1.0]
    assert found.err == "pair 2: standard input, block at line 4: rejected as no_graph: none\n"
    refuses(Usage, "measure", "-", "-", "-o", "-")


def test_label_vectors_come_from_one_place(files, refuses):
    refuses(Usage, "measure", *files, "--model", "all-MiniLM-L6-v2", "-o", "-")


def test_formats_that_cannot_be_written_are_not_suggested(files, tmp_path, capsys):
    assert run(["measure", *files, "-o", str(tmp_path / "out.amr")]) == 1
    said = capsys.readouterr().err
    assert told(said, UnknownFormat)
    assert ".amr," not in said
