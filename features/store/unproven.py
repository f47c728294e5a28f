"""Pairs whose search for the best alignment ended before it was proven: their values are lower bounds."""

import polars as pl

from features.core.errors import StoreError
from features.core.wording import counted
from features.metrics.registry import ALIGNED_METRICS
from features.stages.metrics import METRIC_STAGE
from features.store.reader import StoreReader


def unproven_pairs(store: StoreReader) -> int | None:
    """Return the number of measured pairs of which an alignment is not proven optimal; None where a file is damaged."""
    if not store.committed(METRIC_STAGE.name):
        return 0
    flags = [f"{name}_optimal" for name in ALIGNED_METRICS]
    try:
        return store.read(METRIC_STAGE.name, columns=flags, where=~pl.all_horizontal(flags)).height
    except StoreError:
        return None  # `verify` and the next build name the file


def tell_unproven(pairs: int) -> str:
    """Return a sentence about the number of pairs whose alignment is unproven."""
    values = "its value is a lower bound" if pairs == 1 else "their values are lower bounds"
    return (
        f"{counted(pairs, 'pair')} too hard to align exactly: {values} where `smatch_optimal` and the like are false."
    )
