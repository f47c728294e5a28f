"""Texts with labels: lines `label text`, or tables with a column of labels for each aspect; and texts with an id.

1 smart and alert , a small gem .                         class: 1
title, abstract, tasks = "Tagging|Parsing", datasets      task: Tagging, task: Parsing, dataset: ...

id,name,about
007,Cat,"a cat, red"        TextCells(line=2, id="007", text="Cat: a cat, red", problem="")
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from features.core.errors import RowError
from features.core.faults import ColumnMissing, ColumnsUnclear, FileEmpty
from features.core.files import open_text, source_name, table_format
from features.core.types import RejectCode
from features.corpora.cells import WrongRow, as_text, encoding_fault, in_encoding, not_text
from features.corpora.dataset import TextLayout
from features.corpora.headers import columns_of, hint_of_form, require_once, shown_names
from features.corpora.tables import named_rows

JOIN = ": "
"""Separator between the columns of a text, such as title and abstract."""
_ID = "id"


class LabelledText(NamedTuple):
    """A text of a file, with its first line, from 1, and aspect and label as written, in the order of the layout.

    `lacking` is the missing column for which the row is left out; empty if it is used.
    """

    line: int
    text: str
    labels: tuple[tuple[str, str], ...]
    lacking: str = ""


def read_texts(path: Path, layouts: Sequence[TextLayout]) -> Iterator[LabelledText | WrongRow]:
    """Read the texts of a file, or what was wrong with a line, in the first layout that it fits."""
    layout = fitting_texts(path, layouts)
    nothing = True
    for row in _lines(path, layout) if layout.form == "label first" else _table(path, layout):
        nothing = False
        yield row
    if nothing:
        raise FileEmpty(f"{str(path)!r} has no rows: check that it was written to its end.")


def fitting_texts(path: Path, layouts: Sequence[TextLayout]) -> TextLayout:
    """Return the first layout that a file fits; raise an InputError if it fits none or cannot be read."""
    columns: list[str] = []
    for layout in layouts:
        if layout.form == "label first":
            return layout
        wanted = [candidate.columns for candidate in layouts]
        columns = columns_of(path, layout.form or table_format(path), wanted, layout.quotes)
        if all(name in columns for name in layout.columns):
            require_once(path, columns, layout.columns)
            return layout
    lacking = [name for name in layouts[0].columns if name not in columns]
    to_do = hint_of_form(path) or ': name existing ones, text = "..." and aspects = { aspect = "column" }'
    raise ColumnMissing(
        f"{str(path)!r} lacks the column{'s' if len(lacking) > 1 else ''} {', '.join(map(repr, lacking))}; its columns "
        f"are {shown_names(columns)}{to_do}."
    )


def _lines(path: Path, layout: TextLayout) -> Iterator[LabelledText | WrongRow]:
    (aspect,) = layout.aspects
    with open_text(path, newline="\n", errors="surrogateescape") as file:
        for number, raw in enumerate(file, start=1):
            line = raw if layout.encoding is None else in_encoding(raw, layout.encoding)
            if not line.strip():
                continue
            label, _, text = line.strip().partition(" ")
            if wrong := encoding_fault(line):
                yield WrongRow(number, wrong)
            elif not text:
                message = f"the line is {label!r} alone; expected a label, a blank, a text"
                yield WrongRow(number, RowError(RejectCode.EMPTY_SENTENCE, message))
            else:
                yield LabelledText(number, text, ((aspect, _cut(label, layout)),))


def _table(path: Path, layout: TextLayout) -> Iterator[LabelledText | WrongRow]:
    form = layout.form or table_format(path)
    assert form != "label first"  # noqa: S101 - read by its own function; this tells mypy
    for line, cells in named_rows(path, form, layout.columns, layout.quotes, layout.encoding):
        try:
            if isinstance(cells, RowError):
                raise cells
            texts = {name: text_of_cell(cells.get(name)) for names in layout.text for name in names}
            labels = tuple(
                dict.fromkeys(
                    (aspect, _cut(label, layout))
                    for aspect, column in layout.aspects.items()
                    for label in _labels(cells.get(column), layout.separator)
                )
            )
        except RowError as error:
            yield WrongRow(line, error)
            continue
        lacking = next((name for name in layout.needs if not texts[name]), "")
        for names in layout.text:
            yield LabelledText(line, JOIN.join(texts[name] for name in names if texts[name]), labels, lacking)


def _labels(cell: object, separator: str | None) -> list[str]:
    """Return the labels of a cell, stripped; a list is always several, whatever the layout says."""
    if isinstance(cell, list):
        return [as_text(item).strip() for item in cell]
    written = as_text(cell)
    return [label.strip() for label in (written.split(separator) if separator else [written])]


def _cut(label: str, layout: TextLayout) -> str:
    return label if layout.cut is None else label.partition(layout.cut)[0]


class TextCells(NamedTuple):
    """A row of a table of texts: line and text as in `LabelledText`, the content of the column `id`, if there is one.

    `problem` is what is wrong with the row, which then has no text.
    """

    line: int
    id: str
    text: str
    problem: str = ""


def read_text_table(path: Path, columns: Sequence[str], advice: str) -> Iterator[TextCells]:
    """Yield the texts of a table row by row; `advice` is what to do if it lacks one of the columns."""
    there = columns_of(path, table_format(path), [columns], optional=[_ID])
    if missing := [column for column in columns if column not in there]:
        problem = f"{source_name(path)} has no column {missing[0]!r}; it has {shown_names(there)}"
        raise ColumnMissing(f"{problem}{hint_of_form(path) or advice}.")
    require_once(path, there, [*columns, _ID])
    if len({*columns}) < len(columns):
        raise ColumnsUnclear(f"The columns {shown_names(columns)} are to be joined: name each once.")
    for line, cells in named_rows(path, table_format(path), [*columns, _ID]):
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
        raise not_text(cell)
    return as_text(cell).strip()
