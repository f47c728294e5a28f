"""Cells of TSV and CSV files: double quotes, line breaks, bytes that are not text."""

import re
import time
import tracemalloc

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import CellNeverEnds, ColumnMissing, NotText
from features.core.types import RejectCode as Code
from features.corpora import cells


def test_lines_are_counted_over_cells_with_line_breaks(tmp_path, rows_and_rejects):
    (tmp_path / "p.csv").write_text('sentence_a,sentence_b\n"two\nlines",B\n,B\n"A"x,B\nA,B\n', newline="")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})

    assert [row.origin for row in rows] == ["p.csv:2", "p.csv:6"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("p.csv:4", Code.EMPTY_SENTENCE),
        ("p.csv:5", Code.WRONG_COLUMNS),
    ]


def test_a_quote_that_never_closes_names_its_line_and_what_helps_in_its_form(tmp_path, rows_and_rejects):
    (tmp_path / "p.csv").write_text('sentence_a,sentence_b\nA,B\n"A,B\nA,B\n')
    (tmp_path / "p.tsv").write_text('sentence_a\tsentence_b\nA\tB\n"A\tB\nA\tB\n')

    with refused(CellNeverEnds):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})
    with refused(CellNeverEnds):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"}, quotes="enclose")


def test_a_nul_character_is_a_reject_in_every_form(tmp_path, rows_and_rejects):
    many = [("A boy sleeps.", "A girl sleeps.")] * 500  # one near the beginning shows that a file is no text
    rows = pl.DataFrame([*many, ("A \0 boy.", "A girl.")], schema=["sentence_a", "sentence_b"], orient="row")
    rows.write_csv(tmp_path / "p.csv")
    rows.write_csv(tmp_path / "p.tsv", separator="\t")
    rows.write_ndjson(tmp_path / "p.jsonl")
    rows.write_parquet(tmp_path / "p.parquet")

    for name, line in (("p.csv", 502), ("p.tsv", 502), ("p.jsonl", 501), ("p.parquet", 501)):
        read, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": name})
        assert len(read) == 500
        assert [(each.entity_id, each.code) for each in rejects] == [(f"{name}:{line}", Code.BAD_ENCODING)]
        assert "the row has a NUL character" in rejects[0].message


def test_a_cell_may_be_longer_than_csv_takes_by_itself(tmp_path, monkeypatch, rows_and_rejects):
    (tmp_path / "p.csv").write_text(f"sentence_a,sentence_b\nA,{'long ' * 40_000}\nA,B\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})
    assert ([len(row.text_b) for row in rows], rejects) == ([200_000, 1], [])
    monkeypatch.setattr(cells, "_LONGEST", 1000)
    with refused(CellNeverEnds):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})


def test_quotes_in_a_tsv_enclose_cells_only_where_the_file_shows_it(tmp_path, rows_and_rejects):
    (tmp_path / "raw.tsv").write_text('sentence_a\tsentence_b\n"Yes," he said.\tHe said "yes".\n')
    (tmp_path / "enclosed.tsv").write_text('sentence_a\tsentence_b\n"""Yes,"" he said."\t"He said ""yes""."\n')

    for name in ("raw.tsv", "enclosed.tsv"):
        rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": name})
        assert [(row.text_a, row.text_b) for row in rows] == [('"Yes," he said.', 'He said "yes".')]
    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "enclosed.tsv"}, quotes="ordinary")
    assert rows[0].text_b == '"He said ""yes""."'


def test_thousands_of_quotes_in_one_cell_are_detected_in_one_pass(tmp_path):
    many = '"' + '""' * 20_000
    (tmp_path / "p.tsv").write_text(f"sentence_a\tsentence_b\n{many}a\tB\n")

    started = time.process_time()
    assert cells.decided_quotes(tmp_path / "p.tsv", "tsv", "detect") == "ordinary"
    assert time.process_time() - started < 5


def test_quotes_in_a_row_as_long_as_a_book_take_no_memory_to_detect(tmp_path):
    (tmp_path / "p.tsv").write_text('"x"\t"y"\n"A ' + "cat " * 500_000 + '\\"b\\"."\t"c"\n')

    tracemalloc.start()
    assert cells.decided_quotes(tmp_path / "p.tsv", "tsv", "detect") == "enclose"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 << 20, "matching the row would take 230 MB"


@given(st.text('"a\n', max_size=12))
def test_an_enclosed_cell_has_a_doubled_quote_inside(cell):
    expected = re.fullmatch(r'"(?:[^"]|"")*""(?:[^"]|"")*"', cell)

    assert bool(cells._ENCLOSED.fullmatch(cell)) == bool(expected)


@pytest.mark.parametrize(
    "text",
    [
        '"sentence_a"\t"sentence_b"\t"label"\n"A cat."\t"A dog."\t"x"\n',
        'sentence_a\tsentence_b\tlabel\n"A cat."\t"A dog."\t"x"\n"Two\nlines."\t""\t3.5\n',
        '"sentence_a"\t"sentence_b"\t"label"\n"A cat."\t"A dog."\tx\nBare.\tA "b" c.\tx\n',
        '\n"sentence_a"\t"sentence_b"\t"label"\r\n"A cat."\t"A dog."\t"x"\r\n"A \\"b\\" c."\tA\tNA\r\n',
    ],
    ids=["all", "below a bare header", "the header and some", "with backslashes"],
)
def test_quotes_around_every_cell_are_no_part_of_it(tmp_path, text, rows_and_rejects):
    (tmp_path / "p.tsv").write_text(text, newline="")

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert (rows[0].text_a, rows[0].text_b, rows[0].label) == ("A cat.", "A dog.", "x")


@pytest.mark.parametrize(
    "text",
    [
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\nA cat.\tA dog.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n"Yes," he said.\tNo.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n12" wide\tNo.\n',
    ],
)
def test_quotes_around_some_cells_are_ordinary(tmp_path, text, rows_and_rejects):
    (tmp_path / "p.tsv").write_text(text)

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert [row.text_a for row in rows] == [line.split("\t")[0] for line in text.splitlines()[1:]]


def test_a_header_is_read_with_the_quotes_of_its_file(tmp_path, rows_and_rejects):
    (tmp_path / "p.tsv").write_text('"sentence_a"\t"sentence_b"\n"A"\t"B"\n')
    (tmp_path / "latin.tsv").write_bytes(b"sentence_a\tsentence_b\tna\xefve\nA\tB\tC\n")

    with refused(ColumnMissing):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"}, quotes="ordinary")
    with refused(NotText):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "latin.tsv"})


def test_one_line_that_is_no_utf8_is_a_reject(tmp_path, rows_and_rejects):
    good = ["Größe\tB\t".encode()] * 3
    lines = ["sentence_a\tsentence_b\tnaïve".encode("latin-1"), *good, "A\tB\tnaïve".encode("latin-1"), b"A\tB\t"]
    (tmp_path / "p.tsv").write_bytes(b"\n".join(lines))

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert len(rows) == 4
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.tsv:5", Code.BAD_ENCODING)]


def test_a_carriage_return_inside_a_sentence_ends_no_line(tmp_path, rows_and_rejects):
    (tmp_path / "p.tsv").write_bytes(b"sentence_a\tsentence_b\r\nA\rcat\tB\r\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert [(row.text_a, row.text_b) for row in rows] == [("A\rcat", "B")]
    assert rejects == []
