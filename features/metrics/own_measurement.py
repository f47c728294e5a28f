"""Pairs measured by a project's own metrics, one by one; a failure affects only its own pair."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from features.core.errors import RowError
from features.core.faults import MetricSettings, MetricWrong
from features.core.rows import OnRows, ignore_rows
from features.core.types import RejectCode
from features.metrics.items import Reads
from features.metrics.own import OwnMetric

_CHECKED = 16  # pairs of a shard whose value is compared with that in the other order
_TOLERANCE = 1e-6

Items = Mapping[Reads, Mapping[str, Any]]
"""Kind of item → sentence id → item."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A pair for which a metric has no value."""

    pair: int  # its position
    metric: OwnMetric  # the metric
    code: RejectCode  # why
    message: str  # for a human, with the metric and its file


def check_reads(metrics: Sequence[OwnMetric], available: Collection[str], where: str) -> None:
    """Refuse a metric that reads items that are not available.

    Args:
        metrics: the metrics.
        available: the kinds of items that can be read.
        where: where they are read from, for the message.

    Raises:
        SettingsError: with the first such metric.
    """
    for metric in metrics:
        if metric.reads not in available:
            raise MetricSettings(
                f"metric {metric.name!r} of {metric.file!r} reads {metric.reads!r}, which {where} does not have; it "
                f"has {', '.join(available)}"
            )


def measure_own(
    metrics: Sequence[OwnMetric], items: Items, pairs: Sequence[tuple[str, str]], on_rows: OnRows = ignore_rows
) -> tuple[pl.DataFrame, list[Failure]]:
    """Measure pairs of sentences.

    Args:
        metrics: the metrics.
        items: the items that they read.
        pairs: ids of both sentences of each pair.
        on_rows: called with how many values are done; there is one per pair and metric.

    Returns:
        One row per pair with a float64 column for each metric, null where it failed; and the failures, by metric and
        pair.

    Raises:
        InputError: when a metric is declared symmetric but is not.
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
    left, right = _item(metric, items, first), _item(metric, items, second)
    score = metric.score(left, right)
    if check and metric.symmetric and abs((back := metric.score(right, left)) - score) > _TOLERANCE:
        raise MetricWrong(
            f"metric {metric.name!r} of {metric.file!r} is {score:g} for {_short(left)} and {_short(right)}, but "
            f"{back:g} in the other order; make it symmetric, or set symmetric=False"
        )
    return score


def _item(metric: OwnMetric, items: Mapping[str, Any], sentence: str) -> Any:
    try:
        return items[sentence]
    except KeyError:
        raise RowError(
            RejectCode.MISSING_PARSE,
            f"metric {metric.name!r} reads {metric.reads}, and sentence {sentence} has none; see the rejects",
        ) from None


def _short(item: Any) -> str:
    text = repr(item)
    return f"{text[:80]}…" if len(text) > 80 else text
