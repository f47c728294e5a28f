"""New pairs of one kind of a corpus, in columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import SPLITS, Split
from features.ingest.ids import ID, IdArray
from features.schemas import Columns

PAIR_TABLE: Columns = {
    "split": pl.UInt8,
    "a": pl.UInt32,
    "b": pl.UInt32,
    "score": pl.Float64,
    "label": pl.Categorical(),
}
"""Columns of pairs: split by its place in `SPLITS`, sentences by number."""


@dataclass(frozen=True, slots=True)
class PairTable:
    """New pairs of one kind of a corpus: ids, (n_pairs,), columns of `PAIR_TABLE`; of negatives, ids of positives."""

    ids: IdArray
    rows: pl.DataFrame
    positives: IdArray | None = None

    def ordered(self, order: NDArray[np.int64]) -> "PairTable":
        """Return the pairs in another order."""
        return PairTable(self.ids[order], self.rows[order], None if self.positives is None else self.positives[order])


def table_of(
    ids: IdArray, split: Split, a: NDArray[np.uint32], b: NDArray[np.uint32], positives: IdArray | None = None
) -> PairTable:
    """Return pairs of a split without judgements as a table."""
    columns = {"split": np.full(len(ids), SPLITS.index(split), np.uint8), "a": a, "b": b, "score": None, "label": None}
    return PairTable(ids, pl.DataFrame(columns, schema=PAIR_TABLE), positives)


def joined(tables: Sequence[PairTable]) -> PairTable:
    """Return pairs of one kind in one table."""
    positives = [table.positives for table in tables if table.positives is not None]
    return PairTable(
        np.concatenate([np.empty(0, ID), *(table.ids for table in tables)]),
        pl.concat([pl.DataFrame(schema=PAIR_TABLE), *(table.rows for table in tables)]),
        np.concatenate(positives) if positives else None,
    )
