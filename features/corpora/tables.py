"""Rows of a table in any form, each with its first line.

A wrong row is an item like any other, with its error, so reading goes on.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars import selectors as cs

from features.core.errors import RowError
from features.core.faults import ColumnMissing, FileEmpty
from features.core.files import TableFormat, open_text, table_format
from features.core.types import RejectCode
from features.core.wording import counted
from features.corpora.cells import BLANK, SEPARATORS, Numbered, as_text, cell_rows, decided_quotes, line_blocks, no_text
from features.corpora.dataset import Quotes, Role, TableLayout
from features.corpora.headers import columns_of, missing_columns, needed_columns, parse_object, scan_parquet

BLOCK_ROWS = 1 << 16

Cell = str | float | None


class TableRow(NamedTuple):
    """The cells of one row that have a role, as written; None for a role that the table lacks.

    `line` is the number of its first line, from 1 (of the row, for Parquet). Pairs that share a group (a topic, a
    document, an image) must be in one split.
    """

    line: int
    sentence_a: str
    sentence_b: str
    score: Cell
    label: str | None
    split: str | None
    group: str | None = None


Read = TableRow | tuple[int, RowError]
"""A row, or its line and what was wrong with it."""


def read_rows(path: Path, layout: TableLayout, *, blanks: bool = False) -> Iterator[Read]:
    """Read the rows of a table, in the layout that `fitting_layout` returned for it.

    Blank lines are skipped, unless they count as wrong rows (`blanks`).
    """
    form = layout.form or table_format(path)
    if form == "parquet":
        cells = _of_parquet(path, layout).collect().iter_rows(named=True)
        rows: Iterator[Read] = (_typed(number, *map(row.get, ROLES)) for number, row in enumerate(cells, start=1))
    elif form == "jsonl":
        rows = _json_rows(path, layout, blanks=blanks)
    else:
        rows = _text_rows(path, form, layout, blanks=blanks)
    nothing = True
    for row in rows:
        nothing = nothing and row[1] is BLANK
        yield row
    if nothing:
        raise FileEmpty(f"{str(path)!r} has no rows: check that it was written to its end.")


def _text_rows(path: Path, form: TableFormat, layout: TableLayout, *, blanks: bool) -> Iterator[Read]:
    quotes = decided_quotes(path, form, layout.quotes)
    rows = cell_rows(path, form, quotes, blanks=blanks)
    if layout.has_header:
        next(row for row in rows if row[1] is not BLANK)
    return _Places.of(path, form, layout, quotes).rows(rows)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the cells of roles are in a row of text, and the least and the most cells that it may have."""

    of_role: Mapping[Role, int]
    least: int
    most: int

    @classmethod
    def of(cls, path: Path, form: TableFormat, layout: TableLayout, quotes: Quotes) -> "_Places":
        if not layout.has_header:  # cells after the known ones are notes
            return cls({role: int(column) for role, column in layout.columns.items()}, layout.width or 0, 1 << 30)
        names = columns_of(path, form, quotes=quotes)
        if any(str(column) not in names for column in layout.columns.values()):
            raise ColumnMissing(missing_columns(path, layout, names))
        return cls({role: names.index(str(column)) for role, column in layout.columns.items()}, len(names), len(names))

    def rows(self, rows: Iterable[Numbered]) -> Iterator[Read]:
        positions = [self.of_role.get(role) for role in ROLES]
        for line, cells in rows:
            if isinstance(cells, RowError):
                yield line, cells
            elif not self.least <= len(cells) <= self.most:
                expected = f"expected {self.least}{'' if self.least == self.most else ' or more'}"
                message = f"the row has {counted(len(cells), 'cell')}; {expected}"
                yield line, RowError(RejectCode.WRONG_COLUMNS, message)
            else:
                yield TableRow(line, *(None if position is None else cells[position] for position in positions))  # type: ignore[arg-type]  # sentences have one


ROLES: tuple[Role, ...] = ("sentence_a", "sentence_b", "score", "label", "split", "group")
"""The roles of the cells of a `TableRow`, in order."""


class Block(NamedTuple):
    """Consecutive rows of a table: those without a fault of form, columns `line` and roles as written, and others."""

    cells: pl.DataFrame
    others: list[Read]


def table_row(cells: Mapping[str, Any]) -> TableRow:
    """Return a row of `Block.cells`."""
    return TableRow(cells["line"], *map(cells.get, ROLES))  # type: ignore[arg-type]  # the sentences are there


def read_blocks(path: Path, layout: TableLayout) -> Iterator[Block]:
    """Read the rows of a table as `read_rows` does, in columns as far as that gives the same."""
    form = layout.form or table_format(path)
    done: int | None = 0
    if form in SEPARATORS:
        done = yield from _text_blocks(path, form, layout)
    elif form == "parquet" and (rows := _plain_parquet(path, layout)) is not None:
        done = yield from _parquet_blocks(rows)
    if done is not None:
        left = (row for row in read_rows(path, layout) if row[0] > done)
        while others := list(islice(left, BLOCK_ROWS)):
            yield Block(pl.DataFrame(), others)


def _text_blocks(path: Path, form: TableFormat, layout: TableLayout) -> Generator[Block, None, int | None]:
    """Yield the rows before lines that are not plain; return the number of lines that are done, None for all rows."""
    quotes = decided_quotes(path, form, layout.quotes)
    places = _Places.of(path, form, layout, quotes)
    nothing = True
    separator, header = SEPARATORS[form], layout.has_header
    cells = pl.col("row").str.split_exact(separator, max(places.of_role.values())).struct
    count = pl.col("row").str.count_matches(separator, literal=True) + 1
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for first, block, plain in line_blocks(text, quotes):
            if not plain:
                return first - 1
            rows = pl.DataFrame({"row": pl.Series([block]).str.split("\n").explode().str.strip_chars_end("\r")})
            rows = rows.with_row_index("line", first).filter(pl.col("row") != "")
            if header:
                header, rows = rows.is_empty(), rows[1:]
            nothing = nothing and rows.is_empty()
            fit = rows.select(count.is_between(places.least, places.most)).to_series()
            others = ((line, row.split(separator)) for line, row in rows.filter(~fit).iter_rows())
            columns = {role: cells.field(f"field_{position}") for role, position in places.of_role.items()}
            yield Block(rows.filter(fit).select("line", **columns), [*places.rows(others)])
    return 0 if nothing else None


def _json_rows(path: Path, layout: TableLayout, *, blanks: bool) -> Iterator[Read]:
    names, needed = layout.columns, needed_columns(layout)
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for number, line in enumerate(text, start=1):
            entry = parse_object(line) if line.strip() else BLANK
            if entry is BLANK and not blanks:
                continue
            if isinstance(entry, RowError):
                yield number, entry
                continue
            missing = [key for key in needed if key not in entry]
            cells = {role: entry.get(str(key)) for role, key in names.items()}
            if missing:
                yield number, RowError(RejectCode.WRONG_COLUMNS, f"the object lacks {', '.join(missing)}")
            else:
                yield _typed(number, *map(cells.get, ROLES))


def _of_parquet(path: Path, layout: TableLayout) -> pl.LazyFrame:
    """Return the cells of a Parquet file by role."""
    return scan_parquet(path).select(**{role: pl.col(str(column)) for role, column in layout.columns.items()})


def _plain_parquet(path: Path, layout: TableLayout) -> pl.LazyFrame | None:
    """Return the cells of a Parquet file by role, None if one that is not a score may be anything but text."""
    rows = _of_parquet(path, layout)
    types = dict(rows.collect_schema())
    score = types.pop("score", pl.String())
    return rows if {*types.values()} == {pl.String} and (score == pl.String or score.is_numeric()) else None


def _parquet_blocks(rows: pl.LazyFrame) -> Generator[Block, None, int | None]:
    texts = cs.string().fill_null("")
    line = 1
    for batch in rows.collect().iter_slices(BLOCK_ROWS):
        cells = batch.with_row_index("line", line)
        line += batch.height
        wrong = pl.any_horizontal(texts.str.contains("\0", literal=True))
        others = [_typed(row["line"], *map(row.get, ROLES)) for row in cells.filter(wrong).iter_rows(named=True)]
        yield Block(cells.filter(~wrong).with_columns(texts), others)
    return 0 if line == 1 else None


def _typed(line: int, a: object, b: object, score: object, *others: object) -> TableRow | tuple[int, RowError]:
    """Return a row of a typed format, whose cells may be of any type."""
    try:
        as_text(score)
        label, split, group = (None if cell is None else as_text(cell) for cell in others)
        return TableRow(line, _sentence(a), _sentence(b), score, label, split, group)  # type: ignore[arg-type]  # checked
    except RowError as error:
        return line, error


def _sentence(cell: object) -> str:
    text = as_text(cell)
    if text and not isinstance(cell, str):
        raise no_text(cell)
    return text
