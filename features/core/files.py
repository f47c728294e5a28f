"""User files: text read with clear errors, and tables whose suffix selects the format.

    .tsv .txt   tab separated, one header line, quotes are ordinary characters, no tab and no line break in a cell
    .csv        comma separated, one header line, cells in double quotes where needed
    .jsonl      one JSON object a line (also .ndjson)
    .parquet    Parquet, zstd

A text format may be compressed: `pairs.tsv.gz`. `-` is standard input. Files are decompressed while they are read, and
what would fill the memory is refused: a line without end, text that grows as no text does.
"""

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, TextIO, cast

import polars as pl

from features.core.faults import (
    CellNotWritable,
    ColumnMissing,
    FileChanged,
    FileEmpty,
    FileMissing,
    FileTooLong,
    FileUnreadable,
    GzipWrong,
    NotAFile,
    NotText,
    UnknownForm,
    UnknownFormat,
)
from features.core.file_errors import first_line
from features.core.outputs import STANDARD, TABLE_FORMATS, format_of, format_suffix, shown, whole_file

TableFormat = Literal["tsv", "csv", "jsonl", "parquet"]

_FORMATS = {suffix: cast("TableFormat", name) for name, suffixes in TABLE_FORMATS.items() for suffix in suffixes}
_SAVED_AS = dict.fromkeys((".xls", ".xlsx", ".ods"), "save the sheet as .csv, or as another of") | {
    ".arrow": "write it as .parquet, or as another of",
    ".json": "write one JSON object a line and name it .jsonl, or use another of",
    **dict.fromkeys((".conllu", ".conll"), "write its sentences to a column `text` of one of"),
}
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_HEAD_BYTES = 4096
_COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"PK\x03\x04", b"BZh91AY")  # by zstd, xz, zip, bzip2
_BUFFER = 1 << 18
_LONGEST_LINE = 1 << 24  # bytes
_GROWTH, _LARGE = 100, 1 << 28  # text is compressed to a fifth or a tenth; below so many bytes, growth does no harm


def refuse_other_tables(path: Path) -> None:
    """Raise an InputError for a sheet, a JSON document or parsed text, where a file of any other suffix is text."""
    if format_suffix(path)[0] in _SAVED_AS:
        table_format(path)


def table_format(path: Path) -> TableFormat:
    """Return the format that a table's suffix names, before a `.gz` if there is one; an InputError if it names none."""
    suffix, zipped = format_suffix(path)
    kind = _FORMATS.get(suffix)
    if kind is None or (zipped and kind == "parquet"):
        save = _SAVED_AS.get(suffix, "use one of")
        raise UnknownFormat(
            f"{str(path)!r} has no table suffix: {save} {', '.join(_FORMATS)}; text formats also with .gz."
        )
    return kind


@contextmanager
def open_text(
    path: Path, *, newline: str | None = None, errors: str = "strict", in_lines: bool = True
) -> Iterator[TextIO]:
    r"""Open a UTF-8 text file for reading, decompressed when it ends in `.gz`, without a byte order mark.

    `newline` and `errors` are those of `open`: `"\n"` keeps a carriage return inside a line, `"surrogateescape"` leaves
    it to the reader to find lines that are not UTF-8. `in_lines` is that of `open_bytes`.

    Raises:
        InputError: as `open_bytes`; or the file is empty, compressed in another way, or not UTF-8.
    """
    with open_bytes(path, in_lines=in_lines) as raw:
        head = raw.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        if not head:
            raise FileEmpty(f"{source_name(path)} is empty: check that it was written to its end.")
        if head.startswith(b"\x1f\x8b"):
            to_do = "decompress it first, or name it with .gz at the end"
            raise GzipWrong(f"{source_name(path)} is compressed by gzip: {to_do}.")
        if head.startswith(_COMPRESSED):
            raise GzipWrong(f"{source_name(path)} is compressed, and not by gzip: decompress it first.")
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise NotText(f"{source_name(path)} is UTF-16 text: save it as UTF-8.")
        if b"\x00" in head:
            where = f"a null byte in line {head.partition(bytes(1))[0].count(10) + 1}"
            raise NotText(f"{source_name(path)} is not UTF-8 text ({where}): save it as UTF-8, without null bytes.")
        try:
            with io.TextIOWrapper(raw, encoding="utf-8-sig", errors=errors, newline=newline) as text:
                yield text
        except UnicodeDecodeError as error:
            raise NotText(
                f"{source_name(path)} is not UTF-8 text ({error.reason}, byte {error.object[error.start]:#04x}): "
                "save it as UTF-8."
            ) from error


@contextmanager
def open_bytes(path: Path, *, in_lines: bool = True) -> Iterator[io.BufferedReader]:
    """Open a file for reading, decompressed when it ends in `.gz`; `-` is standard input, first read to its end.

    If it is `in_lines`, none may be longer than 16 MiB.

    Raises:
        InputError: there is no such file, it cannot be read, or it holds more than any text does.
    """
    try:
        bounded = _Bounded(_opened(path), path, in_lines=in_lines)
        raw: io.BufferedReader = io.BufferedReader(bounded, buffer_size=_BUFFER)
    except FileNotFoundError as error:
        raise FileMissing(f"{source_name(path)} does not exist: check the path.") from error
    except IsADirectoryError as error:
        raise NotAFile(f"{source_name(path)} is a folder: name a file in it.") from error
    except OSError as error:
        raise FileUnreadable(f"{source_name(path)} cannot be read: {error.strerror}.") from error
    try:
        with raw:
            yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GzipWrong(
            f"{source_name(path)} is not a complete gzip file ({error}): fetch or make it again."
        ) from error


def changed(path: Path) -> FileChanged:
    """Return the error that a file was changed while it was read."""
    again = "run the same command again when it is written to its end, or read a copy"
    return FileChanged(f"{source_name(path)} was changed while it was read: {again}.")


def source_name(path: Path) -> str:
    """Return the name of an input file for messages."""
    return shown(path, "standard input")


def short_name(path: Path) -> str:
    """Return the name of an input file for messages, without its folder."""
    return "standard input" if path == STANDARD else path.name


def _opened(path: Path) -> IO[bytes]:
    if path == STANDARD:
        return io.BytesIO(sys.stdin.buffer.read())
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb", buffering=0)


class _Bounded(io.RawIOBase):
    """The bytes of an open file, up to a line or a size that would fill the memory."""

    def __init__(self, source: IO[bytes], path: Path, *, in_lines: bool) -> None:
        self._source, self._path, self._in_lines = source, path, in_lines
        zipped = isinstance(source, gzip.GzipFile)
        self._most = max(_GROWTH * path.stat().st_size, _LARGE) if zipped else sys.maxsize
        self._read = self._lines = self._line = 0  # bytes, line feeds, and bytes since the last of them

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(min(len(buffer), _BUFFER))
        buffer[: len(data)] = data
        self._read += len(data)
        self._lines += data.count(b"\n")
        self._line = len(data) - 1 - end if (end := data.rfind(b"\n")) >= 0 else self._line + len(data)
        if self._in_lines and self._line > _LONGEST_LINE:
            raise FileTooLong(
                f"{source_name(self._path)}, line {self._lines + 1}: longer than {_LONGEST_LINE >> 20} MiB; "
                "check that the file is text in lines."
            )
        if self._read > self._most:
            raise FileTooLong(
                f"{source_name(self._path)} grows to more than {_GROWTH} times its size and {self._most >> 20:,} MiB, "
                "as no text does: decompress it first if you trust it."
            )
        return len(data)

    def close(self) -> None:
        self._source.close()
        super().close()


def read_table(path: Path, columns: Sequence[str] = (), *, further: bool = False) -> pl.DataFrame:
    """Read a table in the format of its suffix: some columns, in this order, or all, with the types polars infers.

    With `further` these must be there, and all are read.

    Raises:
        InputError: the file cannot be read, is not a table of that format, or lacks one of the columns.
    """
    kind = table_format(path)
    try:
        if kind == "parquet":
            with open_bytes(path):
                frame = pl.read_parquet(path, glob=False)
        else:
            with open_text(path, newline="\n") as text:
                frame = _parse(text.read().encode(), kind)
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            raise ColumnMissing(f"{str(path)!r} has the columns {frame.columns}; it lacks {missing}.")
        return frame.select(columns) if columns and not further else frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise UnknownForm(f"{str(path)!r} is not a valid {kind} table: {first_line(error)}") from error


def _parse(data: bytes, kind: TableFormat) -> pl.DataFrame:
    if kind == "jsonl":
        return pl.read_ndjson(data, infer_schema_length=None)
    return pl.read_csv(
        data,
        separator="\t" if kind == "tsv" else ",",
        quote_char=None if kind == "tsv" else '"',
        infer_schema_length=None,
    )


def write_table(
    frame: pl.DataFrame, path: Path, chosen: str | None = None, metadata: dict[str, str] | None = None
) -> None:
    """Write a table in the chosen format, or that of the suffix; a reader sees the old file or the complete new one.

    Only Parquet holds metadata.

    Raises:
        InputError: the file cannot be written, or its format cannot hold a cell.
    """
    kind = cast("TableFormat", format_of(path, TABLE_FORMATS, chosen, by_name=False))
    if kind in {"tsv", "csv"}:
        nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
        if nested:
            raise CellNotWritable(f"{shown(path)}: {kind} cannot hold the lists in {nested}; write .jsonl or .parquet.")
    if kind == "tsv":
        _require_plain_cells(frame, path)
    with whole_file(path) as file:
        _write(frame, file, kind, metadata)


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with `'` before each text that a spreadsheet would take for a formula; a number stays as it is.

    For a table that people open. One that programs read again keeps its text.
    """
    text = pl.col(pl.String)
    formula = text.str.contains(r"^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]") & ~text.str.contains(_NUMBER)
    return frame.with_columns(pl.when(formula).then(text.str.replace("^", "'")).otherwise(text))


def _write(frame: pl.DataFrame, target: IO[bytes], kind: TableFormat, metadata: dict[str, str] | None) -> None:
    if kind == "parquet":
        content = io.BytesIO()  # polars says of a full disk that the file is "out of specification"
        frame.write_parquet(content, compression="zstd", metadata=metadata)
        target.write(content.getbuffer())
    elif kind == "jsonl":
        frame.write_ndjson(target)
    else:
        quotes: Literal["never", "necessary"] = "never" if kind == "tsv" else "necessary"
        frame.write_csv(target, separator="\t" if kind == "tsv" else ",", quote_style=quotes)


def _require_plain_cells(frame: pl.DataFrame, path: Path) -> None:
    for column in frame.select(pl.col(pl.String)).iter_columns():
        for cell in column.filter(column.str.contains(r"[\t\r\n]")).head(1):
            raise CellNotWritable(
                f"{shown(path)}: tsv cannot hold the tab or line break in {cell!r} (column {column.name!r}); "
                "write .csv, .jsonl or .parquet."
            )
