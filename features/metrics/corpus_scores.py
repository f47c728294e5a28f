"""Scores of a whole corpus: precision, recall and F1 of the summed statistics, with bootstrap intervals.

    pair 0: matched 5, gold 6, parsed 6 ┐                      precision  matched / parsed   7 / 10
    pair 1: matched 2, gold 6, parsed 4 ┴ sum: 7, 12, 10 ──>   recall     matched / gold     7 / 12
                                                               F1         2 · matched / (gold + parsed)

The bootstrap (Efron & Tibshirani 1993) draws as many pairs as there are, with replacement, and sums again: statistics
are computed only once, whatever the number of draws, and all metrics see the same draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from features.core.faults import TooFewTexts, UnknownName
from features.metrics.arrays import Numbers, Statistics
from features.metrics.bootstrap import FEWEST, Bootstrap
from features.metrics.metric import Metric, f1
from features.metrics.own import OwnMetric
from features.metrics.registry import ALGORITHM_VERSION, METRICS


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score in [0, 1] with its interval; both ends are None if none was requested, or below `FEWEST` pairs."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """One metric over a corpus."""

    metric: str  # its name
    pairs: int  # number of pairs
    precision: Estimate  # precision of the summed statistics
    recall: Estimate  # recall of the summed statistics
    f1: Estimate  # F1 of the summed statistics
    macro_f1: Estimate  # mean F1 of the pairs
    proven: float | None  # share of pairs whose alignment is proven optimal; None for a metric without alignment
    signature: str  # everything that the numbers depend on


AnyMetric = Metric | OwnMetric


def choose_metrics(names: Sequence[str], own: Sequence[OwnMetric] = ()) -> dict[str, AnyMetric]:
    """Return metrics by name, or all that have precision and recall if no names are given: they count what matches."""
    every: dict[str, AnyMetric] = {**METRICS, **{metric.name: metric for metric in own if metric.reads == "graphs"}}
    metrics = {name: metric for name, metric in every.items() if metric.number is f1}
    if own and not any(metric.name in metrics for metric in own):
        raise UnknownName(
            f"no metric of {own[0].file!r} has precision and recall: give one that reads graphs, returns counts "
            "and has number=f1"
        )
    for name in names:
        if name not in metrics:
            raise UnknownName(f"metric {name!r} has no precision and recall; choose from {', '.join(metrics)}")
    return {name: metrics[name] for name in names} or metrics


def score_corpus(
    metrics: Mapping[str, AnyMetric],
    statistics: Mapping[str, Statistics],
    bootstrap: Bootstrap,
    context: Mapping[str, str] | None = None,
) -> list[CorpusScore]:
    """Score a corpus from the statistics of its pairs: by name (matched, gold, parsed, ...), (n_pairs, ≥ 3).

    The context is what else the numbers depend on, for the signatures. Without a pair there is an InputError.
    """
    counts = {name: values[:, :3] for name, values in statistics.items()}
    n_pairs = len(next(iter(counts.values())))
    if n_pairs == 0:
        raise TooFewTexts("there are no pairs of graphs to score; give files with at least one graph each")
    rows = np.column_stack([np.column_stack([values, f1(values)]) for values in counts.values()])
    bootstrap = bootstrap if n_pairs >= FEWEST else replace(bootstrap, resamples=0)
    draws = np.array([times @ rows for times in bootstrap.draws(n_pairs)]).reshape(-1, rows.shape[1])
    scores = []
    for position, name in enumerate(counts):
        columns = slice(4 * position, 4 * position + 4)
        totals, drawn = rows[:, columns].sum(axis=0, keepdims=True), draws[:, columns]
        proof = getattr(metrics[name], "proof", None)
        scores.append(
            CorpusScore(
                metric=name,
                pairs=n_pairs,
                precision=_estimate(share(totals, 2), share(drawn, 2), bootstrap),
                recall=_estimate(share(totals, 1), share(drawn, 1), bootstrap),
                f1=_estimate(f1(totals), f1(drawn), bootstrap),
                macro_f1=_estimate(totals[:, 3] / n_pairs, drawn[:, 3] / n_pairs, bootstrap),
                proven=None if proof is None else float(proof(statistics[name]).mean()),
                signature=_signature(metrics[name], n_pairs, bootstrap, context or {}),
            )
        )
    return scores


def share(counts: Statistics, of: int) -> Numbers:
    """Return matched / size of one side, (n,) in [0, 1]: 1 if both sides are empty, 0 if only this one is.

    The counts are (matched, gold, parsed, ...), (n, ≥ 3); the side is 1 for recall, 2 for precision.
    """
    size = counts[:, of]
    empty = np.where(counts[:, 1:3].any(axis=1), 0.0, 1.0)
    return np.where(size > 0, counts[:, 0] / np.maximum(size, 1), empty)


def as_table(scores: Sequence[CorpusScore]) -> pl.DataFrame:
    """Return scores as a table: one row per metric; `f1`, `f1_low` and `f1_high`, and so on."""
    rows = []
    for score in scores:
        row: dict[str, object] = {"metric": score.metric, "pairs": score.pairs}
        for name in ("precision", "recall", "f1", "macro_f1"):
            estimate: Estimate = getattr(score, name)
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        rows.append(row | {"proven": score.proven, "signature": score.signature})
    return pl.DataFrame(rows, infer_schema_length=None).cast({pl.Null: pl.Float64})


def _estimate(value: Numbers, drawn: Numbers, bootstrap: Bootstrap) -> Estimate:
    return Estimate(float(value[0]), *(bootstrap.ends(drawn) if len(drawn) else ()))


def _signature(metric: AnyMetric, pairs: int, bootstrap: Bootstrap, context: Mapping[str, str]) -> str:
    fields = {"pairs": str(pairs), **context}
    if bootstrap.resamples:
        fields |= {"bootstrap": str(bootstrap.resamples), "seed": str(bootstrap.seed)}
    return "|".join([metric.signature(ALGORITHM_VERSION), *(f"{key}:{value}" for key, value in fields.items())])
