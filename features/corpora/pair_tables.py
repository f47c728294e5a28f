"""Pairs of sentences in one table, under the names that it or a project gives its columns."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from features.corpora.dataset import TableLayout
from features.corpora.reading import own_record
from features.corpora.records.own import PAIRS
from features.corpora.settings import CorpusSettings
from features.corpora.tables import TableRow, fitting_layout, read_rows
from features.errors import InputError
from features.leftovers import scratch
from features.outputs import STANDARD, shown


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
    wanted = [
        layout.model_copy(update={"optional": tuple(set(layout.columns) - {"sentence_a", "sentence_b"})})
        for layout in layouts
    ]
    with _as_file(path) as file:
        pairs = []
        for row in read_rows(file, fitting_layout(file, wanted)):
            if not isinstance(row, TableRow):
                line, error = row
                raise InputError(f"{shown(path, 'standard input')}, line {line}: {error.message}; correct the line.")
            pairs.append((row.sentence_a, row.sentence_b))
    return pairs


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
