"""Cutting rows into shards that never change."""

from collections.abc import Iterable

import polars as pl

from features.core.faults import UnknownShard
from features.core.types import Shard


def shard_name(table: str, number: int) -> Shard:
    """Return the name of a shard.

    >>> shard_name("pairs", 7)
    'pairs-00007'
    """
    return Shard(f"{table}-{number:05d}")


def next_number(table: str, known: Iterable[Shard]) -> int:
    """Return the first free number after those of the known shards.

    Raises:
        StoreError: a shard's name does not have our form.
    """
    last = -1
    for name in known:
        prefix, _, number = name.rpartition("-")
        if prefix != table or not number.isdecimal():
            raise UnknownShard(f"the known shard {name!r} is not a shard of {table!r}: pass the shards of that table.")
        last = max(last, int(number))
    return last + 1


def cut(rows: pl.DataFrame, table: str, size: int, first: int) -> dict[Shard, pl.DataFrame]:
    """Cut rows into shards of `size` rows, the last one with the remainder, numbered from `first`."""
    return {
        shard_name(table, first + number): rows.slice(start, size)
        for number, start in enumerate(range(0, rows.height, size))
    }
