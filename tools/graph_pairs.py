"""Pairs of graphs for tests: batches of PENMAN, one after the other, and what the metrics say of them."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from features.graphs.batch import GraphBatch
from features.graphs.graph import decode
from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison


def batch_of(texts: Sequence[str]) -> GraphBatch:
    """Return graphs in PENMAN as a batch."""
    return GraphBatch.of(decode(text) for text in texts)


def followed_by(first: GraphBatch, second: GraphBatch) -> GraphBatch:
    """Return the graphs of two batches as one, over common vocabularies."""
    return GraphBatch.from_rows(pl.concat([first.rows, second.rows]))


def measure(
    left: GraphBatch, right: GraphBatch, vectors: LabelVectors, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """Measure the first graph of `left` with the first of `right`, and so on."""
    pairs = np.arange(len(left))
    return compare(Comparison(followed_by(left, right), pairs, pairs + len(left), vectors), metrics)
