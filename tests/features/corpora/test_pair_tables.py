"""Tables of pairs to explain: the project's columns, any format, standard input."""

import io
import os
import sys
import threading

import pytest
from sentences import refused

from features.core.faults import ColumnMissing, ColumnsUnclear, ColumnTwice, FileEmpty, GzipWrong
from features.core.outputs import STANDARD
from features.corpora.pair_tables import read_pair_rows
from features.corpora.settings import CorpusSettings

CORPORA = [
    CorpusSettings(dataset="pairs", files={"train": "x.tsv"}),
    CorpusSettings(
        dataset="pairs",
        files={"train": "y.tsv"},
        columns={"sentence_a": "left", "sentence_b": "right", "score": "gold"},
    ),
]


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a table and reads its pairs."""

    def read(name, text, columns=(), **given):
        (tmp_path / name).write_text(text)
        return read_pair_rows(tmp_path / name, columns, **given)

    return read


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.tsv", "sentence_a\tsentence_b\na\tb\n"),
        ("columns.csv", 'number,right,left\n1,b,"a"\n'),
        ("lines.jsonl", '{"left": "a", "right": "b", "note": 1}\n'),
    ],
)
def test_columns_are_those_of_a_corpus_or_the_usual_ones(read, name, text):
    assert [row[1:] for row in read(name, text, corpora=CORPORA)] == [("a", "b", "")]


@pytest.mark.parametrize(
    "text", ["left\tright\na, b\tc\n", 'left,right\n"a, b",c\n', '{"left": "a, b", "right": "c"}\n']
)
def test_the_first_line_of_standard_input_shows_its_format(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert [row[1:] for row in read_pair_rows(STANDARD, corpora=CORPORA)] == [("a, b", "c", "")]


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"", FileEmpty), (b"x\ty\na\tb\n", ColumnMissing), (b"\x1f\x8b\x08", GzipWrong)],
)
def test_what_is_wrong_with_standard_input_names_no_file(monkeypatch, content, fault):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with refused(fault):
        read_pair_rows(STANDARD)


def test_a_table_without_the_columns_says_which_are_expected(read):
    with refused(ColumnMissing):
        read("pairs.tsv", "x\ty\na\tb\n", corpora=CORPORA)


def test_a_column_with_sentences_is_there_once_and_others_do_not_matter(read, monkeypatch):
    with refused(ColumnTwice):
        read("twice.csv", "sentence_a,sentence_b,sentence_a\na,b,c\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"sentence_a,sentence_b,sentence_b\na,b,c\n")))
    with refused(ColumnTwice):
        read_pair_rows(STANDARD)
    assert len(read("other.csv", "sentence_a,sentence_b,label,label\na,b,x,y\n")) == 1


def test_named_columns_may_come_late_in_json_lines(read):
    assert [row.problem for row in read("late.jsonl", '{"x": "a"}\n' * 25 + '{"x": "a", "y": "b"}\n', ("x", "y"))] == [
        *["the object lacks y"] * 25,
        "",
    ]


def test_columns_are_chosen_by_one_rule(tmp_path):
    (tmp_path / "known.csv").write_text("id,question1,question2\n7,a,b\n")
    (tmp_path / "again.tsv").write_text('"Quality"\t"#1 String"\t"#2 String"\n"1"\t"a"\t"b"\n')
    for name in ("known.csv", "again.tsv"):
        assert [tuple(row)[1:3] for row in read_pair_rows(tmp_path / name)] == [("a", "b")]
    (tmp_path / "bare.csv").write_text("7,a,b\n")
    by_place = CorpusSettings(dataset="pairs", files={"train": "x.csv"}, columns={"sentence_a": 1, "sentence_b": 2})
    told = []
    assert len(read_pair_rows(tmp_path / "bare.csv", corpora=[by_place], tell=told.append)) == 1
    (line,) = told
    assert "bare.csv' has no known header line: its sentences are cells 2 and 3, as in a corpus of" in line


def test_cells_that_are_all_in_quotes_are_read_without_them(read):
    (pair,) = read("q.tsv", '"sentence_a"\t"sentence_b"\n"A man eats."\t"He is eating."\n')
    assert (pair.text_a, pair.text_b) == ("A man eats.", "He is eating.")


@pytest.mark.parametrize(
    ("name", "text"), [("f.tsv", "sentence_a\tsentence_b\na\tb\n"), ("63", "sentence_a,sentence_b\na,b\n")]
)
def test_a_pipe_is_read_as_a_file_is(tmp_path, name, text):
    for written, expected in (
        (text, [(2, "")]),
        (text + "c\n", [(2, ""), (3, "the row has 1 cell; expected 2")]),
        ("", None),
    ):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(written,))
        writer.start()
        try:
            if expected is not None:
                assert [(row.line, row.problem) for row in read_pair_rows(pipe)] == expected
            else:
                with refused(FileEmpty):
                    read_pair_rows(pipe)
        finally:
            writer.join()
            pipe.unlink()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n.tsv", "\nsentence_a\tsentence_b\na\tb\n\nc\td\n\n\n"),
        ("n.csv", '\nsentence_a,sentence_b\n"a",b\n\nc,d\n\n'),
        ("n.jsonl", '\n\n{"sentence_a": "a", "sentence_b": "b"}\n\n{"sentence_a": "c", "sentence_b": "d"}\n\n'),
    ],
)
def test_a_blank_line_between_pairs_keeps_its_place(read, name, text):
    rows = [(row.line, row.text_a, row.problem) for row in read(name, text)]
    assert rows[-3:] == [(3, "a", ""), (4, None, "the line is empty"), (5, "c", "")]


def test_of_a_row_that_is_no_pair_it_is_said_which_sentence_is_empty(tmp_path):
    (tmp_path / "n.tsv").write_text("sentence_a\tsentence_b\na\t\n\tb\n \t \na\tb\n")
    problems = ["sentence b is empty", "sentence a is empty", "both sentences are empty", ""]
    assert [row.problem for row in read_pair_rows(tmp_path / "n.tsv")] == problems


def test_positions_are_for_tables_of_cells(read):
    with refused(ColumnsUnclear):
        read("n.jsonl", '{"sentence_a": "a", "sentence_b": "b"}\n', ("0", "1"))


def test_blank_lines_alone_are_no_rows(read):
    with refused(FileEmpty):
        read("n.tsv", "sentence_a\tsentence_b\n\n\n")


def test_a_header_line_below_positions_is_told(tmp_path, read):
    (tmp_path / "m.tsv").write_text("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t2\t3\ta\tb\n")
    told = []
    assert len(read_pair_rows(tmp_path / "m.tsv", ("3", "4"), tell=told.append)) == 2
    assert len(told) == 1
    assert "m.tsv' looks like a header line ('Quality', " in told[0]
    assert len(read("m.tsv", "1\t2\t3\ta\tb\n0\t2\t3\ta\tb\n", ("3", "4"), tell=told.append)) == 2
    assert len(told) == 1


def test_digits_are_names_where_columns_have_them_and_positions_else(read):
    assert [(row.text_a, row.text_b) for row in read("n.tsv", "1\t0\na\tb\n", ("0", "1"))] == [("b", "a")]
    assert [(row.text_a, row.text_b) for row in read("n.tsv", "1\tx\ty\n", ("1", "2"))] == [("x", "y")]


@pytest.mark.parametrize("columns", [("sentence_a", "sentence_a"), ("1", "01"), (0, 0)])
def test_one_column_is_not_both_sentences(read, columns):
    with refused(ColumnsUnclear):
        read("n.tsv", "sentence_a\tsentence_b\na\tb\n", columns)


def test_json_on_several_lines_is_told(read):
    with refused(ColumnMissing) as fault:
        read("p.jsonl", '{\n  "sentence_a": "a",\n  "sentence_b": "b"\n}\n')
    assert "In its first line, the line is not a JSON object" in str(fault.value)
