"""Selecting rows of a table of pairs or labels by split, corpus and so on."""

from collections.abc import Collection

import polars as pl


def choose_rows(table: pl.DataFrame, **wanted: Collection[str]) -> pl.DataFrame:
    """Return the rows whose columns have one of the wanted values.

    Args:
        table: any table.
        wanted: column → values; empty accepts every value.
    """
    for column, values in wanted.items():
        if values:
            table = table.filter(pl.col(column).is_in(list(values)))
    return table
