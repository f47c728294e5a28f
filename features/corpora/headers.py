"""The columns of a table in any form, and the layout that it fits.

That is the first whose columns the header line (or keys, or schema) has, or, for files without a header line, for which
one of the first rows has enough cells.
"""

import difflib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path

import polars as pl

from features.core.errors import RowError
from features.core.faults import ColumnMissing, ColumnTwice, UnknownForm
from features.core.file_errors import first_line
from features.core.files import TableFormat, open_bytes, open_text, table_format
from features.core.types import RejectCode
from features.core.wording import clipped, counted
from features.corpora.cells import SEPARATORS, cell_rows, decided_quotes, encoding_fault
from features.corpora.dataset import Quotes, TableLayout

_HEAD = 20  # rows read to decide whether a file fits a layout
_ALIKE = 0.6  # of names of columns, by their letters
_MANY, _LONG = 20, 40  # names of columns in a message, and characters of each


def fitting_layout(path: Path, layouts: Sequence[TableLayout]) -> TableLayout:
    """Return the first layout that a file fits, with its form determined; an InputError if it fits none."""
    misfits: list[str] = []
    columns: list[str] = []
    decide = cache(partial(decided_quotes, path))
    for layout in layouts:
        form = layout.form or table_format(path)
        quotes = decide(form, layout.quotes)
        if layout.has_header:
            optional = [str(column) for role, column in layout.columns.items() if role in layout.optional]
            needed = [needed_columns(candidate) for candidate in layouts if candidate.has_header]
            columns = columns_of(path, form, needed, quotes, optional)
            if all(column in columns for column in needed_columns(layout)):
                kept = {role: column for role, column in layout.columns.items() if column in columns}
                require_once(path, columns, [str(column) for column in kept.values()])
                return layout.model_copy(update={"form": form, "columns": kept, "quotes": quotes})
            misfits.append(f"its columns are {shown_names(columns)}")
        elif form in {"jsonl", "parquet"}:
            names = shown_names(columns_of(path, form))
            raise UnknownForm(
                f"{str(path)!r} is {form}, whose columns have names: {names}; give names instead of positions, "
                'columns = { sentence_a = "…", sentence_b = "…" }.'
            )
        elif layout.scores_beside is None or layout.scores_beside[0] in path.name:
            width = layout.width or 1 + max(int(column) for column in layout.columns.values())
            cells = [row for _, row in islice(cell_rows(path, form, quotes), _HEAD) if isinstance(row, list)]
            if any(len(row) >= width for row in cells):
                return layout.model_copy(update={"form": form, "width": width, "quotes": quotes})
            misfits.append(f"its rows have {counted(max(map(len, cells), default=0), 'cell')}")
    hint = "" if any(layout.form for layout in layouts) else hint_of_form(path)
    if not hint and len(layouts) == 1 and layouts[0].has_header:
        raise ColumnMissing(missing_columns(path, layouts[0], columns))
    expected = "; or ".join(_describe(layout) for layout in layouts)
    raise UnknownForm(
        f"{str(path)!r} is not in a known form: {' and '.join(dict.fromkeys(misfits))}; expected {expected}{hint}."
    )


def needed_columns(layout: TableLayout) -> list[str]:
    """Return the columns that a file must have."""
    return [str(column) for role, column in layout.columns.items() if role not in layout.optional]


def missing_columns(path: Path, layout: TableLayout, columns: Sequence[str]) -> str:
    """Return the message about the columns that a file lacks, suggesting those that may have been meant."""
    lacking = {role: str(column) for role, column in layout.columns.items() if column not in columns}
    needed = {role: column for role, column in lacking.items() if role not in layout.optional}
    free = [name for name in columns if name not in layout.columns.values()]
    meant = []
    for role, column in layout.columns.items():
        name = str(column)
        if role in needed:
            likeness = [difflib.SequenceMatcher(None, _letters(other), _letters(name)).ratio() for other in free]
            best = max(likeness, default=0)  # the first of equals: "sentence1" is sentence_a, "sentence2" sentence_b
            name = free.pop(likeness.index(best)) if best >= _ALIKE else "…"
        if role in needed or role not in lacking:  # `columns` replaces them all
            meant.append(f'{role} = "{name}"')
    wanted = " and ".join(f"{column!r} (for {role})" for role, column in needed.items())
    named = f"columns = {{ {', '.join(meant)} }}"
    advice = f"name them, {named}." if "…" in named else f"did you mean {named}?"
    if any(name.startswith('"') for name in columns):
        advice = 'set quotes = "enclose" if these quotes enclose cells.'
    plural, names = "s" if len(needed) > 1 else "", shown_names(columns)
    return f"{str(path)!r} lacks the column{plural} {wanted}; its columns are {names}: {advice}"


def _letters(name: str) -> str:
    """Return the letters and digits of a name: by all characters "Sentence A" is closer to "sentence_B"."""
    return "".join(filter(str.isalnum, name.casefold()))


def shown_names(columns: Sequence[str]) -> str:
    """Return the names of a table's columns for a message, cut where they are many or long."""
    names = [repr(clipped(name, _LONG)) for name in columns[:_MANY]]
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
        return ". It begins with a JSON array: write one object on each line, and name it .jsonl"
    if begins == "{":
        if form != "jsonl":
            return ". Its first line looks like JSON: name it .jsonl"
        fault = parse_object(line)
        return f". In its first line, {fault.message}" if isinstance(fault, RowError) else ""
    return _hint_of_separators(line, form)


def _hint_of_separators(line: str, form: TableFormat) -> str:
    if line.rstrip("\r\n").count("\r") > 1:
        return ". Its lines end with a carriage return alone: save it with line feeds"
    counts = {sign: line.count(sign) for sign in "\t,;"}
    sign = max(counts, key=lambda sign: counts[sign])
    if not counts[sign] or counts.get(SEPARATORS.get(form, "")):
        return ""
    if form == "jsonl":
        return ". Its first line is not JSON: name it .tsv or .csv, as its columns are separated"
    advice = {"\t": "tabs: name it .tsv", ",": "commas: name it .csv", ";": "semicolons: save it with commas or tabs"}
    return f". Its columns look separated by {advice[sign]}"


def _describe(layout: TableLayout) -> str:
    if layout.has_header:
        return f"the columns {', '.join(needed_columns(layout))}"
    cells = ", ".join(f"{role} in cell {int(position) + 1}" for role, position in layout.columns.items())
    named = f", in a file named *{layout.scores_beside[0]}*" if layout.scores_beside else ""
    return f"rows without a header line, {cells}{named}"


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


def _with_all_values(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object in which the values of a key that occurs twice are a tuple, which no reader takes for a cell."""
    entry = dict(pairs)
    if len(entry) < len(pairs):
        values: dict[str, list[object]] = {}
        for key, value in pairs:
            values.setdefault(key, []).append(value)
        entry |= {key: tuple(each) for key, each in values.items() if len(each) > 1}
    return entry


_OBJECTS = json.JSONDecoder(object_pairs_hook=_with_all_values)


def parse_object(line: str) -> dict[str, object] | RowError:
    """Return the object of a line of JSON, or what is wrong with it."""
    if fault := encoding_fault(line):
        return fault
    try:
        entry = _OBJECTS.decode(line)
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
    """Return the rows of a Parquet file as a lazy frame; raise an InputError if it cannot be read."""
    with open_bytes(path, in_lines=False), reading_parquet(path):
        frame = pl.scan_parquet(path, glob=False)
        frame.collect_schema()
    return frame


@contextmanager
def reading_parquet(path: Path) -> Iterator[None]:
    """Turn what polars and pyarrow raise in the block, of a damaged Parquet file, into an InputError."""
    try:
        yield
    except pl.exceptions.DuplicateError as error:
        raise ColumnTwice(f"{str(path)!r}: {first_line(error)}: keep one, and rename the others.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise UnknownForm(f"{str(path)!r} cannot be read as Parquet ({first_line(error)}): write it again.") from error
