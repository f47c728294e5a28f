"""Texts of a table for commands on files: as they are in the cells, with an id.

id,name,about
007,Cat,"a cat, red"        TextCells(line=2, id="007", text="Cat: a cat, red", problem="")
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from features.core.errors import RowError
from features.core.files import TableFormat, open_text, table_format
from features.core.types import RejectCode
from features.core.wording import counted
from features.corpora.cells import as_text, cell_rows, decided_quotes, no_text
from features.corpora.headers import columns_of, parse_object, require_once, scan_parquet

JOIN = ": "
"""Separator between the columns of a text, such as title and abstract."""
_ID = "id"


class TextCells(NamedTuple):
    """A row of a table of texts: line and text as in `LabelledText`, the content of the column `id`, if there is one.

    `problem` is what is wrong with the row, which then has no text.
    """

    line: int
    id: str
    text: str
    problem: str = ""


def text_columns(path: Path, wanted: Sequence[str]) -> list[str]:
    """Return the names of a table's columns; JSON lines are read until all that are wanted have occurred."""
    return columns_of(path, table_format(path), [wanted], optional=[_ID])


def read_text_table(path: Path, columns: Sequence[str]) -> Iterator[TextCells]:
    """Yield the texts of a table, in columns that are there (`text_columns`), row by row."""
    require_once(path, text_columns(path, columns), [*columns, _ID])
    for line, cells in named_rows(path, table_format(path)):
        try:
            if isinstance(cells, RowError):
                raise cells
            texts = [text_of_cell(cells.get(name)) for name in columns]
            yield TextCells(line, as_text(cells.get(_ID)), JOIN.join(text for text in texts if text))
        except RowError as error:
            yield TextCells(line, "", "", str(error))


def complete_ids(ids: Sequence[str]) -> list[str]:
    """Return the ids with none empty: a row without gets its number from 1, as `row 7` where others have ids."""
    word = "row " if any(ids) else ""
    return [each or f"{word}{number}" for number, each in enumerate(ids, start=1)]


def text_of_cell(cell: object) -> str:
    """Return the text in a cell, stripped; raise a RowError if it is not text."""
    # A number may be part of a text, such as the year of a paper; true and false are not.
    if isinstance(cell, bool):
        raise no_text(cell)
    return as_text(cell).strip()


def named_rows(
    path: Path, form: TableFormat, encoding: str | None = None
) -> Iterator[tuple[int, Mapping[str, object] | RowError]]:
    """Yield the line of each row, and its cells by the names of their columns or what is wrong with it.

    `encoding` is that of a text file; UTF-8 when None.
    """
    match form:
        case "parquet":
            from pyarrow.parquet import ParquetFile  # here, as `facetflow plan` mostly reads none

            scan_parquet(path)  # a sentence for what is no Parquet file
            batches = (pl.DataFrame(batch) for batch in ParquetFile(path).iter_batches())
            yield from enumerate((row for batch in batches for row in batch.iter_rows(named=True)), start=1)
        case "jsonl":
            with open_text(path, newline="\n", errors="surrogateescape") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield number, parse_object(line)
        case _:
            quotes = decided_quotes(path, form, "detect")
            rows = cell_rows(path, form, quotes, encoding)
            header = columns_of(path, form, quotes=quotes)
            next(rows)
            for number, cells in rows:
                if isinstance(cells, list) and len(cells) != len(header):
                    message = f"the row has {counted(len(cells), 'cell')}; expected {len(header)}"
                    yield number, RowError(RejectCode.WRONG_COLUMNS, message)
                else:
                    yield number, cells if isinstance(cells, RowError) else dict(zip(header, cells, strict=True))
