"""Pairs of sentences in one table, under the names that it or a project gives its columns."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from features.corpora.dataset import Role, TableLayout
from features.corpora.reading import own_record
from features.corpora.records.own import PAIRS
from features.corpora.registry import DATASETS
from features.corpora.settings import CorpusSettings
from features.corpora.tables import TableRow, columns_of, fitting_layout, read_rows
from features.errors import InputError
from features.files import table_format
from features.leftovers import scratch
from features.outputs import STANDARD, shown
from features.sentences import normalise

_SENTENCES = ("sentence_a", "sentence_b")


class PairCells(NamedTuple):
    """One row of a table of pairs.

    Args:
        line: number of its first line, from 1 (of the row, for Parquet).
        text_a: sentence a, with single blanks; None where the row could not be read.
        text_b: sentence b, likewise.
        problem: why it is no pair of sentences; empty where it is one.
    """

    line: int
    text_a: str | None
    text_b: str | None
    problem: str = ""


def read_pair_table(path: Path, corpora: Sequence[CorpusSettings] = ()) -> list[tuple[str, str]]:
    """Read the pairs of a table (TSV, CSV, JSONL, Parquet).

    Args:
        path: the table; `-` is standard input, whose first line shows whether it is TSV, CSV or JSONL.
        corpora: of a project; their `columns` are tried first, then `sentence_a` and `sentence_b`.

    Returns:
        The pairs, as many as there are rows, in their order.

    Raises:
        InputError: the table cannot be read, fits no layout, or has a wrong row.
    """
    layouts = [
        layout
        for corpus in corpora
        if corpus.columns
        for layout in own_record(corpus).layouts
        if isinstance(layout, TableLayout)
    ]
    layouts += [layout for layout in PAIRS.layouts if isinstance(layout, TableLayout)]
    # Only the sentences are wanted: a table to explain needs no score.
    wanted = [layout.model_copy(update={"columns": _of_sentences(layout)}) for layout in layouts]
    with _as_file(path) as file:
        pairs = []
        for row in read_rows(file, fitting_layout(file, wanted)):
            if not isinstance(row, TableRow):
                line, error = row
                raise InputError(f"{shown(path, 'standard input')}, line {line}: {error.message}; correct the line.")
            pairs.append((row.sentence_a, row.sentence_b))
    return pairs


def read_pair_rows(
    path: Path, columns: Sequence[str | int] = (), corpora: Sequence[CorpusSettings] = ()
) -> list[PairCells]:
    """Read every row of a table of pairs (TSV, CSV, JSONL, Parquet), those that are wrong too, in their order.

    Args:
        path: the table; `-` is standard input, whose first line shows whether it is TSV, CSV or JSONL.
        columns: the two with the sentences: names, or positions from 0 in a table without a header line. When empty
            those that a corpus of the project names, `sentence_a` and `sentence_b`, or those of a known dataset.
        corpora: of the project.

    Raises:
        InputError: the table cannot be read, has no row, or no such columns.
    """
    found = []
    with _as_file(path) as file:
        layout = fitting_layout(file, [_layout_of_sentences(file, columns, corpora, shown(path, "standard input"))])
        for row in read_rows(file, layout):
            if not isinstance(row, TableRow):
                found.append(PairCells(row[0], None, None, row[1].message))
                continue
            texts = normalise(row.sentence_a), normalise(row.sentence_b)
            empty = [side for side, text in zip("ab", texts, strict=True) if not text]
            problem = (
                "both sentences are empty" if len(empty) == 2 else f"sentence {empty[0]} is empty" if empty else ""
            )
            found.append(PairCells(row.line, *texts, problem))
    return found


def _layout_of_sentences(
    file: Path, columns: Sequence[str | int], corpora: Sequence[CorpusSettings], name: str
) -> TableLayout:
    """Return a layout of the two sentences alone: the one asked for, or the first that the header of the file has."""
    form = table_format(file)
    there = columns_of(file, form, [[str(column) for column in columns]])
    listed = ", ".join(map(repr, there)) or "none"
    if columns:
        if isinstance(columns[0], int) and form in {"jsonl", "parquet"}:
            raise InputError(f"{name} is {form}, whose columns have names; they are {listed}: give two of them.")
        for column in columns:
            if isinstance(column, str) and column not in there:
                raise InputError(f"{name} has no column {column!r}; its columns are {listed}: give two of them.")
        return TableLayout.model_validate({"columns": dict(zip(_SENTENCES, columns, strict=True))})
    own = [own_record(corpus) for corpus in corpora if corpus.columns]
    known = [layout for record in (*own, PAIRS, *DATASETS.values()) for layout in record.layouts]
    for layout in known:
        if isinstance(layout, TableLayout) and layout.has_header:
            sentences = _of_sentences(layout)
            if all(column in there for column in sentences.values()):
                return TableLayout(columns=sentences, quotes=layout.quotes)
    raise InputError(
        f"{name} has no columns that are known to hold two sentences, such as sentence_a and sentence_b; its columns "
        f"are {listed}: name the two with --columns, or give their positions from 0 where there is no header line."
    )


def _of_sentences(layout: TableLayout) -> dict[Role, str | int]:
    return {role: place for role, place in layout.columns.items() if role in _SENTENCES}


@contextmanager
def _as_file(path: Path) -> Iterator[Path]:
    """Yield a file that can be read twice: what comes through a pipe is kept for as long as it is read."""
    if path != STANDARD:
        yield path
        return
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InputError("Standard input is empty: write a table of pairs to it, with a header line.")
    first = content.split(b"\n", 1)[0]
    suffix = ".jsonl" if first.lstrip().startswith(b"{") else ".tsv" if b"\t" in first or b"," not in first else ".csv"
    with scratch("input") as folder:
        copy = folder / f"standard input{suffix}"
        copy.write_bytes(content)
        try:
            yield copy
        except InputError as error:
            raise InputError(str(error).replace(repr(str(copy)), "standard input")) from error
