"""The rows of a corpus of pairs in columns, some ten thousand at a time.

table ── cells in columns ──┬── every judgement as expected ──> pairs, in columns
                            └── anything else ──┐
another file ── row by row ─────────────────────┴──> outcome ──> pair, or a row that is none
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import polars as pl

from features.core.errors import RowError
from features.core.types import SPLITS
from features.corpora.dataset import Role, TableLayout
from features.corpora.judgements import NoJudgement, read_label, read_score
from features.corpora.reading import Reader, reader_of
from features.corpora.rows import BadRow, Outcome, PairRow, Skip
from features.corpora.settings import CorpusSettings
from features.corpora.sources import Source, locate
from features.corpora.tables import BLOCK_ROWS, read_blocks, table_row
from features.schemas import Columns

_ORIGIN = r"(?s)^(?<file>.*):(?<line>\d+)$"
_NO_SPACE = r"[^\s\x1c-\x1f]"
"""A character that `str.strip` leaves."""

PAIR_ROWS: Columns = {
    "row": pl.UInt32,
    "split": pl.Enum(SPLITS),
    "text_a": pl.String,
    "text_b": pl.String,
    "score": pl.Float64,
    "label": pl.Categorical(),
    "file": pl.Categorical(),
    "line": pl.UInt32,
    "group": pl.Categorical(),
}
"""Columns of pairs: the fields of `PairRow`, its origin in two, and a number that grows with each row of a corpus."""


Batch = tuple[pl.DataFrame, list[tuple[int, Skip | BadRow]]]
"""Consecutive rows of a corpus: the pairs, columns of `PAIR_ROWS`, and the other rows, each with its number."""


def read_batches(settings: CorpusSettings, base: Path) -> Iterator[Batch]:
    """Read the rows of a corpus of pairs; `base` is the folder of the project file."""
    reader = reader_of(settings)
    first = 0
    for source in locate(settings.record, settings.files, base, settings.files_key):
        end = first
        for pairs, outcomes in _rows(reader, source):
            of_rows = _in_columns([(row, each) for row, each in outcomes if isinstance(each, PairRow)])
            others = [(first + row, each) for row, each in outcomes if isinstance(each, Skip | BadRow)]
            if of_rows.height:
                pairs = pl.concat([pairs, of_rows]).sort("row")  # noqa: PLW2901
            numbered = pairs.with_columns(pl.col("row") + first)
            end = max([end, *numbered["row"].tail(1), *(row for row, _ in others)])
            yield numbered, others
        first = end + 1


def _rows(reader: Reader, source: Source) -> Iterator[tuple[pl.DataFrame, list[tuple[int, Outcome]]]]:
    """Yield pairs in columns, and what becomes of other rows, all with numbers in the order of the rows."""
    layout = reader.table_layout(source)
    if layout is None or layout.scores_beside is not None:
        outcomes = enumerate(reader.outcomes(source))
        while rows := list(islice(outcomes, BLOCK_ROWS)):
            yield pl.DataFrame(schema=PAIR_ROWS), rows
        return
    for cells, left in read_blocks(source.path, layout):
        pairs = pl.DataFrame(schema=PAIR_ROWS)
        if cells.height:
            pairs, rest = _judged(cells, reader, layout, source)
            left += [table_row(row) for row in rest.iter_rows(named=True)]
        yield pairs, [(row[0], reader.outcome(row, layout, source)) for row in left]


def _judged(
    cells: pl.DataFrame, reader: Reader, layout: TableLayout, source: Source
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that are pairs, and the cells of those that may be none."""
    fit = cells["sentence_a"].str.contains(_NO_SPACE) & cells["sentence_b"].str.contains(_NO_SPACE)
    columns: dict[str, pl.Expr | pl.Series | None] = {"score": None, "label": None, "group": pl.lit("")}
    columns |= {"split": pl.lit(source.splits[0]), "file": pl.lit(source.name)}
    readers: dict[Role, Callable[[str], object]] = {
        "split": reader.split_of,
        "score": partial(read_score, dataset=reader.record),
        "label": partial(read_label, form=layout.label_form, dataset=reader.record),
        "group": str.strip,
    }
    asked = {"split": source.splits, "label": reader.labels}
    for role in readers.keys() & layout.columns.keys():
        columns[role], expected = _read(cells[role], readers[role], asked.get(role))
        fit &= expected
    columns |= {"text_a": cells["sentence_a"], "text_b": cells["sentence_b"]}
    pairs = cells.select("line", row="line", **columns)
    return pairs.select(list(PAIR_ROWS)).filter(fit).cast(pl.Schema(PAIR_ROWS)), cells.filter(~fit)


def _read(
    cells: pl.Series, read: Callable[[str], object], asked: Collection[str] | None
) -> tuple[pl.Series, pl.Series]:
    """Return what is read of each cell, and whether that is a value, and one that is asked for."""
    different = cells.unique()
    values = []
    for cell in different.to_list():
        try:
            value = read(cell)
        except RowError as error:
            value = error
        values.append(value)
    fit = [not isinstance(value, RowError | NoJudgement) and (asked is None or value in asked) for value in values]
    kept = [value if fits else None for value, fits in zip(values, fit, strict=True)]
    return cells.replace_strict(different, pl.Series(kept)), cells.replace_strict(different, fit)


def _in_columns(rows: Sequence[tuple[int, PairRow]]) -> pl.DataFrame:
    """Return pairs that were read one by one, each with its number."""
    if not rows:
        return pl.DataFrame(schema=PAIR_ROWS)
    cells = dict(zip(("row", *PairRow._fields), zip(*((row, *pair) for row, pair in rows), strict=True), strict=True))
    origins = pl.Series(cells.pop("origin"), dtype=pl.String).str.extract_groups(_ORIGIN).struct.unnest()
    columns = {name: cells[name] for name in PAIR_ROWS if name not in origins.columns}
    return pl.DataFrame({**columns, **origins.to_dict()}).cast(pl.Schema(PAIR_ROWS)).select(list(PAIR_ROWS))
