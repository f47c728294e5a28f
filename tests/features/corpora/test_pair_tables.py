"""Tables of pairs to explain: the project's columns, any format, standard input."""

import io
import sys

import pytest

from features.corpora.pair_tables import read_pair_rows, read_pair_table
from features.corpora.settings import CorpusSettings
from features.errors import InputError
from features.outputs import STANDARD

CORPORA = [
    CorpusSettings(dataset="pairs", files={"train": "x.tsv"}),
    CorpusSettings(
        dataset="pairs",
        files={"train": "y.tsv"},
        columns={"sentence_a": "left", "sentence_b": "right", "score": "gold"},
    ),
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.tsv", "sentence_a\tsentence_b\na\tb\n"),
        ("columns.csv", 'number,right,left\n1,b,"a"\n'),
        ("lines.jsonl", '{"left": "a", "right": "b", "note": 1}\n'),
    ],
)
def test_columns_are_those_of_a_corpus_or_the_usual_ones(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_pair_table(tmp_path / name, CORPORA) == [("a", "b")]


@pytest.mark.parametrize(
    "text", ["left\tright\na, b\tc\n", 'left,right\n"a, b",c\n', '{"left": "a, b", "right": "c"}\n']
)
def test_the_first_line_of_standard_input_shows_its_format(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read_pair_table(STANDARD, CORPORA) == [("a, b", "c")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^Standard input is empty"),
        ("x\ty\na\tb\n", "^standard input lacks the columns"),
        ("sentence_a\tsentence_b\na\n", "^standard input, line 2"),
    ],
)
def test_what_is_wrong_with_standard_input_names_no_file(monkeypatch, text, message):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(InputError, match=message):
        read_pair_table(STANDARD)


def test_a_table_without_the_columns_says_which_are_expected(tmp_path):
    (tmp_path / "pairs.tsv").write_text("x\ty\na\tb\n")
    with pytest.raises(InputError, match="columns left, right; or the columns sentence_a, sentence_b"):
        read_pair_table(tmp_path / "pairs.tsv", CORPORA)


def test_a_wrong_row_is_named_by_its_line(tmp_path):
    (tmp_path / "pairs.tsv").write_text("sentence_a\tsentence_b\na\tb\nc\n")
    with pytest.raises(InputError, match=r"pairs\.tsv', line 3: the row has 1 cells"):
        read_pair_table(tmp_path / "pairs.tsv")


@pytest.mark.parametrize("read", [read_pair_table, read_pair_rows])
def test_a_column_with_sentences_is_there_once_and_others_do_not_matter(tmp_path, monkeypatch, read):
    (tmp_path / "twice.csv").write_text("sentence_a,sentence_b,sentence_a\na,b,c\n")
    with pytest.raises(InputError, match=r"twice\.csv' has the column 'sentence_a' more than once"):
        read(tmp_path / "twice.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"sentence_a,sentence_b,sentence_b\na,b,c\n")))
    with pytest.raises(InputError, match=r"^standard input has the column 'sentence_b' more than once"):
        read(STANDARD)
    (tmp_path / "other.csv").write_text("sentence_a,sentence_b,label,label\na,b,x,y\n")
    assert len(read(tmp_path / "other.csv")) == 1


def test_named_columns_may_come_late_in_json_lines(tmp_path):
    (tmp_path / "late.jsonl").write_text('{"x": "a"}\n' * 25 + '{"x": "a", "y": "b"}\n')
    assert [row.problem for row in read_pair_rows(tmp_path / "late.jsonl", ("x", "y"))] == [
        *["the object lacks y"] * 25,
        "",
    ]
