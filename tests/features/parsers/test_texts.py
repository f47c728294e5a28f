"""Sentences to parse one-shot: a line in, a line out."""

import gzip
import re
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.errors import FacetflowError
from features.core.faults import ColumnMissing, FileEmpty, NotText, RowWrong, UnknownFormat
from features.core.types import RejectCode
from features.parsers import texts
from features.schemas import Reject, StageOutput, rejects_frame
from features.sentences import sentence_id


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def upper(rows: pl.DataFrame) -> StageOutput:
    """Parse a sentence into capitals; reject those with a question mark."""
    good = ~pl.col("text").str.contains("?", literal=True)
    bad = [Reject(identity, RejectCode.PARSER_FAILED, "a question") for identity in rows.filter(~good)["sentence_id"]]
    made = rows.filter(good).select("sentence_id", pl.col("text").str.to_uppercase().alias("made"))
    return StageOutput(made, rejects_frame(bad))


def test_a_sentence_a_line_and_empty_lines_keep_their_place(tmp_path: Path) -> None:
    same = sentence_id("A boy wants.")
    rows = texts.read_sentences(put(tmp_path / "in.txt", "A  boy wants.\n\n  \nYes\nA boy wants.\n"))
    assert rows.rows() == [
        (1, "1", same, "A boy wants."),
        (2, "2", sentence_id(""), ""),
        (3, "3", sentence_id(""), ""),
        (4, "4", sentence_id("Yes"), "Yes"),
        (5, "5", same, "A boy wants."),
    ]


@pytest.mark.parametrize("name", ["in.txt", "in.txt.gz"])
def test_byte_order_mark_line_ends_and_compression_make_no_difference(tmp_path: Path, name: str) -> None:
    content = b"\xef\xbb\xbfYes\r\n\r\nNo\r\n"
    rows = texts.read_sentences(put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content))
    assert rows["text"].to_list() == ["Yes", "", "No"]


def test_a_carriage_return_within_a_line_does_not_end_it(tmp_path: Path) -> None:
    rows = texts.read_sentences(put(tmp_path / "in.txt", b"A dog\rbarks.\nYes\n"))
    assert rows["text"].to_list() == ["A dog barks.", "Yes"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.amr", "# ::id x\n# ::snt Yes\n(y / yes)\n\n# ::snt No\n# ::reject no_graph: none\n\n"),
        ("in.tsv", "text\tid\nYes\tx\nNo\t\n"),
        ("in.jsonl", '{"id": "x", "text": "Yes"}\n{"id": null, "text": "No"}\n'),
    ],
)
def test_ids_of_the_input_go_before_numbers(tmp_path: Path, name: str, content: str) -> None:
    rows = texts.read_sentences(put(tmp_path / name, content))
    assert rows.select("line", "id", "text").rows() == [(1, "x", "Yes"), (2, "row 2", "No")]


def test_cells_of_a_table_are_taken_as_they_are_written(tmp_path: Path) -> None:
    rows = texts.read_sentences(put(tmp_path / "in.csv", "id,text\n007,1.50\n008,true\n"))
    assert rows.select("id", "text").rows() == [("007", "1.50"), ("008", "true")]


def test_a_row_of_a_table_that_is_wrong_ends_the_command_since_no_line_may_be_left_out(tmp_path: Path) -> None:
    file = put(tmp_path / "in.tsv", "id\ttext\nx\tYes\ny\n")
    with refused(RowWrong):
        texts.read_sentences(file)


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("in.txt", "\n \n", FileEmpty),
        ("in.txt", "", FileEmpty),
        ("in.txt", b"A\n\ncaf\xe9\n", NotText),
        ("in.txt", b"A\n" * 3000 + b"a\x00b\n", NotText),
        ("in.txt", b"\xff\xfeA\x00\n\x00", NotText),
        ("in.txt", "\n# ::id 1\n# ::snt Yes\n(y / yes)\n", UnknownFormat),
        ("in.txt", "# ::snt Yes\n(y / yes)\n", UnknownFormat),
        ("in.amr", "# ::id 1\n(y / yes)\n", FileEmpty),
        ("in.tsv", "sentence\nYes\n", ColumnMissing),
        ("trees.conllu", "# text = A dog barks.\n1\tA\n", UnknownFormat),
        ("trees.conllu.gz", b"", UnknownFormat),
        ("in.amr", b"# ::snt caf\xe9\n(o / open-01)\n", NotText),
    ],
)
def test_what_is_no_text_is_one_sentence(
    tmp_path: Path, name: str, content: str | bytes, fault: type[FacetflowError]
) -> None:
    with refused(fault):
        texts.read_sentences(put(tmp_path / name, content))


def test_every_line_has_its_row_or_its_reject(tmp_path: Path) -> None:
    lines = texts.read_sentences(put(tmp_path / "in.txt", "Yes\n\nWhy?\nYes\nNo\nWhy?\n"))
    told: list[tuple[int, int]] = []
    parsed = texts.parse_lines(lines, upper, at_once=2, on_rows=lambda *counts: told.append(counts))
    assert parsed.select("id", "made", "code").rows() == [
        ("1", "YES", None),
        ("2", None, "empty_sentence"),
        ("3", None, "parser_failed"),
        ("4", "YES", None),
        ("5", "NO", None),
        ("6", None, "parser_failed"),
    ]
    assert parsed["message"].to_list()[1:3] == ["the sentence is empty", "a question"]
    assert told == [(0, 3), (2, 3), (3, 3)]  # each text once


@pytest.mark.parametrize("sentences", [[], [("", "")]])
def test_without_a_text_there_are_the_columns(sentences: list[tuple[str, str]]) -> None:
    parsed = texts.parse_lines(texts.number_sentences(sentences), upper)
    assert parsed.columns == ["line", "id", "text", "made", "code", "message"]
    assert parsed["code"].to_list() == ["empty_sentence"] * len(sentences)


def test_no_line_is_lost_whatever_it_holds(tmp_path: Path) -> None:
    odd = ["\x0b", "\u2028\u2029", "\x85x", "a\x1cb", "\ufeffx", "::id 7", "# snt no", "\\n", '"']
    lines = texts.read_sentences(put(tmp_path / "in.txt", "\n".join([*odd, "end"])))
    assert lines["line"].to_list() == list(range(1, len(odd) + 2))
    assert not any(re.search(r"[\n\r\u2028\x85]", text) for text in lines["text"])
