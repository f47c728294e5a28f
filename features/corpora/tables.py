"""Rows of a table in any form, each with its first line.

A wrong row is an item like any other, with its error, so reading goes on. Tables from pipes, which can be read only
once, become files, which can be read again.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, get_args

import polars as pl

from features.core.errors import InputError, RowError
from features.core.faults import FileEmpty, UnknownForm
from features.core.files import TableFormat, open_bytes, open_text, source_name, table_format
from features.core.leftovers import scratch
from features.core.outputs import STANDARD, TABLE_FORMATS
from features.core.types import RejectCode
from features.core.wording import counted
from features.corpora.cells import BLANK, WrongRow, as_text, cell_rows, decided_quotes, not_text
from features.corpora.dataset import Quotes, Role, TableLayout
from features.corpora.headers import columns_of, parse_object, reading_parquet, scan_parquet


class TableRow(NamedTuple):
    """The cells of one row that have a role, as written; None for a role that the table lacks.

    `line` is the number of its first line, from 1 (of the row, for Parquet). Pairs that share a group (a topic, a
    document, an image) must be in one split.
    """

    line: int
    sentence_a: str
    sentence_b: str
    score: str | float | None
    label: str | None
    split: str | None
    group: str | None = None


def read_rows(path: Path, layout: TableLayout, *, blanks: bool = False) -> Iterator[TableRow | WrongRow]:
    """Read the rows of a table, in the layout that `fitting_layout` returned for it.

    Blank lines are skipped, unless they count as wrong rows (`blanks`).

    Raises:
        InputError: the file cannot be read, or has no rows.
    """
    form, width = layout.form or table_format(path), None if layout.has_header else layout.width or 0
    needed = [column for role, column in layout.columns.items() if role not in layout.optional]
    columns = [layout.columns.get(role) for role in get_args(Role)]  # in the order of a `TableRow`'s fields
    nothing = True
    read = [*map(str, layout.columns.values())]
    for line, cells in named_rows(path, form, read, layout.quotes, width=width, blanks=blanks):
        nothing = nothing and cells is BLANK
        if isinstance(cells, RowError):
            yield WrongRow(line, cells)
        elif missing := [str(key) for key in needed if key not in cells]:
            yield WrongRow(line, RowError(RejectCode.WRONG_COLUMNS, f"the object lacks {', '.join(missing)}"))
        else:
            yield _typed(line, *(cells.get(column) for column in columns))
    if nothing:
        raise FileEmpty(f"{str(path)!r} has no rows: check that it was written to its end.")


def named_rows(
    path: Path,
    form: TableFormat,
    read: Collection[str],
    quotes: Quotes = "detect",
    encoding: str | None = None,
    *,
    width: int | None = None,
    blanks: bool = False,
) -> Iterator[tuple[int, Mapping[Any, object] | RowError]]:
    """Yield the line of each row, and its cells by the names of their columns or what is wrong with it.

    Of a Parquet file only the columns to `read` are there: others may hold what Python has no type for. The encoding of
    a text file is UTF-8 when None. Without a header line it has a `width`, the least number of cells, which are then
    named by their positions. Blank lines are skipped, or with `blanks` are wrong rows (`BLANK`).
    """
    match form:
        case "parquet":
            from pyarrow.parquet import ParquetFile  # here, as `facetflow plan` mostly reads none

            columns = {name: kind for name, kind in scan_parquet(path).collect_schema().items() if name in read}
            for name, kind in columns.items():
                if isinstance(kind, pl.Decimal) and kind.precision > 38:  # polars panics
                    raise UnknownForm(
                        f"{str(path)!r} has numbers of {kind.precision} digits in {name!r}: write floats."
                    )
            with reading_parquet(path):
                batches = map(_frame, ParquetFile(path).iter_batches(columns=[*columns]))
                yield from enumerate((row for batch in batches for row in batch.iter_rows(named=True)), start=1)
        case "jsonl":
            with open_text(path, newline="\n", errors="surrogateescape") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip() or blanks:
                        yield number, parse_object(line) if line.strip() else BLANK
        case _:
            quotes = decided_quotes(path, form, quotes)
            rows = cell_rows(path, form, quotes, encoding, blanks=blanks)
            header = columns_of(path, form, quotes=quotes) if width is None else []
            if width is None:
                next(row for row in rows if row[1] is not BLANK)
            for number, cells in rows:
                if isinstance(cells, RowError):
                    yield number, cells
                elif len(cells) != len(header) if width is None else len(cells) < width:
                    expected = f"{len(header)}" if width is None else f"{width} or more"  # those beyond are notes
                    message = f"the row has {counted(len(cells), 'cell')}; expected {expected}"
                    yield number, RowError(RejectCode.WRONG_COLUMNS, message)
                else:
                    yield number, dict(zip(header or range(len(cells)), cells, strict=True))


def _frame(batch: Any) -> pl.DataFrame:
    batch.validate(full=True)  # polars panics on text that is not UTF-8
    return pl.DataFrame(batch)


def _typed(line: int, a: object, b: object, score: object, *others: object) -> TableRow | WrongRow:
    """Return a row of a typed format, whose cells may be of any type."""
    try:
        as_text(score)
        label, split, group = (None if cell is None else as_text(cell) for cell in others)
        return TableRow(line, _sentence(a), _sentence(b), score, label, split, group)  # type: ignore[arg-type]  # checked
    except RowError as error:
        return WrongRow(line, error)


def _sentence(cell: object) -> str:
    text = as_text(cell)
    if text and not isinstance(cell, str):
        raise not_text(cell)
    return text


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Yield a file that can be read several times: a named pipe, or `-` for standard input, is copied to a file.

    Errors raised within the block name the pipe, not the copy.
    """
    if path != STANDARD and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    name = source_name(path)
    with open_bytes(path) as source:
        content = source.read()
    if not content.strip():
        raise FileEmpty(f"{name[0].upper()}{name[1:]} is empty: write a table to it, with a header line.")
    with scratch("input") as folder:
        copy = folder / _name_of_copy(path, content.split(b"\n", 1)[0])
        copy.write_bytes(content)
        try:
            yield copy
        except InputError as error:
            error.args = (str(error).replace(repr(str(copy)), name),)
            raise


def _name_of_copy(path: Path, first: bytes) -> str:
    """Return a name whose suffix is that of a pipe, which `open_bytes` decompresses, or what the first line shows."""
    name = "standard input" if path == STANDARD else path.name.removesuffix(".gz")
    if any(name.lower().endswith(suffix) for suffixes in TABLE_FORMATS.values() for suffix in suffixes):
        return name
    suffix = ".jsonl" if first.lstrip().startswith(b"{") else ".tsv" if b"\t" in first or b"," not in first else ".csv"
    return f"{name}{suffix}"
