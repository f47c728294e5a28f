"""Tables exported from a store, for machines without one."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from features.core.faults import ColumnMissing, RowWrong
from features.core.files import read_table


def read_words(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns that hold text in every row.

    Args:
        path: Parquet, or another format by its suffix.
        columns: their names; others are left out.

    Raises:
        InputError: when the file is missing, damaged, or lacks a column or a cell.
    """
    table = read_table(path)
    if missing := [name for name in columns if name not in table.columns]:
        raise ColumnMissing(f"{str(path)!r} has the columns {table.columns}; it lacks {missing}.")
    table = table.select(pl.col(name).cast(pl.String) for name in columns)
    for name in columns:
        if empty := table[name].null_count():
            raise RowWrong(f"{str(path)!r} has {empty} rows without {name!r}; every row must have one.")
    return table
