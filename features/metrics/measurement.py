"""All metrics of all pairs, in one pass."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from features.core.faults import CannotPair, UnknownMetric
from features.core.rows import OnRows, ignore_rows
from features.graphs.batch import GraphBatch
from features.metrics.label_vectors import LabelVectors
from features.metrics.metric import Comparison
from features.metrics.registry import METRICS
from features.schemas import LABEL_VECTORS

PAIRS_AT_ONCE = 4096
"""Larger batches of pairs are not faster."""


def measure(
    left: GraphBatch, right: GraphBatch, vectors: LabelVectors, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """Measure pairs of graphs: the first of `left` with the first of `right`, and so on.

    Args:
        left: first graph of each pair.
        right: second graph of each pair, equally many.
        vectors: vectors of the words in the labels.
        metrics: names of metrics; all of them when None.

    Returns:
        One row a pair: a float64 column for each metric, and a boolean column `<name>_optimal` for each that searches
        for an alignment.

    Raises:
        SettingsError: when the sides differ in length, or a metric is unknown.
    """
    if len(left) != len(right):
        raise CannotPair(f"{len(left)!r} graphs cannot be paired with {len(right)!r}; give equally many of each")
    pairs = np.arange(len(left))
    return compare(Comparison(left.followed_by(right), pairs, pairs + len(left), vectors), metrics)


def warm_up() -> None:
    """Compile every kernel, or load it from the cache; call it once before workers start to spare them the wait."""
    graphs = GraphBatch.from_penman(["(s / see-01 :ARG0 (b / boy :quant 2))", "(g / girl)"])
    measure(graphs, graphs, LabelVectors.from_rows(pl.DataFrame(schema=LABEL_VECTORS)))


def compare(pairs: Comparison, metrics: Sequence[str] | None = None, on_rows: OnRows = ignore_rows) -> pl.DataFrame:
    """Measure pairs of graphs of one batch; see `measure`.

    Pairs are processed some thousand at a time, so that intermediate results do not grow with their number; after each
    batch `on_rows` is called with how many are done.
    """
    names = list(METRICS) if metrics is None else list(metrics)
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        raise UnknownMetric(f"there is no metric {unknown[0]!r}; choose from {', '.join(METRICS)}")
    measured: list[pl.DataFrame] = []
    on_rows(0, len(pairs))
    for part in pairs.parts(PAIRS_AT_ONCE):
        measured.append(_compare(part, names))
        on_rows(sum(map(len, measured)), len(pairs))
    return pl.concat(measured)


def _compare(pairs: Comparison, names: Sequence[str]) -> pl.DataFrame:
    columns: dict[str, npt.NDArray[np.float64] | npt.NDArray[np.bool_]] = {}
    proofs: dict[str, npt.NDArray[np.float64] | npt.NDArray[np.bool_]] = {}
    for name in names:
        metric = METRICS[name]
        statistics = metric.statistics(pairs)
        columns[name] = metric.number(statistics)
        if metric.proof is not None:
            proofs[f"{name}_optimal"] = metric.proof(statistics)
    return pl.DataFrame(columns | proofs)
