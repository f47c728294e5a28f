"""The rows of a corpus of pairs in columns, some ten thousand at a time."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from features.core.types import SPLITS
from features.corpora.reading import read_outcomes
from features.corpora.rows import BadRow, PairRow, Skip
from features.corpora.settings import CorpusSettings
from features.schemas import Columns

_BATCH_ROWS = 1 << 16
_ORIGIN = r"(?s)^(?<file>.*):(?<line>\d+)$"

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
    outcomes = enumerate(read_outcomes(settings, base))
    while rows := list(islice(outcomes, _BATCH_ROWS)):
        pairs = _in_columns([(row, each) for row, each in rows if isinstance(each, PairRow)])
        yield pairs, [(row, each) for row, each in rows if isinstance(each, Skip | BadRow)]


def _in_columns(rows: Sequence[tuple[int, PairRow]]) -> pl.DataFrame:
    """Return pairs, each with its number."""
    if not rows:
        return pl.DataFrame(schema=PAIR_ROWS)
    cells = dict(zip(("row", *PairRow._fields), zip(*((row, *pair) for row, pair in rows), strict=True), strict=True))
    origins = pl.Series(cells.pop("origin"), dtype=pl.String).str.extract_groups(_ORIGIN).struct.unnest()
    columns = {name: cells[name] for name in PAIR_ROWS if name not in origins.columns}
    return pl.DataFrame({**columns, **origins.to_dict()}).cast(pl.Schema(PAIR_ROWS)).select(list(PAIR_ROWS))
