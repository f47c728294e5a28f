"""Rows of the table `amr`: one graph of one sentence, decoded once."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from features.errors import RowError
from features.graphs.graph import AmrGraph, decode
from features.stages import Reject, StageOutput, rejects_frame
from features.store.schemas import AMR
from features.types import RejectCode

MAX_NODES = 512
"""A sentence has at most `ingest.max_words` words, and a graph about a node for two of them. More nodes are a fault of
the parser (repetition), and an alignment of two such graphs does not end in reasonable time."""


def encode(sentence_ids: Sequence[str], penmans: Sequence[str], parser: str) -> StageOutput:
    """Decode graphs into rows of the table `amr`.

    Args:
        sentence_ids: id of each sentence.
        penmans: its graph in PENMAN, in the same order.
        parser: name of the parser that made the graphs.

    Returns:
        Rows with exactly the columns of `AMR`; a reject for each graph that cannot be decoded or has more than
        `MAX_NODES` nodes.
    """
    kept: list[tuple[str, str]] = []
    graphs: list[AmrGraph] = []
    rejects: list[Reject] = []
    for sentence_id, penman in zip(sentence_ids, penmans, strict=True):
        try:
            graph = decode(penman)
        except RowError as error:
            rejects.append(Reject(sentence_id, error.code, error.message))
            continue
        if len(graph.concepts) > MAX_NODES:
            message = f"the graph has {len(graph.concepts)} nodes, more than {MAX_NODES}; check the parser's output"
            rejects.append(Reject(sentence_id, RejectCode.TOO_MANY_NODES, message))
            continue
        kept.append((sentence_id, penman))
        graphs.append(graph)
    rows = graphs_frame(graphs).select(
        pl.Series("sentence_id", [sentence_id for sentence_id, _ in kept], pl.String),
        pl.Series("penman", [penman for _, penman in kept], pl.String),
        pl.lit(parser).alias("parser"),
        pl.all(),
    )
    return StageOutput(rows.cast(pl.Schema(AMR)), rejects_frame(rejects))


def graphs_frame(graphs: Iterable[AmrGraph]) -> pl.DataFrame:
    """Return graphs as the list columns of the table `amr`, one row a graph."""
    graphs = list(graphs)
    columns: dict[str, list[list[Any]]] = {
        "concepts": [graph.concepts for graph in graphs],
        "attribute_nodes": [[node for node, _, _ in graph.attributes] for graph in graphs],
        "attribute_roles": [[role for _, role, _ in graph.attributes] for graph in graphs],
        "attribute_values": [[value for _, _, value in graph.attributes] for graph in graphs],
        "relation_sources": [[source for source, _, _ in graph.relations] for graph in graphs],
        "relation_roles": [[role for _, role, _ in graph.relations] for graph in graphs],
        "relation_targets": [[target for _, _, target in graph.relations] for graph in graphs],
    }
    return pl.DataFrame({name: _list_column(lists, AMR[name]) for name, lists in columns.items()})


def _list_column(lists: list[list[Any]], dtype: Any) -> pl.Series:
    """Return lists as a column; by way of Arrow, because polars would make a series of each list."""
    items = pa.array(list(chain.from_iterable(lists)), pa.string() if dtype.inner == pl.String else pa.int32())
    offsets = pa.array(np.concatenate([[0], np.cumsum([len(items) for items in lists])]), pa.int64())
    return pl.Series(pa.LargeListArray.from_arrays(offsets, items), dtype=dtype)
