"""The rows of a corpus of pairs in columns, some hundred thousand at a time."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl

from features.core.types import SPLITS
from features.corpora.reading import read_outcomes
from features.corpora.rows import BadRow, PairRow, Skip
from features.corpora.settings import CorpusSettings
from features.schemas import Columns

_ROWS = 1 << 17
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
"""Columns of pairs: the fields of `PairRow`, its origin in two, and the place of the row in its corpus, from 0."""


class Batch(NamedTuple):
    """Consecutive rows of a corpus: the pairs, columns of `PAIR_ROWS`, and the other rows, each with its place."""

    pairs: pl.DataFrame
    others: list[tuple[int, Skip | BadRow]]


def read_batches(settings: CorpusSettings, base: Path) -> Iterator[Batch]:
    """Read the rows of a corpus of pairs; `base` is the folder of the project file."""
    outcomes = enumerate(read_outcomes(settings, base))
    while rows := list(islice(outcomes, _ROWS)):
        pairs = [(row, *each) for row, each in rows if isinstance(each, PairRow)]
        others = [(row, each) for row, each in rows if isinstance(each, Skip | BadRow)]
        cells = dict(zip(("row", *PairRow._fields), zip(*pairs, strict=True), strict=True)) if pairs else {}
        origins = pl.Series(cells.pop("origin", ()), dtype=pl.String).str.extract_groups(_ORIGIN).struct.unnest()
        columns = {name: cells.get(name, ()) for name in PAIR_ROWS if name not in origins.columns}
        yield Batch(
            pl.DataFrame({**columns, **origins.to_dict()}).cast(pl.Schema(PAIR_ROWS)).select(list(PAIR_ROWS)), others
        )
