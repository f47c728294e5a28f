"""The cells of a TSV or CSV file line by line, and the role of its double quotes: part of the text, or around cells.

A wrong row is an item like any other, with its error, so reading goes on.
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

from features.core.errors import RowError
from features.core.faults import CellNeverEnds, NotText
from features.core.files import TableFormat, open_text
from features.core.types import RejectCode
from features.core.wording import clipped, counted
from features.corpora.dataset import Quotes

SEPARATORS: dict[str, str] = {"tsv": "\t", "csv": ","}
"""Separator of cells, by form."""
_EVIDENCE = 1000  # cells with quotes that suffice to tell whether quotes enclose cells
_LEGIBLE = 1 << 20  # characters; matching a row takes a hundred bytes for each, so longer ones are no evidence
_UNDECODED = re.compile("[\ud800-\udfff]")  # bytes that are not UTF-8, and half characters that JSON may escape
_ENCLOSED = re.compile(r'"[^"]*(?:""[^"]*)+"')  # with a doubled quote inside
_IN_QUOTES = r'"[^"]*(?:""[^"]*)*"'
_NUMBER = r"[-+.\deE]*"  # or nothing: writers that enclose every text do not enclose these
_LONGEST = 1 << 24  # characters in a cell of a CSV file; the default limit of csv is 131,072
_SHOWN = 60  # characters of a cell shown in a message
_BROKEN = 100  # lines of a cell with line breaks, beyond which its opening quote is taken for a mistake

BLANK = RowError(RejectCode.EMPTY_SENTENCE, "the line is empty")
"""What is wrong with a blank line, where these count."""

Numbered = tuple[int, list[str] | RowError]
"""The number of a row's first line, from 1, and its cells, or what was wrong with it."""


class WrongRow(NamedTuple):
    """A row that cannot be used: the number of its first line, from 1, and what is wrong with it."""

    line: int
    error: RowError


def cell_rows(
    path: Path, form: TableFormat, quotes: Quotes, encoding: str | None = None, *, blanks: bool = False
) -> Iterator[Numbered]:
    """Read the cells of every line of a TSV or CSV file, the header line included, or what was wrong with it.

    `encoding` is that of lines that are not UTF-8; when None, such a line is wrong. Blank lines are skipped, or with
    `blanks` are wrong rows (`BLANK`).
    """
    separator = SEPARATORS[form]
    enclose = decided_quotes(path, form, quotes) == "enclose"
    checked = False
    # Only a line feed ends a line: a carriage return may occur inside a sentence.
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for line, cells in _enclosed(text, separator, path) if enclose else _plain(text, separator):
            if not cells:
                if blanks:
                    yield line, BLANK
                continue
            if isinstance(cells, RowError):
                yield line, cells
                continue
            decoded = cells if encoding is None else [in_encoding(cell, encoding) for cell in cells]
            wrong = next(filter(None, map(encoding_fault, decoded)), None)
            if wrong and not checked:
                _require_mostly_utf8(path)
                checked = True
            yield line, wrong or decoded


def decided_quotes(path: Path, form: TableFormat, quotes: Quotes) -> Quotes:
    """Return the role of double quotes in a file, detected from the file if so requested."""
    if form == "csv":
        return "enclose"
    if form != "tsv" or quotes != "detect":
        return quotes
    return "enclose" if _quotes_enclose(path, SEPARATORS[form]) else "ordinary"


def encoding_fault(text: str) -> RowError | None:
    """Return what is wrong with the characters of a cell or line, None if they are text."""
    if not _is_decoded(text):
        return RowError(RejectCode.BAD_ENCODING, "the row is not UTF-8, or has half a character; expected UTF-8")
    # Many programs take it for the end of the text.
    return RowError(RejectCode.BAD_ENCODING, "the row has a NUL character (U+0000)") if "\0" in text else None


def _is_decoded(text: str) -> bool:
    return text.isascii() or not _UNDECODED.search(text)


def in_encoding(text: str, encoding: str) -> str:
    """Decode a text again whose bytes were read as UTF-8 but are in another encoding, unless they are valid UTF-8."""
    return text if _is_decoded(text) else text.encode(errors="surrogateescape").decode(encoding)


def as_text(cell: object) -> str:
    """Return a cell of a typed format as a text table would have it: 1.0 and true are 1, null and NaN are empty.

    Decimals are the numbers that they are: databases export integers as such.

    Raises:
        RowError: WRONG_COLUMNS, BAD_ENCODING.
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool) or (isinstance(cell, float) and cell.is_integer()):
        return str(int(cell))
    if isinstance(cell, Decimal):
        return str(int(cell)) if cell == cell.to_integral_value() else f"{cell.normalize():f}"
    if not isinstance(cell, str | int | float):
        raise RowError(RejectCode.WRONG_COLUMNS, f"the cell {clipped(repr(cell), _SHOWN)} is neither text nor number")
    if isinstance(cell, str) and (wrong := encoding_fault(cell)):
        raise wrong
    return str(cell)


def not_text(cell: object) -> RowError:
    """Return the error of a row whose sentence or text is not a text."""
    return RowError(RejectCode.WRONG_COLUMNS, f"the cell {clipped(repr(cell), _SHOWN)} is not text")


def _plain(text: TextIO, separator: str) -> Iterator[Numbered]:
    for number, line in enumerate(text, start=1):
        row = line.rstrip("\r\n")
        yield number, row.split(separator) if row else []


def _enclosed(text: TextIO, separator: str, path: Path) -> Iterator[Numbered]:
    csv.field_size_limit(_LONGEST)  # process-wide, so other code that needs another limit sets it, too
    reader = csv.reader(text, delimiter=separator, strict=True)
    first = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            advice = "close it, or double it if it is part of the text."
            if separator == SEPARATORS["tsv"]:
                advice = 'close it, or set quotes = "ordinary" if quotes do not enclose cells.'
            if "unexpected end" in str(error):
                message = f"{str(path)!r}, line {first}: a double quote opens a cell that never ends: {advice}"
                raise CellNeverEnds(message) from error
            if "field limit" in str(error):
                raise CellNeverEnds(
                    f"{str(path)!r}, line {first}: a cell has more than {_LONGEST:,} characters: shorten it; or if a "
                    f"double quote opens it by mistake, {advice}"
                ) from error
            yield first, RowError(RejectCode.WRONG_COLUMNS, f"the row cannot be split into cells ({error})")
        else:
            yield first, cells
        first = reader.line_num + 1


def _quotes_enclose(path: Path, separator: str) -> bool:
    """Return whether double quotes enclose cells.

    A writer that encloses cells encloses every cell with a quote in it and doubles that quote; a cell with a quote
    inside but none in front shows that quotes are ordinary characters. A cell without quotes inside shows nothing by
    itself, but all of them being enclosed does.
    """
    enclosed = ordinary = 0
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for line in text:
            if '"' in line and len(line) < _LEGIBLE:
                for cell in line.rstrip("\r\n").split(separator):
                    if '"' in cell:
                        enclosed += bool(_ENCLOSED.fullmatch(cell))
                        # The last line of an enclosed cell with line breaks ends in a quote: no evidence.
                        ordinary += not cell.startswith('"') and '"' in cell[:-1]
                if enclosed + ordinary >= _EVIDENCE:
                    break
    return enclosed > ordinary or _all_enclosed(path, separator)


def _all_enclosed(path: Path, separator: str) -> bool:
    """Return whether every text is enclosed in every row below the first, or in the first, a header, if others fit."""
    closed = _row_of(f"{_IN_QUOTES}|{_NUMBER}", separator)
    # Some writers put a backslash before a quote; a row of theirs is wrong, but it shows that quotes enclose.
    fitting = _row_of(rf'"(?:[^"\\]|""|\\.)*"|(?!")[^{separator}]*', separator)
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        rows = (row for row in _whole_rows(text) if len(row) < _LEGIBLE)
        first, *others = list(islice(rows, _EVIDENCE)) or [""]
    quoted = [row for row in others if '"' in row]
    if quoted and all(closed.fullmatch(row) for row in others):
        return True
    wrong = sum(not fitting.fullmatch(row) for row in quoted)
    return '"' in first and bool(closed.fullmatch(first)) and 2 * wrong <= len(quoted)


def _row_of(cell: str, separator: str) -> re.Pattern[str]:
    return re.compile(f"(?:{cell})(?:{separator}(?:{cell}))*", re.DOTALL)


def _whole_rows(lines: Iterable[str]) -> Iterator[str]:
    """Join the lines of a cell with line breaks: up to its end, the number of quotes in the row is odd."""
    row: list[str] = []
    odd = False
    for line in lines:
        if row or line.strip("\r\n"):
            row.append(line)
            odd ^= line.count('"') % 2 == 1
            if not odd or len(row) > _BROKEN:
                yield "".join(row).rstrip("\r\n")
                row, odd = [], False
    if row:
        yield "".join(row).rstrip("\r\n")


def _require_mostly_utf8(path: Path) -> None:
    """Raise if the file as a whole is in another encoding: most of its non-ASCII lines are not UTF-8."""
    good = bad = first = 0
    with open_text(path, newline="\n", errors="surrogateescape") as text:
        for number, line in enumerate(text, start=1):
            if _is_decoded(line):
                good += not line.isascii()
            else:
                first, bad = first or number, bad + 1
    if bad > good:
        raise NotText(
            f"{str(path)!r} is not UTF-8 text ({counted(bad, 'line')} with other bytes, the first is line {first}): "
            "convert it, for instance with iconv -f cp1252 -t utf-8."
        )
