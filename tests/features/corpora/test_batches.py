"""Rows in columns are those that are read one by one, whatever the file holds."""

import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.core.errors import FacetflowError
from features.corpora import batches, cells
from features.corpora.settings import CorpusSettings

COLUMNS = {"sentence_a": "a", "sentence_b": "b", "score": "s", "label": "l", "group": "g"}

texts = st.sampled_from(["A.", "B b.", " C", "", " ", "\x1f", "\u3000", "Größe", '"D"', 'E "e"', '"F', "G\rg", "H\r"])
scores = st.sampled_from(["", "1", " 2.5 ", "x", "nan", "inf", "1e400", "１", "1_0"])
labels = st.sampled_from(["", "yes", " yes", "no"])
rows = st.tuples(texts, texts, scores, labels, labels).map(list)
odd_rows = st.one_of(rows.map(lambda row: row[:3]), rows.map(lambda row: [*row, "more"]), st.just([]), st.just(["A."]))
ends = st.sampled_from(["\n", "\n", "\n", "\r\n"])
lines = st.lists(st.tuples(st.one_of(rows, rows, odd_rows), ends), max_size=12)
typed_scores = st.one_of(st.none(), st.integers(-3, 3), st.floats(), st.just("x"))


def both_ways(read_both_ways, folder, **given_settings):
    """Read a corpus row by row and in columns; an error has to be the same, too."""
    corpus = CorpusSettings(dataset="pairs", **given_settings)
    with patch.object(cells, "_BLOCK", 40):
        try:
            return read_both_ways(corpus, folder)
        except FacetflowError as error:
            expected = error
        with pytest.raises(type(expected)) as again:
            list(batches.read_batches(corpus, folder))
        assert str(again.value) == str(expected)
        return []


@given(lines, st.sampled_from(["tsv", "csv"]), st.sampled_from(["detect", "ordinary", "enclose"]), st.booleans())
def test_text_gives_the_same_rows_in_columns(read_both_ways, written, form, quotes, by_name):
    separator = "\t" if form == "tsv" else ","
    body = "".join(separator.join(row) + end for row, end in written)
    with tempfile.TemporaryDirectory() as folder:
        header = separator.join(COLUMNS.values()) + "\n" if by_name else ""
        (Path(folder) / f"p.{form}").write_bytes((header + body).encode())
        columns = COLUMNS if by_name else {role: place for place, role in enumerate(COLUMNS)}
        files = {"train": [f"p.{form}"]}
        both_ways(read_both_ways, Path(folder), files=files, columns=columns, quotes=quotes, draw={"dev": 0.1})


@given(st.lists(st.tuples(st.one_of(st.none(), texts, st.just("A\0")), texts, labels)), st.lists(typed_scores))
def test_parquet_gives_the_same_rows_in_columns(read_both_ways, written, given_scores):
    height = min(len(written), len(given_scores))
    frame = pl.DataFrame(written[:height], schema={"a": pl.String, "b": pl.String, "l": pl.String}, orient="row")
    score = pl.Series("s", given_scores[:height], strict=False)
    with tempfile.TemporaryDirectory() as folder, patch.object(batches, "BLOCK_ROWS", 3):
        frame.with_columns(score).write_parquet(Path(folder) / "p.parquet")
        columns = {role: COLUMNS[role] for role in ("sentence_a", "sentence_b", "score", "label")}
        both_ways(read_both_ways, Path(folder), files={"train": ["p.parquet"]}, columns=columns)


@pytest.mark.parametrize("line", [b"A.\tB\xff.\t1\n", b"A.\tB.\t1\tmore\n", b"\tB.\t1\n", b"A.\tB.\tx\n"])
def test_a_wrong_row_far_below_is_found_at_its_line(tmp_path, read_both_ways, line):
    good = "Größe.\tB.\t1\n".encode() * 200
    (tmp_path / "p.tsv").write_bytes(b"sentence_a\tsentence_b\tscore\n" + good + line + good)

    outcomes = both_ways(read_both_ways, tmp_path, files={"train": "p.tsv"})

    assert len(outcomes) == 401
    assert outcomes[200].reject.entity_id == "p.tsv:202"


def test_rows_of_several_files_are_numbered_on(tmp_path, read_both_ways):
    for name in ("p.tsv", "q.tsv"):
        (tmp_path / name).write_text("sentence_a\tsentence_b\tscore\nA.\tB.\t1\nA.\tB.\tx\nA.\tB.\t2\n")
    assert len(both_ways(read_both_ways, tmp_path, files={"train": ["p.tsv", "q.tsv"]})) == 6


def test_white_space_is_what_python_strips():
    characters = pl.Series([chr(code) for code in range(1, sys.maxunicode) if not 0xD800 <= code < 0xE000])

    spaces = characters.filter(~characters.str.contains(batches._NO_SPACE))

    assert spaces.to_list() == [each for each in characters.to_list() if each.isspace()]
