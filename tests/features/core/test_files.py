"""Text and tables: every suffix, and every possible fault of a file."""

import bz2
import codecs
import gzip
import lzma
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest
from sentences import refused

from features.core import files
from features.core.faults import (
    CellNotWritable,
    ColumnMissing,
    FileEmpty,
    FileMissing,
    FileTooLong,
    GzipWrong,
    ModelDamaged,
    NotAFile,
    NotText,
    OutputRefused,
    UnknownForm,
    UnknownFormat,
)
from features.core.file_errors import first_line
from features.core.files import open_bytes, open_text, read_table, table_format, without_formulas, write_table
from features.corpora.headers import scan_parquet
from features.parsers.srl.archive import _load

FRAME = pl.DataFrame(
    {
        "sentence": ['"No", he said twice', "Größe, naïve", "", None],
        "score": [1.5, 0.25, None, 3.0],
        "count": [1, 2, 3, 4],
    }
)
SUFFIXES = [".tsv", ".txt", ".csv", ".jsonl", ".ndjson", ".parquet", ".tsv.gz", ".csv.gz", ".jsonl.gz", ".TSV.GZ"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_survives_writing_and_reading(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    types = {"sentence": pl.String, "score": pl.Float64, "count": pl.Int64}

    write_table(FRAME, path)

    # Text formats without quotes cannot tell an empty cell from none.
    same = read_table(path, list(types)).cast(pl.Schema(types)).with_columns(pl.col("sentence").fill_null(""))
    assert same.equals(FRAME.with_columns(pl.col("sentence").fill_null("")))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_come_in_the_order_asked_for(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    write_table(FRAME, path)

    assert read_table(path, ["count", "sentence"]).columns == ["count", "sentence"]
    assert read_table(path).columns == FRAME.columns


def test_further_columns_are_read_where_they_are_wanted(tmp_path):
    write_table(FRAME, tmp_path / "table.csv")
    assert read_table(tmp_path / "table.csv", ["count"], further=True).columns == FRAME.columns


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_the_type_of_a_column_is_that_of_all_rows(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    write_table(pl.DataFrame({"score": [1] * 2000 + [0]}), path)
    *rows, last = path.read_text().splitlines()
    path.write_text("\n".join([*rows, last.replace("0", "0.5")]))
    assert read_table(path)["score"].to_list() == [1] * 2000 + [0.5]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_column_is_named(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    write_table(FRAME, path)

    with refused(ColumnMissing):
        read_table(path, ["label"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_is_named(tmp_path, suffix):
    with refused(FileMissing):
        read_table(tmp_path / f"nothing{suffix}")


def test_a_folder_of_parquet_files_is_not_one_that_does_not_exist(tmp_path):
    (tmp_path / "parts.parquet").mkdir()
    FRAME.write_parquet(tmp_path / "parts.parquet" / "0.parquet")
    for read in (scan_parquet, read_table):
        with refused(NotAFile):
            read(tmp_path / "parts.parquet")


@pytest.mark.parametrize(
    "name", ["table", "table.arrow", "table.xlsx", "table.gz", "table.parquet.gz", "table.xlsx.gz"]
)
def test_an_unknown_suffix_names_the_known_ones(tmp_path, name):
    with refused(UnknownFormat):
        write_table(FRAME, tmp_path / name)
    with refused(UnknownFormat):
        read_table(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_suffixes_are_read_without_case_and_dots_in_names_do_not_matter(tmp_path):
    assert table_format(tmp_path / "v1.2.pairs.TSV") == "tsv"
    assert table_format(tmp_path / "v1.2.jsonl.gz") == "jsonl"


def test_tsv_refuses_what_it_cannot_hold(tmp_path):
    for cell in ("a\tb", "a\nb", "a\rb"):
        with refused(CellNotWritable):
            write_table(pl.DataFrame({"sentence": [cell]}), tmp_path / "table.tsv")
    for suffix in ("tsv", "csv"):
        with refused(CellNotWritable):
            write_table(pl.DataFrame({"words": [["a", "b"]]}), tmp_path / f"table.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_csv_and_jsonl_hold_line_breaks_and_jsonl_holds_lists(tmp_path):
    broken = pl.DataFrame({"sentence": ["a\nb\tc", '"']})
    for name in ("table.csv", "table.jsonl", "table.parquet"):
        write_table(broken, tmp_path / name)
        assert read_table(tmp_path / name).equals(broken)
    lists = pl.DataFrame({"words": [["a", "b"], ["c"]]})
    write_table(lists, tmp_path / "lists.jsonl")
    assert read_table(tmp_path / "lists.jsonl").equals(lists)


def test_a_carriage_return_stays_in_its_cell(tmp_path):
    frame = pl.DataFrame({"text": ["a\rb", "c\r\nd"]})
    write_table(frame, tmp_path / "texts.csv")
    assert read_table(tmp_path / "texts.csv").equals(frame)
    (tmp_path / "texts.tsv").write_bytes(b"text\tn\r\na\rb\t1\r\n")
    assert read_table(tmp_path / "texts.tsv").rows() == [("a\rb", 1)]


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_table(FRAME, path)
    before = path.read_bytes()

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full_disk)
    with refused(OutputRefused):
        write_table(FRAME.head(1), path)

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_a_full_disk_is_one_sentence(kind):
    with refused(OutputRefused):
        write_table(FRAME, Path("/dev/full"), kind)


def test_equal_tables_are_equal_bytes(tmp_path):
    write_table(FRAME, tmp_path / "a.tsv.gz")
    write_table(FRAME, tmp_path / "b.tsv.gz")

    assert (tmp_path / "a.tsv.gz").read_bytes() == (tmp_path / "b.tsv.gz").read_bytes()


def test_text_is_read_without_byte_order_mark_and_decompressed(tmp_path):
    for name, data in (
        ("a.txt", "\ufeffGröße\n".encode()),
        ("b.txt.gz", gzip.compress("\ufeffGröße\n".encode(), mtime=0)),
    ):
        (tmp_path / name).write_bytes(data)
        with open_text(tmp_path / name) as text:
            assert text.read() == "Größe\n"


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("empty.txt", b"", FileEmpty),
        ("empty.txt.gz", gzip.compress(b"", mtime=0), FileEmpty),
        ("latin.txt", "naïve".encode("latin-1"), NotText),
        ("utf16.txt", "naive".encode("utf-16"), NotText),
        ("utf16be.txt", codecs.BOM_UTF16_BE + "naive".encode("utf-16-be"), NotText),
        ("plain.txt.gz", b"plain text", GzipWrong),
        ("flipped.txt.gz", gzip.compress(b"text", mtime=0)[:10] + b"\xff" * 9, GzipWrong),
        ("cut.txt.gz", gzip.compress(b"some text that is cut off" * 100, mtime=0)[:-12], GzipWrong),
        ("a.txt.bz2", bz2.compress(b"text"), GzipWrong),
        ("a.txt.xz", lzma.compress(b"text"), GzipWrong),
    ],
    ids=lambda value: "data" if isinstance(value, bytes) else None,  # gzip's differ by version of Python
)
def test_a_file_that_is_wrong_as_a_whole_is_an_input_error(tmp_path, name, data, fault):
    path = tmp_path / name
    path.write_bytes(data)

    with refused(fault), open_text(path) as text:
        text.read()


def test_a_folder_and_a_missing_file_are_input_errors(tmp_path):
    with refused(NotAFile), open_text(tmp_path):
        pass
    with refused(FileMissing), open_text(tmp_path / "nothing.txt"):
        pass


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_line_that_would_fill_the_memory_is_named(tmp_path, name):
    content = b"one\ntwo\n" + b"a" * (17 << 20) + b"\nfour\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    with open_text(tmp_path / name) as text:
        assert (next(text), next(text)) == ("one\n", "two\n")
        with refused(FileTooLong):
            next(text)
    with open_bytes(tmp_path / name, in_lines=False) as file:
        assert file.read() == content


def test_what_grows_as_no_text_does_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LARGE", 1 << 20)
    lines = "".join(f"{number} {number**0.5}\n" for number in range(100_000))
    for name, content in (("text.txt.gz", lines), ("bomb.txt.gz", "a\n" * (1 << 20))):
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))

    with open_text(tmp_path / "text.txt.gz") as text:
        assert text.read() == lines
    with open_text(tmp_path / "bomb.txt.gz") as text, refused(FileTooLong):
        text.read()


def test_only_text_that_a_spreadsheet_would_run_gets_a_quote_in_front():
    cells = ["=1+1", "+A1", "- no", "@user", "\t=1", "-", "--1", "\n=1", "\uff1d1", "\uff20A1"]
    kept = ["-3.5", "+1e5", "-.5", "7", "a = b", "'", "", None, "a\uff1d1", "\u2212 1"]
    frame = pl.DataFrame({"number": range(10), "formula": cells, "text": kept})

    written = without_formulas(frame)
    assert written["formula"].to_list() == [f"'{cell}" for cell in cells]
    assert written.drop("formula").equals(frame.drop("formula"))


def test_errors_of_the_caller_pass_unchanged(tmp_path):
    (tmp_path / "a.txt").write_text("text")

    with pytest.raises(KeyError), open_text(tmp_path / "a.txt"):
        raise KeyError("mine")


def test_the_first_line_of_an_error_is_told_or_what_it_is():
    assert first_line(ValueError("no such label\nin the vocabulary")) == "no such label"
    assert first_line(KeyError()) == "KeyError"
    assert first_line(ValueError("<Code>A</Code>")) == "<Code>A</Code>", "which looks like a part of an answer"


def test_a_library_that_says_nothing_hides_no_error(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError

    (tmp_path / "p.parquet").touch()
    monkeypatch.setattr(pl, "scan_parquet", fail)
    monkeypatch.setattr("safetensors.torch.load_file", fail)
    monkeypatch.setattr(pl, "read_parquet", Mock(side_effect=(OSError, pl.exceptions.PanicException)))

    for _ in range(2):
        with refused(UnknownForm):
            read_table(tmp_path / "p.parquet")
    with refused(UnknownForm):
        scan_parquet(tmp_path / "p.parquet")
    with refused(ModelDamaged):
        _load(tmp_path / "model.safetensors")


def test_a_name_with_brackets_is_no_pattern(tmp_path):
    write_table(pl.DataFrame({"a": [1]}), tmp_path / "table [1].parquet")
    assert read_table(tmp_path / "table [1].parquet")["a"].to_list() == [1]
