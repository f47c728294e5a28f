"""Two files of AMR graphs measured pair by pair: the first graph of one with the first of the other, and so on.

Without a project or a store: `facetflow measure A.amr B.amr` for notebooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from features.core.faults import WrongValue
from features.core.types import OnRows, RejectCode, ignore_rows
from features.graph_files.paired import BlockPair, pair_files
from features.graphs.batch import GraphBatch
from features.metrics.label_vectors import NO_VECTORS, LabelVectors, Vectors, words_of
from features.metrics.measurement import SentenceItems, compare, measure_own
from features.metrics.metric import Comparison
from features.metrics.own import OwnMetric
from features.metrics.registry import METRIC_COLUMNS
from features.parsers.label_vectors import WordVectors, load
from features.parsers.settings import LabelVectorSettings

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

    Raises:
        InputError: as `pair_files`; or an own metric is not symmetric, though it says so.
        ModelError: the encoder of word vectors is not on this machine.
        SettingsError: an own metric reads something else.
    """
    for metric in own:
        if metric.reads not in _READ:
            raise WrongValue(
                f"metric {metric.name!r} of {metric.file!r} reads {metric.reads!r}, which a file of graphs does not "
                f"have; it has {', '.join(_READ)}"
            )
    pairs = pair_files(first, second, by_position=by_position)
    count = len(pairs)
    on_rows(0, count)
    words = _Words(load(vectors or LabelVectorSettings()))
    scores: list[pl.DataFrame] = []
    wrong: list[str] = []
    while pairs:  # what is measured goes, with its graphs
        part, pairs = pairs[:_AT_ONCE], pairs[_AT_ONCE:]
        measured, failed = _measure(part, words, own)
        scores.append(measured)
        for pair in part:
            wrong += [f"{pair.name}: {reason}" for reason in (*pair.faults, *failed.get(pair.number, ()))]
        on_rows(part[-1].number, count)
    table = pl.concat(scores)
    return MeasuredFiles(table, tuple(wrong), table["smatch"].null_count())


class _Words:
    """Vectors of words, each word looked up once: parts of a file share most of their words."""

    def __init__(self, source: WordVectors) -> None:
        self._source = source
        self._vectors: dict[str, Vectors | None] = {}  # None for a word without one

    def of_graphs(self, graphs: GraphBatch) -> LabelVectors:
        words = words_of([*graphs.concept_names, *graphs.value_names])
        if new := [word for word in words if word not in self._vectors]:
            self._vectors |= dict.fromkeys(new)
            self._vectors |= zip(*self._source.look_up(new), strict=True)
        known = {word: vector for word in words if (vector := self._vectors[word]) is not None}
        return LabelVectors([*known], np.array([*known.values()])) if known else NO_VECTORS


_Failures = dict[int, list[str]]  # number of a pair → why an own metric has no value for it


def _measure(pairs: Sequence[BlockPair], words: _Words, own: Sequence[OwnMetric]) -> tuple[pl.DataFrame, _Failures]:
    """Return the rows of some pairs, and the failures of own metrics."""
    decoded = {pair.number: pair.graphs for pair in pairs if pair.graphs is not None}
    scores = pl.DataFrame(
        [(pair.number, *pair.ids) for pair in pairs],
        schema={"pair": pl.Int64, "id_a": pl.String, "id_b": pl.String},
        orient="row",
    )
    measured = pl.DataFrame(schema=METRIC_COLUMNS).drop("pair_id")
    if decoded:  # else kernels would be compiled before the user is told that no graph can be read
        graphs = GraphBatch.of(chain.from_iterable(decoded.values()))
        first = np.arange(0, len(graphs), 2)
        measured = compare(Comparison(graphs, first, first + 1, words.of_graphs(graphs)))
    measured = measured.with_columns(pair=pl.Series(list(decoded), dtype=pl.Int64))
    scores = scores.join(measured, on="pair", how="left", maintain_order="left")
    blocks = {f"a{pair.number}": pair.first for pair in pairs} | {f"b{pair.number}": pair.second for pair in pairs}
    items: SentenceItems = {
        "graphs": {name: block.graph for name, block in blocks.items() if block.graph is not None},
        "sentences": {name: block.metadata["snt"] for name, block in blocks.items() if "snt" in block.metadata},
    }
    columns, failures = measure_own(own, items, [(f"a{pair.number}", f"b{pair.number}") for pair in pairs])
    failed: _Failures = {}
    for failure in failures:
        why = failure.message
        if failure.code is RejectCode.MISSING_PARSE:
            if failure.metric.reads == "graphs":  # what is wrong with the graph itself is told already
                continue
            why = f"metric {failure.metric.name!r} reads sentences, and not both blocks have a line '# ::snt'; add it"
        failed.setdefault(pairs[failure.pair].number, []).append(why)
    return pl.concat([scores, columns], how="horizontal"), failed
