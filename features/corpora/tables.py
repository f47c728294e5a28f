"""Rows of a table in any form, each with its first line.

A file is read in the first layout that it fits: its header line (or keys, or schema) has the columns, or, for files
without a header line, one of the first rows has enough cells. A wrong row is an item like any other, with its error, so
reading goes on.
"""

import difflib
import json
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars import selectors as cs

from features.core.errors import RowError
from features.core.faults import ColumnMissing, ColumnTwice, FileEmpty, FileMissing, UnknownForm
from features.core.file_errors import first_line
from features.core.files import TableFormat, open_text, table_format
from features.core.types import RejectCode
from features.core.wording import counted
from features.corpora.cells import (
    BLANK,
    SEPARATORS,
    Numbered,
    as_text,
    cell_rows,
    decided_quotes,
    encoding_fault,
    line_blocks,
    no_text,
)
from features.corpora.dataset import Quotes, Role, TableLayout

_HEAD = 20  # rows read to decide whether a file fits a layout
BLOCK_ROWS = 1 << 16
_MANY, _LONG = 20, 40  # names of columns in a message, and characters of each

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


def fitting_layout(path: Path, layouts: Sequence[TableLayout]) -> TableLayout:
    """Return the first layout that a file fits, with its form determined."""
    misfits: list[str] = []
    columns: list[str] = []
    decide = cache(partial(decided_quotes, path))
    for layout in layouts:
        form = layout.form or table_format(path)
        quotes = decide(form, layout.quotes)
        if layout.has_header:
            optional = [str(place) for role, place in layout.columns.items() if role in layout.optional]
            needed = [_needed(known) for known in layouts if known.has_header]
            columns = columns_of(path, form, needed, quotes, optional)
            if all(place in columns for place in _needed(layout)):
                kept = {role: place for role, place in layout.columns.items() if place in columns}
                require_once(path, columns, [str(place) for place in kept.values()])
                return layout.model_copy(update={"form": form, "columns": kept, "quotes": quotes})
            misfits.append(f"it has the columns {columns}")
        elif form in {"jsonl", "parquet"}:
            names = ", ".join(map(repr, columns_of(path, form))) or "none"
            raise UnknownForm(
                f"{str(path)!r} is {form}, whose columns have names: {names}; give names instead of positions, "
                'columns = { sentence_a = "…", sentence_b = "…" }.'
            )
        elif layout.scores_beside is None or layout.scores_beside[0] in path.name:
            width = layout.width or 1 + max(int(place) for place in layout.columns.values())
            cells = [row for _, row in islice(cell_rows(path, form, quotes), _HEAD) if isinstance(row, list)]
            if any(len(row) >= width for row in cells):
                return layout.model_copy(update={"form": form, "width": width, "quotes": quotes})
            misfits.append(f"its rows have {counted(max(map(len, cells), default=0), 'cell')}")
    hint = "" if any(layout.form for layout in layouts) else hint_of_form(path)
    if not hint and len(layouts) == 1 and layouts[0].has_header:
        raise ColumnMissing(_lacking(path, layouts[0], columns))
    expected = "; or ".join(_describe(layout) for layout in layouts)
    raise UnknownForm(
        f"{str(path)!r} is not in a known form: {' and '.join(dict.fromkeys(misfits))}; expected {expected}{hint}."
    )


def _needed(layout: TableLayout) -> list[str]:
    return [str(place) for role, place in layout.columns.items() if role not in layout.optional]


def _lacking(path: Path, layout: TableLayout, columns: Sequence[str]) -> str:
    """Return the message about the columns that a file lacks, suggesting those that may have been meant."""
    lacking = {role: str(place) for role, place in layout.columns.items() if place not in columns}
    needed = {role: place for role, place in lacking.items() if role not in layout.optional}
    free = {name.casefold(): name for name in columns if name not in layout.columns.values()}
    meant = []
    for role, place in needed.items():
        close = difflib.get_close_matches(place.casefold(), free, n=1)
        meant.append(f'{role} = "{free.pop(close[0]) if close else "…"}"')
    wanted = " and ".join(f"{place!r} (for {role})" for role, place in needed.items())
    named = f"columns = {{ {', '.join(meant)} }}"
    advice = f"name them, {named}." if "…" in named else f"did you mean {named}?"
    if any(name.startswith('"') for name in columns):
        advice = 'set quotes = "enclose" if these quotes enclose cells.'
    plural, names = "s" if len(needed) > 1 else "", shown_names(columns)
    return f"{str(path)!r} lacks the column{plural} {wanted}; its columns are {names}: {advice}"


def shown_names(columns: Sequence[str]) -> str:
    """Return the names of a table's columns for a message, cut where they are many or long."""
    names = [repr(name if len(name) <= _LONG else f"{name[:_LONG]}…") for name in columns[:_MANY]]
    more = f", … ({len(columns):,} in all)" if len(columns) > _MANY else ""
    return ", ".join(names) + more or "none"


def hint_of_form(path: Path) -> str:
    """Return advice on a text file whose first line does not have the form of its suffix; else an empty text."""
    form = table_format(path)
    if form == "parquet":
        return ""
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        line = text.readline()
    begins = line.lstrip()[:1]
    if begins == "[":
        return ". It is one JSON array: write one object on each line, and name it .jsonl"
    if begins == "{":
        return "" if form == "jsonl" else ". Its first line looks like JSON: name it .jsonl"
    return _hint_of_separators(line, form)


def _hint_of_separators(line: str, form: TableFormat) -> str:
    if line.rstrip("\r\n").count("\r") > 1:
        return ". Its lines end with a carriage return alone: save it with line feeds"
    counts = {sign: line.count(sign) for sign in "\t,;"}
    sign = max(counts, key=lambda sign: counts[sign])
    if not counts[sign] or counts[SEPARATORS.get(form, "\t")]:
        return ""
    if form == "jsonl":
        return ". Its first line is not JSON: name it .tsv or .csv, as its columns are separated"
    advice = {"\t": "tabs: name it .tsv", ",": "commas: name it .csv", ";": "semicolons: save it with commas or tabs"}
    return f". Its columns look separated by {advice[sign]}"


def _describe(layout: TableLayout) -> str:
    if layout.has_header:
        return f"the columns {', '.join(_needed(layout))}"
    places = ", ".join(f"{role} in cell {int(place) + 1}" for role, place in layout.columns.items())
    named = f", in a file named *{layout.scores_beside[0]}*" if layout.scores_beside else ""
    return f"rows without a header line, {places}{named}"


def columns_of(
    path: Path,
    form: TableFormat,
    wanted: Sequence[Collection[str]] = ((),),
    quotes: Quotes = "detect",
    optional: Collection[str] = (),
) -> list[str]:
    """Return the column names of the header line, the objects or the schema.

    Many writers leave out keys without a value: JSON lines are read until all names of one of the wanted sets have
    occurred, and to the last line for optional ones; without names, their first objects suffice.
    """
    if form == "parquet":
        return list(scan_parquet(path).collect_schema().names())
    if form == "jsonl":
        with open_text(path, newline="\n", errors="surrogateescape") as text:
            return _keys(text, wanted, optional)
    # A name that is not UTF-8 is shown as Latin-1: perhaps only the others are read.
    _, header = next(cell_rows(path, form, quotes, "latin-1"), (1, []))
    return [] if isinstance(header, RowError) else [name.strip() for name in header]


def _keys(lines: Iterable[str], wanted: Sequence[Collection[str]], optional: Collection[str]) -> list[str]:
    keys: dict[str, None] = {}
    enough = False
    for number, line in enumerate(lines):
        enough = enough or (number >= _HEAD and any(all(name in keys for name in names) for names in wanted))
        if enough:
            missing = [name for name in optional if name not in keys]
            if not missing:
                break
            # Searching for a key is much faster than parsing the object.
            if not any(f'"{name}"' in line or json.dumps(name) in line for name in missing):
                continue
        entry = parse_object(line) if line.strip() else None
        if isinstance(entry, dict):
            keys |= dict.fromkeys(entry)
    return list(keys)


def require_once(path: Path, columns: Sequence[str], read: Collection[str]) -> None:
    """Raise an InputError if a column to read occurs more than once: it is unclear which is meant."""
    for name in read:
        if columns.count(name) > 1:
            raise ColumnTwice(f"{str(path)!r} has the column {name!r} more than once: keep one, and rename the others.")


Read = TableRow | tuple[int, RowError]
"""A row, or its line and what was wrong with it."""


def read_rows(path: Path, layout: TableLayout, *, blanks: bool = False) -> Iterator[Read]:
    """Read the rows of a table, in the layout that `fitting_layout` returned for it.

    Blank lines are skipped, unless they count as wrong rows (`blanks`).
    """
    form = layout.form or table_format(path)
    if form == "parquet":
        rows = _parquet_rows(path, layout)
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
            return cls({role: int(place) for role, place in layout.columns.items()}, layout.width or 0, 1 << 30)
        names = columns_of(path, form, quotes=quotes)
        if any(str(place) not in names for place in layout.columns.values()):
            raise ColumnMissing(_lacking(path, layout, names))
        return cls({role: names.index(str(place)) for role, place in layout.columns.items()}, len(names), len(names))

    def rows(self, rows: Iterable[Numbered]) -> Iterator[Read]:
        places = [self.of_role.get(role) for role in ROLES]
        for line, cells in rows:
            if isinstance(cells, RowError):
                yield line, cells
            elif not self.least <= len(cells) <= self.most:
                expected = f"expected {self.least}{'' if self.least == self.most else ' or more'}"
                message = f"the row has {counted(len(cells), 'cell')}; {expected}"
                yield line, RowError(RejectCode.WRONG_COLUMNS, message)
            else:
                yield TableRow(line, *(None if place is None else cells[place] for place in places))  # type: ignore[arg-type]  # sentences have one


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
            columns = {role: cells.field(f"field_{place}") for role, place in places.of_role.items()}
            yield Block(rows.filter(fit).select("line", **columns), [*places.rows(others)])
    return 0 if nothing else None


def _json_rows(path: Path, layout: TableLayout, *, blanks: bool) -> Iterator[Read]:
    names, needed = layout.columns, _needed(layout)
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for number, line in enumerate(text, start=1):
            entry = parse_object(line) if line.strip() else BLANK
            if entry is BLANK and not blanks:
                continue
            if isinstance(entry, RowError):
                yield number, entry
                continue
            missing = [place for place in needed if place not in entry]
            cells = {role: entry.get(str(place)) for role, place in names.items()}
            if missing:
                yield number, RowError(RejectCode.WRONG_COLUMNS, f"the object lacks {', '.join(missing)}")
            else:
                yield _typed(number, *map(cells.get, ROLES))


def parse_object(line: str) -> dict[str, object] | RowError:
    """Return the object of a line of JSON, or what is wrong with it."""
    if fault := encoding_fault(line):
        return fault
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        wrong = f"the line is not a JSON object ({error}); expected one object a line"
    except ValueError:
        wrong = "the object has a number with too many digits to read"
    except RecursionError:
        wrong = "the object is nested too deeply to read"
    else:
        if isinstance(entry, dict):
            return entry
        wrong = "the line is not a JSON object; expected one object a line"
    return RowError(RejectCode.WRONG_COLUMNS, wrong)


def scan_parquet(path: Path) -> pl.LazyFrame:
    """Return the rows of a Parquet file as a lazy frame; raise an InputError if there is no such file."""
    if not path.is_file():
        raise FileMissing(f"{str(path)!r} does not exist: check the path.")
    try:
        frame = pl.scan_parquet(path)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnknownForm(f"{str(path)!r} is not a Parquet file ({first_line(error)}): write it again.") from error
    return frame


def _parquet_rows(path: Path, layout: TableLayout) -> Iterator[Read]:
    names = {role: str(place) for role, place in layout.columns.items()}
    frame = scan_parquet(path).select(**{role: pl.col(name) for role, name in names.items()}).collect()
    order = [frame.columns.index(role) if role in names else None for role in ROLES]
    for number, row in enumerate(frame.iter_rows(), start=1):
        yield _typed(number, *(None if place is None else row[place] for place in order))


def _plain_parquet(path: Path, layout: TableLayout) -> pl.LazyFrame | None:
    """Return the cells of a Parquet file by role, None if one that is not a score may be anything but text."""
    rows = scan_parquet(path).select(**{role: pl.col(str(place)) for role, place in layout.columns.items()})
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
