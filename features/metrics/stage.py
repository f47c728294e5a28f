"""The measure stage: the pairs of a shard become rows of `metrics`."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from features.core.rows import OnRows, ignore_rows
from features.core.types import RejectCode
from features.graphs.batch import GraphBatch
from features.metrics.items import TABLES, items_of
from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison
from features.metrics.own import OwnMetric
from features.metrics.own_measurement import measure_own
from features.metrics.registry import METRIC_COLUMNS
from features.stage_output import Reject, StageOutput, rejects_frame


def measure_shard(
    pairs: pl.DataFrame,
    amr: pl.DataFrame,
    label_vectors: pl.DataFrame,
    own: Sequence[OwnMetric] = (),
    tables: Mapping[str, pl.DataFrame] | None = None,
    on_rows: OnRows = ignore_rows,
) -> StageOutput:
    """Measure the pairs of a shard with all metrics.

    Args:
        pairs: rows of `PAIRS`.
        amr: rows of `AMR` with the graphs of their sentences; others are ignored.
        label_vectors: rows of `LABEL_VECTORS`.
        own: the project's own metrics; each becomes one more column.
        tables: rows of the other tables that these read, by name.
        on_rows: called with how many of the pairs are done.

    Returns:
        Rows of `metrics` in the order of the pairs; a reject `MISSING_PARSE` for each pair that lacks what a metric
        reads, `METRIC_FAILED` for one for which one of the project's own metrics has no value.

    Raises:
        InputError: when one of the project's own metrics is declared symmetric but is not.
    """
    needed = pl.concat([pairs["sentence_a"], pairs["sentence_b"]]).unique()
    graphs = amr.unique("sentence_id", keep="first", maintain_order=True).filter(
        pl.col("sentence_id").is_in(needed.implode())
    )
    position = graphs.select("sentence_id", pl.int_range(pl.len(), dtype=pl.Int64).alias("graph"))
    placed = (
        pairs.select("pair_id", "sentence_a", "sentence_b")
        .join(
            position.rename({"graph": "first"}),
            left_on="sentence_a",
            right_on="sentence_id",
            how="left",
            maintain_order="left",
        )
        .join(
            position.rename({"graph": "second"}),
            left_on="sentence_b",
            right_on="sentence_id",
            how="left",
            maintain_order="left",
        )
    )
    complete = placed.filter(pl.col("first").is_not_null() & pl.col("second").is_not_null())
    comparison = Comparison(
        GraphBatch.from_rows(graphs),
        complete["first"].to_numpy().astype(np.int64),
        complete["second"].to_numpy().astype(np.int64),
        LabelVectors.from_rows(label_vectors),
    )
    # Each of the project's own metrics processes all pairs once more.
    n, passes = complete.height, 1 + len(own)
    rows = (
        compare(comparison, on_rows=lambda done, _: on_rows(done, passes * n))
        .select(complete["pair_id"], pl.all())
        .cast(pl.Schema(METRIC_COLUMNS))
    )
    rejects = _missing(placed)
    if own:
        read = {TABLES["graphs"]: graphs, **(tables or {})}
        items = {reads: items_of(reads, read[TABLES[reads]]) for reads in {metric.reads for metric in own}}
        columns, failures = measure_own(
            own,
            items,
            complete.select("sentence_a", "sentence_b").rows(),
            on_rows=lambda done, _: on_rows(n + done, passes * n),
        )
        # A row has every metric or is rejected: of several failures of a pair, the first is the reason.
        failed = {failure.pair: failure for failure in reversed(failures)}
        rejects += [
            Reject(complete["pair_id"][pair], failed[pair].code, failed[pair].message) for pair in sorted(failed)
        ]
        kept = [position for position in range(complete.height) if position not in failed]
        rows = pl.concat([rows, columns], how="horizontal")[kept]
    return StageOutput(rows, rejects_frame(rejects))


def _missing(placed: pl.DataFrame) -> list[Reject]:
    """Return a reject for each pair that lacks a graph."""
    rejects = []
    for pair_id, sentence_a, sentence_b, first, second in placed.iter_rows():
        lacking = [name for name, graph in ((sentence_a, first), (sentence_b, second)) if graph is None]
        if lacking:
            message = f"no AMR graph for sentence {' and '.join(lacking)}; see the rejects of the parse stage"
            rejects.append(Reject(pair_id, RejectCode.MISSING_PARSE, message))
    return rejects
