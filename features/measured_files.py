"""Two files of AMR graphs measured pair by pair: the first graph of one with the first of the other, and so on.

No project, no store; what `facetflow measure A.amr B.amr` does, callable in a notebook.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from features.errors import InputError
from features.graphs.penman_files import PenmanBlock, read_blocks
from features.graphs.table import encode
from features.metrics.items import items_of
from features.metrics.own import OwnMetric
from features.metrics.own_measurement import Items, check_reads, measure_own
from features.metrics.stage import measure_shard
from features.parsers.settings import LabelVectorSettings
from features.stages import StageOutput
from features.store.schemas import METRICS, PAIRS
from features.types import RejectCode


@dataclass(frozen=True, slots=True)
class MeasuredFiles:
    """Pairs of graphs of two files.

    Args:
        scores: one row a pair: `pair` (from 1), `id_a`, `id_b` (their `::id`, null without), the fifteen metrics, the
            flags `*_optimal`, the further metrics; null where one of the graphs is wrong.
        wrong: what is wrong with a graph (file, line and reason) or with a pair of a further metric, a sentence each.
    """

    scores: pl.DataFrame
    wrong: tuple[str, ...]


def measure_files(
    first: Path, second: Path, vectors: LabelVectorSettings | None = None, own: Sequence[OwnMetric] = ()
) -> MeasuredFiles:
    """Measure two files of graphs in PENMAN with all metrics.

    Args:
        first: a file of graphs (`.gz` too).
        second: another, with as many.
        vectors: where the vectors of labels come from.
        own: further metrics, that read graphs or sentences (`# ::snt`).

    Returns:
        The scores, and what could not be measured.

    Raises:
        InputError: a file cannot be read or has no graph, or the files have different numbers of graphs.
        ModelError: the model of the label vectors is not on this machine.
        SettingsError: an own metric reads what is not in such files.
    """
    from features.parsers.label_vectors import load
    from features.parsers.stages import embed_labels

    sides = {"a": list(read_blocks(first)), "b": list(read_blocks(second))}
    counts = {side: len(blocks) for side, blocks in sides.items()}
    if counts["a"] != counts["b"] or not counts["a"]:
        raise InputError(
            f"{str(first)!r} has {counts['a']} graphs and {str(second)!r} has {counts['b']}: graphs are paired by "
            "position, so give two files with the same number of graphs, at least one."
        )
    encoded = {side: _encode(side, blocks) for side, blocks in sides.items()}
    amr = pl.concat([output.rows for output in encoded.values()])
    words = embed_labels(amr, load(vectors or LabelVectorSettings())).rows
    measured = measure_shard(_pairs(counts["a"]), amr, words).rows
    names = pl.DataFrame(
        {
            "pair_id": [str(number) for number in range(counts["a"])],
            "pair": range(1, counts["a"] + 1),
            **{f"id_{side}": [block.metadata.get("id") for block in blocks] for side, blocks in sides.items()},
        },
        schema_overrides={"id_a": pl.String, "id_b": pl.String},
    )
    scores = names.join(measured, on="pair_id", how="left", maintain_order="left").drop("pair_id")
    wrong = [sentence for side, blocks in sides.items() for sentence in _wrong(blocks, encoded[side])]
    scores = scores.select("pair", "id_a", "id_b", *list(METRICS)[1:])
    further, failed = _measure_own(own, sides, amr)
    return MeasuredFiles(pl.concat([scores, further], how="horizontal") if own else scores, (*wrong, *failed))


def _measure_own(
    metrics: Sequence[OwnMetric], sides: Mapping[str, Sequence[PenmanBlock]], amr: pl.DataFrame
) -> tuple[pl.DataFrame, list[str]]:
    """Return the columns of further metrics, and a sentence for each pair that one has no value for."""
    check_reads(metrics, ("graphs", "sentences"), "a file of graphs")
    items: Items = {
        "graphs": items_of("graphs", amr) if metrics else {},
        "sentences": {
            f"{side}{position}": block.metadata["snt"]
            for side, blocks in sides.items()
            for position, block in enumerate(blocks)
            if "snt" in block.metadata
        },
    }
    pairs = [(f"a{position}", f"b{position}") for position in range(len(sides["a"]))]
    columns, failures = measure_own(metrics, items, pairs)
    told_before = ("graphs", RejectCode.MISSING_PARSE)  # what is wrong with the graph itself
    told = [failure for failure in failures if (failure.metric.reads, failure.code) != told_before]
    return columns, [f"pair {failure.pair + 1}: {failure.message}" for failure in told]


def _encode(side: str, blocks: Sequence[PenmanBlock]) -> StageOutput:
    """Return the rows of a file's graphs; a graph's id is its side and position, for a file may repeat an `::id`."""
    right = [(f"{side}{position}", block.text) for position, block in enumerate(blocks) if block.error is None]
    return encode([identity for identity, _ in right], [text for _, text in right], parser="file")


def _pairs(number: int) -> pl.DataFrame:
    positions = range(number)
    columns = {
        "pair_id": [str(position) for position in positions],
        "sentence_a": [f"a{position}" for position in positions],
        "sentence_b": [f"b{position}" for position in positions],
    }
    return pl.DataFrame({name: columns.get(name) for name in PAIRS}, schema=PAIRS)


def _wrong(blocks: Sequence[PenmanBlock], encoded: StageOutput) -> list[str]:
    messages = [block.error.message for block in blocks if block.error is not None]
    for identity, _, message in encoded.rejects.iter_rows():
        block = blocks[int(identity[1:])]
        messages.append(f"{block.path}:{block.line}: {message}")
    return messages
