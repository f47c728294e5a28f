"""Pairs of sentences in one table, with column names known from datasets or the project."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from features.core.faults import ColumnMissing, ColumnsUnclear
from features.core.files import source_name, table_format
from features.corpora.cells import BLANK, WrongRow
from features.corpora.dataset import DATASETS, SENTENCES, Dataset, TableLayout
from features.corpora.headers import columns_of, fitting_layout, hint_of_form, shown_names
from features.corpora.reading import own_record
from features.corpora.settings import CorpusSettings
from features.corpora.tables import as_file, read_rows
from features.sentences import normalise

_PAIRS = DATASETS["pairs"]
_ADVICE = "name the two with --columns, or give their positions from 0 if there is no header line"


class PairCells(NamedTuple):
    """One row of a table of pairs: its first line, from 1, and both sentences with single spaces.

    `problem` is why it is not a pair of sentences; the sentences of a row that cannot be read are None.
    """

    line: int
    text_a: str | None
    text_b: str | None
    problem: str = ""


def read_pair_rows(
    path: Path,
    columns: Sequence[str | int] = (),
    corpora: Sequence[CorpusSettings] = (),
    tell: Callable[[str], None] = lambda _: None,
    advice: str = _ADVICE,
) -> list[PairCells]:
    """Read every row of a table of pairs (TSV, CSV, JSONL, Parquet), including wrong ones, in order.

    Args:
        path: the table; `-` is standard input, whose first line shows whether it is TSV, CSV or JSONL.
        columns: the two with the sentences: names, or positions from 0 in a table without a header line; names of
            digits are positions if there are no such columns. When empty, those that a corpus of the project names,
            `sentence_a` and `sentence_b`, or those of a known dataset.
        corpora: corpora of the project.
        tell: called with notes on how the columns were found.
        advice: what to do where no columns are known, as the end of a sentence.

    Raises:
        InputError: the table cannot be read, lacks such columns, or has no rows.
    """
    pairs = []
    with as_file(path) as file:
        name = source_name(path)
        layout = _chosen(file, columns, corpora, name, tell) if columns else _fitting(file, corpora, name, tell, advice)
        for row in read_rows(file, layout, blanks=True):
            if isinstance(row, WrongRow):
                pairs.append(PairCells(row.line, None, None, row.error.message))
                continue
            a, b = normalise(row.sentence_a), normalise(row.sentence_b)
            problem = "both sentences are empty"
            if a or b:
                problem = "" if a and b else f"sentence {'b' if a else 'a'} is empty"
            pairs.append(PairCells(row.line, a, b, problem))
    while pairs[-1].problem == BLANK.message:  # at the end they hold no place
        pairs.pop()
    return pairs


def _chosen(
    file: Path, columns: Sequence[str | int], corpora: Sequence[CorpusSettings], name: str, tell: Callable[[str], None]
) -> TableLayout:
    """Return the layout of the two requested columns."""
    form = table_format(file)
    present = columns_of(file, form, [[str(column) for column in columns]])
    listed = shown_names(present)
    keys = list(columns)
    if all(str(column).isdecimal() for column in columns) and not all(column in present for column in columns):
        keys = [*map(int, columns)]
    if keys[0] == keys[1]:
        raise ColumnsUnclear(f"--columns takes both sentences from {keys[0]!r}: give the columns of two.")
    if all(isinstance(key, int) for key in keys):
        if form in {"jsonl", "parquet"}:
            raise ColumnsUnclear(f"{name} is {form}, whose columns have names: {listed}; give two of them.")
        first = {cell.casefold() for cell in present}
        headers = [layout.columns.values() for layout in _candidates(corpora) if layout.has_header]
        if any({str(column).casefold() for column in header} <= first for header in headers):
            tell(
                f"The first row of {name} looks like a header line ({listed}), but is read as a pair because --columns "
                "has positions: give names instead."
            )
    for key in keys:
        if isinstance(key, str) and key not in present:
            raise ColumnMissing(f"{name} has no column {key!r}; its columns are {listed}: give two of them.")
    return fitting_layout(file, [TableLayout.model_validate({"columns": dict(zip(SENTENCES, keys, strict=True))})])


def _fitting(
    file: Path, corpora: Sequence[CorpusSettings], name: str, tell: Callable[[str], None], advice: str
) -> TableLayout:
    """Return the first known layout whose sentence columns are in the file's header, else a project's by position."""
    form = table_format(file)
    layouts = [layout for layout in _candidates(corpora) if layout.has_header]
    names = [[str(column) for column in layout.columns.values()] for layout in layouts]
    columns_by = cache(partial(columns_of, file, form, names))  # the role of quotes
    for layout in layouts:
        if set(layout.columns.values()) <= set(columns_by(layout.quotes if form == "tsv" else "detect")):
            return fitting_layout(file, [layout])
    by_position = [layout for layout in _project_layouts(corpora) if not layout.has_header]
    if by_position and form in {"tsv", "csv"}:
        layout = fitting_layout(file, by_position)
        cells = " and ".join(str(int(column) + 1) for column in layout.columns.values())
        tell(f"{name} has no known header line: its sentences are cells {cells}, as in a corpus of the project.")
        return layout
    usual = [*_project_layouts(corpora), *_sentence_layouts(_PAIRS)]
    such = " or ".join(dict.fromkeys(" and ".join(map(str, layout.columns.values())) for layout in usual))
    raise ColumnMissing(
        f"{name} has no columns known to hold two sentences, such as {such}; its columns are "
        f"{shown_names(columns_by('detect'))}: {advice}{hint_of_form(file)}."
    )


def _candidates(corpora: Sequence[CorpusSettings]) -> list[TableLayout]:
    """Return the layouts of the two sentences alone, in the order in which they are tried on a file."""
    datasets = [layout for record in DATASETS.values() for layout in _sentence_layouts(record)]
    # A table of a dataset may have been rewritten by a program that encloses cells.
    enclosed = [layout.model_copy(update={"quotes": "detect"}) for layout in datasets]
    return [*_project_layouts(corpora), *_sentence_layouts(_PAIRS), *datasets, *enclosed]


def _project_layouts(corpora: Sequence[CorpusSettings]) -> list[TableLayout]:
    return [layout for corpus in corpora if corpus.columns for layout in _sentence_layouts(own_record(corpus))]


def _sentence_layouts(record: Dataset) -> list[TableLayout]:
    # Only the sentences are needed: a table to explain or to label needs no score.
    return [
        TableLayout(columns={role: layout.columns[role] for role in SENTENCES}, quotes=layout.quotes)
        for layout in record.layouts
        if isinstance(layout, TableLayout)
    ]
