"""Rows of the table `amr`: one graph of one sentence, decoded once."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from features.core.errors import RowError
from features.graphs.graph import AmrGraph, decode
from features.schemas import AMR
from features.stage_output import Reject, StageOutput, rejects_frame

_ATTRIBUTE = ("nodes", "roles", "values")
_RELATION = ("sources", "roles", "targets")


def encode(sentence_ids: Sequence[str], penmans: Sequence[str], parser: str) -> StageOutput:
    """Decode the graphs of sentences, in PENMAN, into rows of the table `amr`, made by a parser of that name.

    A graph that cannot be decoded or is too large is a reject.
    """
    decoded: list[tuple[str, str, AmrGraph]] = []
    rejects: list[Reject] = []
    for sentence_id, penman in zip(sentence_ids, penmans, strict=True):
        try:
            decoded.append((sentence_id, penman, decode(penman)))
        except RowError as error:
            rejects.append(Reject(sentence_id, error.code, error.message))
    rows = graphs_frame(graph for _, _, graph in decoded).select(
        pl.Series("sentence_id", [sentence_id for sentence_id, _, _ in decoded], pl.String),
        pl.Series("penman", [penman for _, penman, _ in decoded], pl.String),
        pl.lit(parser).alias("parser"),
        pl.all(),
    )
    return StageOutput(rows.cast(pl.Schema(AMR)), rejects_frame(rejects))


def graphs_frame(graphs: Iterable[AmrGraph]) -> pl.DataFrame:
    """Return graphs as the list columns of the table `amr`, one row per graph."""
    graphs = list(graphs)
    columns = _list_columns([graph.concepts for graph in graphs], ["concepts"])
    columns |= _list_columns([graph.attributes for graph in graphs], [f"attribute_{end}" for end in _ATTRIBUTE])
    columns |= _list_columns([graph.relations for graph in graphs], [f"relation_{end}" for end in _RELATION])
    return pl.DataFrame(columns)


def _list_columns(lists: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[str, pl.Series]:
    """Return a list of items for each graph as columns: one for each part of an item, if it has parts.

    Built through Arrow, and for all graphs at once: polars would make a series from each list.
    """
    offsets = pa.array(np.concatenate([[0], np.cumsum([len(items) for items in lists])]), pa.int64())
    items = list(chain.from_iterable(lists))
    parts = [items] if len(names) == 1 else list(zip(*items, strict=True)) or [()] * len(names)
    columns = {}
    for name, values in zip(names, parts, strict=True):
        dtype: Any = AMR[name]
        flat = pa.array(values, pa.string() if dtype.inner == pl.String else pa.int32())
        columns[name] = pl.Series(pa.LargeListArray.from_arrays(offsets, flat), dtype=dtype)
    return columns
