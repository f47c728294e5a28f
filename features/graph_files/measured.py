"""Two files of AMR graphs measured pair by pair: the first graph of one with the first of the other, and so on.

Without a project or a store: `facetflow measure A.amr B.amr` for notebooks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.rows import OnRows, ignore_rows
from features.core.types import RejectCode
from features.graph_files.paired import BlockPair, pair_files
from features.graphs.table import encode_decoded
from features.metrics.items import items_of
from features.metrics.own import OwnMetric
from features.metrics.own_measurement import Items, check_reads, measure_own
from features.metrics.registry import METRIC_COLUMNS
from features.metrics.stage import measure_shard
from features.parsers.label_vectors import WordVectors
from features.parsers.settings import LabelVectorSettings
from features.schemas import PAIRS

_AT_ONCE = 256
"""Pairs decoded and measured at once, so that memory does not grow with the number of graphs. More are not faster
(1,500 pairs of STS: 1.1 s of CPU time with 128, 512 and 2,048), and progress would be reported less often."""


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
    """Measure two files of graphs in PENMAN with all metrics.

    Args:
        first: a file of graphs (`.gz` too; `-` is standard input).
        second: another one, which matches it line by line.
        vectors: where the vectors of labels come from.
        own: own metrics, which read graphs or sentences (`# ::snt`).
        by_position: pair by position, whatever the ids.
        on_rows: called with how many pairs are done, and how many there are.

    Returns:
        The scores, and what could not be measured.

    Raises:
        InputError: a file cannot be read or has no graph, or the files do not match line by line.
        ModelError: the model of the label vectors is not on this machine.
        SettingsError: an own metric reads something that such files do not have.
    """
    from features.parsers.label_vectors import load

    check_reads(own, ("graphs", "sentences"), "a file of graphs")
    files = pair_files(first, second, by_position=by_position)
    on_rows(0, len(files))
    words = _Remembered(load(vectors or LabelVectorSettings()))
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


class _Remembered:
    """Vectors of words, each looked up once: parts of a file share most of their words."""

    def __init__(self, source: WordVectors) -> None:
        self._source = source
        self._seen: set[str] = set()
        self._known: dict[str, NDArray[np.float32]] = {}
        self._nothing: NDArray[np.float32] = np.empty((0, 1), np.float32)

    def look_up(self, words: Sequence[str], on_rows: OnRows = ignore_rows) -> tuple[list[str], NDArray[np.float32]]:
        """Return the words that have a vector, and their vectors, (n, d) float32 of unit length."""
        new = [word for word in words if word not in self._seen]
        if new:
            known, matrix = self._source.look_up(new, on_rows)
            self._seen.update(new)
            self._known.update(zip(known, matrix, strict=True))
            self._nothing = matrix[:0]
        found = [word for word in words if word in self._known]
        return found, np.stack([self._known[word] for word in found]) if found else self._nothing


_Failures = dict[int, list[str]]  # number of a pair → why an own metric has no value for it


def _measure(
    pairs: Sequence[BlockPair], words: WordVectors, own: Sequence[OwnMetric]
) -> tuple[pl.DataFrame, _Failures]:
    """Return the rows of some pairs, and the failures of own metrics."""
    from features.stages.label_vectors import embed_labels

    amr = encode_decoded(
        (
            (f"{side}{pair.number}", block.text, graph)
            for pair in pairs
            if pair.graphs is not None
            for side, block, graph in zip("ab", (pair.first, pair.second), pair.graphs, strict=True)
        ),
        parser="file",
    ).rows
    complete = [pair for pair in pairs if pair.graphs is not None]
    if complete:
        measured = measure_shard(_rows_of_pairs(complete), amr, embed_labels(amr, words).rows).rows
    else:
        measured = pl.DataFrame(schema=METRIC_COLUMNS)
    names = pl.DataFrame(
        {
            "pair_id": [str(pair.number) for pair in pairs],
            "pair": [pair.number for pair in pairs],
            "id_a": [pair.ids[0] for pair in pairs],
            "id_b": [pair.ids[1] for pair in pairs],
        },
        schema_overrides={"id_a": pl.String, "id_b": pl.String},
    )
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


def _rows_of_pairs(pairs: Sequence[BlockPair]) -> pl.DataFrame:
    columns: dict[str, Callable[[BlockPair], str]] = {
        "pair_id": lambda pair: str(pair.number),
        "sentence_a": lambda pair: f"a{pair.number}",
        "sentence_b": lambda pair: f"b{pair.number}",
    }
    found = {name: [of(pair) for pair in pairs] for name, of in columns.items()}
    empty = [None] * len(pairs)
    return pl.DataFrame({name: found.get(name, empty) for name in PAIRS}, schema=PAIRS)
