"""Small array operations on batches in CSR form: graph g owns `offsets[g]:offsets[g + 1]`."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Ids = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Statistics = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.float64]

Kind = Literal["node", "attribute", "relation", "root"]


class Items(NamedTuple):
    """Items of one kind that a metric reads from the graphs of a batch; nodes are numbered through the batch."""

    kind: Kind  # `root` is the mark that a node is the root of what the metric reads
    at: Positions  # which nodes, attributes or relations of the batch they are, (n,)
    ends: tuple[Positions, ...]  # the node at which each stands, or its source and target as the metric reads it, (n,)
    keys: Ids | Positions  # equal for items that compare equal, (n,)


def owners(offsets: Positions) -> Positions:
    """Return the graph of each row of an array with these offsets, shape (n_rows,)."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def offsets_of(sorted_owners: Positions, n_graphs: int) -> Positions:
    """Return the offsets of an array whose rows belong to these graphs, in order, shape (n_graphs + 1,)."""
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_owners, minlength=n_graphs))]).astype(np.int64)


def sums(values: Ids, offsets: Positions) -> Positions:
    """Return the sum of each graph's rows, shape (n_graphs,)."""
    totals = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return np.asarray(totals[offsets[1:]] - totals[offsets[:-1]], np.int64)


def distinct(*columns: npt.NDArray[np.integer[Any]]) -> tuple[tuple[Positions, ...], Positions]:
    """Return the distinct rows of some columns of ids, sorted, and how often each occurs.

    Each row is packed into one number, which sorts many times faster than columns; a batch of some million nodes fits.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    keys = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys = keys * size + column
    keys, counts = np.unique(keys, return_counts=True)
    rows: list[Positions] = []
    for size in reversed(sizes[1:]):
        rows.append(np.asarray(keys % size, np.int64))
        keys = keys // size
    return (keys, *reversed(rows)), counts


def ranks_of(names: Iterable[str]) -> Positions:
    """Return the rank of each name in the alphabet: what is sorted by it has the same order in any batch."""
    return pl.Series(list(names), dtype=pl.String).rank("dense").cast(pl.Int64).to_numpy() - 1


def ids_of(names: Iterable[str], known: dict[str, int] | None = None) -> Ids:
    """Return an id for each name, equal for equal names; new names are added to `known` if given."""
    known = {} if known is None else known
    return np.array([known.setdefault(name, len(known)) for name in names], np.int32)
