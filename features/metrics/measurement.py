"""All metrics of all pairs, in one pass; and a project's own metrics pair by pair: a failure affects only its pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from features.core.errors import RowError
from features.core.faults import MetricWrong
from features.core.types import OnRows, RejectCode, ignore_rows
from features.core.wording import clipped
from features.graphs.batch import GraphBatch
from features.graphs.graph import decode
from features.metrics.items import TABLE_OF, Reads, items_of
from features.metrics.label_vectors import LabelVectors
from features.metrics.metric import Comparison
from features.metrics.own import OwnMetric
from features.metrics.registry import METRIC_COLUMNS, METRICS
from features.schemas import Reject, StageOutput, rejects_frame

PAIRS_AT_ONCE = 4096  # larger batches of pairs are not faster
_CHECKED = 16  # pairs of a shard whose value by an own metric is compared with that in the other order
_TOLERANCE = 1e-6

SentenceItems = Mapping[Reads, Mapping[str, Any]]  # kind of item → sentence id → item


def warm_up() -> None:
    """Compile every kernel, or load it from the cache; `make` and the image call it at set-up."""
    graphs = GraphBatch.of(map(decode, ("(s / see-01 :ARG0 (b / boy :quant 2))", "(g / girl)")))
    pairs = np.arange(len(graphs))
    compare(Comparison(graphs, pairs, pairs[::-1].copy()))


def compare(pairs: Comparison, metrics: Sequence[str] | None = None, on_rows: OnRows = ignore_rows) -> pl.DataFrame:
    """Measure pairs of graphs by some metrics, or all.

    They are processed some thousand at a time, so that memory does not grow with them; each time progress is reported.

    Returns:
        One row a pair: a float64 column for each metric, and a boolean column `<name>_optimal` for each that searches
        for an alignment.
    """
    names = METRICS if metrics is None else metrics
    measured: list[pl.DataFrame] = []
    on_rows(0, len(pairs))
    for part in pairs.parts(PAIRS_AT_ONCE):
        columns: dict[str, npt.NDArray[Any]] = {}
        proofs: dict[str, npt.NDArray[Any]] = {}
        for name in names:
            metric = METRICS[name]
            statistics = metric.statistics(part)
            columns[name] = metric.number(statistics)
            if metric.proof is not None:
                proofs[f"{name}_optimal"] = metric.proof(statistics)
        measured.append(pl.DataFrame(columns | proofs))
        on_rows(sum(map(len, measured)), len(pairs))
    return pl.concat(measured)


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
        pairs: ids of pairs and of both sentences; other columns of `PAIRS` are not read.
        amr: rows of `AMR` with the graphs of their sentences; others are ignored.
        label_vectors: rows of `LABEL_VECTORS`.
        own: the project's own metrics; each becomes one more column.
        tables: rows of the other tables that these read, by name.
        on_rows: called with how many of the pairs are done.

    Returns:
        Rows of `metrics` in the order of the pairs; a reject `MISSING_PARSE` for each pair that lacks what a metric
        reads, `METRIC_FAILED` for one for which one of the project's own metrics has no value.
    """
    needed = pl.concat([pairs["sentence_a"], pairs["sentence_b"]]).unique()
    graphs = amr.unique("sentence_id", keep="first", maintain_order=True).filter(
        pl.col("sentence_id").is_in(needed.implode())
    )
    position_of = {identity: position for position, identity in enumerate(graphs["sentence_id"])}
    rejects: list[Reject] = []
    complete: list[tuple[str, str, str]] = []
    for pair_id, *both in pairs.select("pair_id", "sentence_a", "sentence_b").iter_rows():
        if lacking := [sentence for sentence in both if sentence not in position_of]:
            message = f"no AMR graph for sentence {' and '.join(lacking)}; see the rejects of the stage amr"
            rejects.append(Reject(pair_id, RejectCode.MISSING_PARSE, message))
        else:
            complete.append((pair_id, *both))
    first, second = (np.array([position_of[row[side]] for row in complete], np.int64) for side in (1, 2))
    comparison = Comparison(GraphBatch.from_rows(graphs), first, second, LabelVectors.from_rows(label_vectors))
    # Each of the project's own metrics processes all pairs once more.
    n, passes = len(complete), 1 + len(own)
    rows = (
        compare(comparison, on_rows=lambda done, _: on_rows(done, passes * n))
        .select(pl.Series("pair_id", [row[0] for row in complete], pl.String), pl.all())
        .cast(pl.Schema(METRIC_COLUMNS))
    )
    if own:
        read = {TABLE_OF["graphs"]: graphs, **(tables or {})}
        items = {reads: items_of(reads, read[TABLE_OF[reads]]) for reads in {metric.reads for metric in own}}
        columns, failures = measure_own(
            own,
            items,
            [row[1:] for row in complete],
            on_rows=lambda done, _: on_rows(n + done, passes * n),
        )
        # A row has every metric or is rejected: of several failures of a pair, the first is the reason.
        failed = {failure.pair: failure for failure in reversed(failures)}
        rejects += [Reject(complete[pair][0], failed[pair].code, failed[pair].message) for pair in sorted(failed)]
        rows = pl.concat([rows, columns], how="horizontal")[[pair for pair in range(n) if pair not in failed]]
    return StageOutput(rows, rejects_frame(rejects))


@dataclass(frozen=True, slots=True)
class Failure:
    """A pair for which a metric has no value."""

    pair: int  # its position
    metric: OwnMetric  # the metric
    code: RejectCode  # why
    message: str  # for a human, with the metric and its file


def measure_own(
    metrics: Sequence[OwnMetric], items: SentenceItems, pairs: Sequence[tuple[str, str]], on_rows: OnRows = ignore_rows
) -> tuple[pl.DataFrame, list[Failure]]:
    """Measure pairs of sentences, by their ids, and report how many values are done: one per pair and metric.

    Returns:
        A float64 column for each metric, null where it failed; and the failures, by metric and pair.
    """
    columns: dict[str, list[float | None]] = {}
    failures: list[Failure] = []
    for number, metric in enumerate(metrics):
        values = columns[metric.name] = []
        for position, pair in enumerate(pairs):
            on_rows(number * len(pairs) + position, len(metrics) * len(pairs))
            try:
                values.append(_score(metric, items[metric.reads], *pair, check=position < _CHECKED))
            except RowError as error:
                values.append(None)
                failures.append(Failure(position, metric, error.code, error.message))
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64)), failures


def _score(metric: OwnMetric, items: Mapping[str, Any], first: str, second: str, *, check: bool) -> float:
    try:
        left, right = items[first], items[second]
    except KeyError as error:
        raise RowError(
            RejectCode.MISSING_PARSE,
            f"metric {metric.name!r} reads {metric.reads}, and sentence {error.args[0]} has none; see the rejects",
        ) from None
    score = metric.score(left, right)
    if check and metric.symmetric and abs((back := metric.score(right, left)) - score) > _TOLERANCE:
        raise MetricWrong(
            f"metric {metric.name!r} of {metric.file!r} is {score:g} for {clipped(repr(left), 80)} and "
            f"{clipped(repr(right), 80)}, but {back:g} in the other order; make it symmetric, or set symmetric=False"
        )
    return score
