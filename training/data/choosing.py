"""Some rows of a table of pairs or labels: those of the splits, corpora and so on that are wanted."""

from collections.abc import Collection

import polars as pl


def choose_rows(table: pl.DataFrame, **wanted: Collection[str]) -> pl.DataFrame:
    """Return the rows whose columns have one of the wanted values.

    Args:
        table: any.
        wanted: column → values; every value is wanted where it is empty.
    """
    for column, values in wanted.items():
        if values:
            table = table.filter(pl.col(column).is_in(list(values)))
    return table
