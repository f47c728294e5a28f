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


def test_lines_are_counted_over_cells_with_line_breaks(read):
    rows, rejects = read("p.csv", 'sentence_a,sentence_b\n"two\nlines",B\n,B\n"A"x,B\nA,B\n')

    assert [row.origin for row in rows] == ["p.csv:2", "p.csv:6"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("p.csv:4", Code.EMPTY_SENTENCE),
        ("p.csv:5", Code.WRONG_COLUMNS),
    ]


def test_a_quote_that_never_closes_names_its_line_and_what_helps_in_its_form(read):
    with refused(CellNeverEnds):
        read("p.csv", 'sentence_a,sentence_b\nA,B\n"A,B\nA,B\n')
    with refused(CellNeverEnds):
        read("p.tsv", 'sentence_a\tsentence_b\nA\tB\n"A\tB\nA\tB\n', quotes="enclose")


def test_a_nul_character_is_a_reject_in_every_form(tmp_path, read):
    many = [("A boy sleeps.", "A girl sleeps.")] * 500  # one near the beginning shows that a file is no text
    rows = pl.DataFrame([*many, ("A \0 boy.", "A girl.")], schema=["sentence_a", "sentence_b"], orient="row")
    rows.write_csv(tmp_path / "p.csv")
    rows.write_csv(tmp_path / "p.tsv", separator="\t")
    rows.write_ndjson(tmp_path / "p.jsonl")
    rows.write_parquet(tmp_path / "p.parquet")

    for name, line in (("p.csv", 502), ("p.tsv", 502), ("p.jsonl", 501), ("p.parquet", 501)):
        found, rejects = read(name)
        assert len(found) == 500
        assert [(each.entity_id, each.code) for each in rejects] == [(f"{name}:{line}", Code.BAD_ENCODING)]
        assert "the row has a NUL character" in rejects[0].message


def test_a_cell_may_be_longer_than_csv_takes_by_itself(monkeypatch, read):
    rows, rejects = read("p.csv", f"sentence_a,sentence_b\nA,{'long ' * 40_000}\nA,B\n")
    assert ([len(row.text_b) for row in rows], rejects) == ([200_000, 1], [])
    monkeypatch.setattr(cells, "_LONGEST", 1000)
    with refused(CellNeverEnds):
        read("p.csv")


def test_quotes_in_a_tsv_enclose_cells_only_where_the_file_shows_it(read):
    raw = 'sentence_a\tsentence_b\n"Yes," he said.\tHe said "yes".\n'
    enclosed = 'sentence_a\tsentence_b\n"""Yes,"" he said."\t"He said ""yes""."\n'
    for text in (raw, enclosed):
        rows, _ = read("p.tsv", text)
        assert [(row.text_a, row.text_b) for row in rows] == [('"Yes," he said.', 'He said "yes".')]
    rows, _ = read("p.tsv", enclosed, quotes="ordinary")
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
def test_quotes_around_every_cell_are_no_part_of_it(read, text):
    rows, _ = read("p.tsv", text)

    assert (rows[0].text_a, rows[0].text_b, rows[0].label) == ("A cat.", "A dog.", "x")


@pytest.mark.parametrize(
    "text",
    [
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\nA cat.\tA dog.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n"Yes," he said.\tNo.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n12" wide\tNo.\n',
    ],
)
def test_quotes_around_some_cells_are_ordinary(read, text):
    rows, _ = read("p.tsv", text)

    assert [row.text_a for row in rows] == [line.split("\t")[0] for line in text.splitlines()[1:]]


def test_a_header_is_read_with_the_quotes_of_its_file(read):
    with refused(ColumnMissing):
        read("p.tsv", '"sentence_a"\t"sentence_b"\n"A"\t"B"\n', quotes="ordinary")
    with refused(NotText):
        read("latin.tsv", b"sentence_a\tsentence_b\tna\xefve\nA\tB\tC\n")


def test_one_line_that_is_no_utf8_is_a_reject(read):
    good = ["Größe\tB\t".encode()] * 3
    lines = ["sentence_a\tsentence_b\tnaïve".encode("latin-1"), *good, "A\tB\tnaïve".encode("latin-1"), b"A\tB\t"]
    rows, rejects = read("p.tsv", b"\n".join(lines))

    assert len(rows) == 4
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.tsv:5", Code.BAD_ENCODING)]


def test_a_carriage_return_inside_a_sentence_ends_no_line(read):
    rows, rejects = read("p.tsv", b"sentence_a\tsentence_b\r\nA\rcat\tB\r\n")

    assert [(row.text_a, row.text_b) for row in rows] == [("A\rcat", "B")]
    assert rejects == []
