"""Two files of AMR graphs measured pair by pair: the first graph of one with the first of the other, and so on.

Without a project or a store: `facetflow measure A.amr B.amr` for notebooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from features.core.faults import MetricSettings
from features.core.types import OnRows, RejectCode, ignore_rows
from features.graph_files.paired import BlockPair, pair_files
from features.graphs.table import graphs_frame
from features.metrics.items import items_of
from features.metrics.label_vectors import labels_of, words_of
from features.metrics.measurement import Items, measure_own, measure_shard
from features.metrics.own import OwnMetric
from features.metrics.registry import METRIC_COLUMNS
from features.parsers.label_vectors import WordVectors
from features.parsers.settings import LabelVectorSettings
from features.schemas import LABEL_VECTORS
from features.stages.stage import vector_column

_AT_ONCE = 256
"""Pairs decoded and measured at once, so that memory does not grow with the number of graphs. More are not faster
(1,500 pairs of STS: 1.1 s of CPU time with 128, 512 and 2,048), and progress would be reported less often."""
_READ = ("graphs", "sentences")  # what an own metric may read from such files


@dataclass(frozen=True, slots=True)
class MeasuredFiles:
    """Measured pairs of graphs from two files."""

    # one row per pair: `pair` (from 1), `id_a`, `id_b` (their `::id`, null without), the metrics, the flags
    # `*_optimal`, the own metrics; null if one of the graphs is wrong
    scores: pl.DataFrame
    # why a pair has no scores (file, line and reason), or no value of an own metric, one sentence each
    wrong: tuple[str, ...]
    unmeasured: int  # number of pairs without scores


def measure_files(
    first: Path,
    second: Path,
    vectors: LabelVectorSettings | None = None,
    own: Sequence[OwnMetric] = (),
    *,
    by_position: bool = False,
    on_rows: OnRows = ignore_rows,
) -> MeasuredFiles:
    """Measure two files of graphs, paired as by `pair_files`, with all metrics; report how many pairs are done.

    Own metrics read graphs or sentences (`# ::snt`).
    """
    from features.parsers.label_vectors import load

    for metric in own:
        if metric.reads not in _READ:
            raise MetricSettings(
                f"metric {metric.name!r} of {metric.file!r} reads {metric.reads!r}, which a file of graphs does not "
                f"have; it has {', '.join(_READ)}"
            )
    files = pair_files(first, second, by_position=by_position)
    on_rows(0, len(files))
    words = _Words(load(vectors or LabelVectorSettings()))
    scores: list[pl.DataFrame] = []
    wrong: list[str] = []
    for part in files.parts(_AT_ONCE):
        measured, failed = _measure(part, words, own)
        scores.append(measured)
        for pair in part:
            wrong += [f"{pair.name}: {reason}" for reason in (*pair.faults, *failed.get(pair.number, ()))]
        on_rows(part[-1].number, len(files))
    table = pl.concat(scores)
    return MeasuredFiles(table, tuple(wrong), table["smatch"].null_count())


class _Words:
    """Rows of `LABEL_VECTORS`, each word looked up once: parts of a file share most of their words."""

    def __init__(self, source: WordVectors) -> None:
        self._source = source
        self._seen: set[str] = set()
        self._rows = pl.DataFrame(schema=LABEL_VECTORS)

    def of_graphs(self, amr: pl.DataFrame) -> pl.DataFrame:
        words = words_of(labels_of(amr))
        if new := sorted(words - self._seen):
            self._seen.update(new)
            labels, matrix = self._source.look_up(new)
            rows = pl.DataFrame({"label": labels, "vector": vector_column(matrix)}, schema=LABEL_VECTORS)
            self._rows = pl.concat([self._rows, rows])
        return self._rows.filter(pl.col("label").is_in(pl.Series(sorted(words), dtype=pl.String).implode()))


_Failures = dict[int, list[str]]  # number of a pair → why an own metric has no value for it


def _measure(pairs: Sequence[BlockPair], words: _Words, own: Sequence[OwnMetric]) -> tuple[pl.DataFrame, _Failures]:
    """Return the rows of some pairs, and the failures of own metrics."""
    graphs = {
        f"{side}{pair.number}": graph
        for pair in pairs
        if pair.graphs is not None
        for side, graph in zip("ab", pair.graphs, strict=True)
    }
    amr = graphs_frame(graphs.values()).with_columns(sentence_id=pl.Series(list(graphs), dtype=pl.String))
    names = pl.DataFrame(
        [(pair.number, str(pair.number), f"a{pair.number}", f"b{pair.number}", *pair.ids) for pair in pairs],
        schema={"pair": pl.Int64, **dict.fromkeys(("pair_id", "sentence_a", "sentence_b", "id_a", "id_b"), pl.String)},
        orient="row",
    )
    complete = names.filter(pl.Series([pair.graphs is not None for pair in pairs]))
    if complete.is_empty():
        measured = pl.DataFrame(schema=METRIC_COLUMNS)
    else:
        measured = measure_shard(complete, amr, words.of_graphs(amr)).rows
    scores = names.join(measured, on="pair_id", how="left", maintain_order="left")
    scores = scores.select("pair", "id_a", "id_b", *list(METRIC_COLUMNS)[1:])
    if not own:
        return scores, {}
    further, failures = _measure_own(own, pairs, amr)
    return pl.concat([scores, further], how="horizontal"), failures


def _measure_own(
    metrics: Sequence[OwnMetric], pairs: Sequence[BlockPair], amr: pl.DataFrame
) -> tuple[pl.DataFrame, _Failures]:
    """Return the columns of own metrics, and why one has no value for a pair."""
    items: Items = {
        "graphs": items_of("graphs", amr),
        "sentences": {
            f"{side}{pair.number}": block.metadata["snt"]
            for pair in pairs
            for side, block in zip("ab", (pair.first, pair.second), strict=True)
            if "snt" in block.metadata
        },
    }
    columns, failures = measure_own(metrics, items, [(f"a{pair.number}", f"b{pair.number}") for pair in pairs])
    failed: _Failures = {}
    for failure in failures:
        # Do not repeat what is wrong with the graph itself.
        if (failure.metric.reads, failure.code) != ("graphs", RejectCode.MISSING_PARSE):
            failed.setdefault(pairs[failure.pair].number, []).append(failure.message)
    return columns, failed
