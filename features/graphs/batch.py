"""Graphs in columns: rows of the table `amr`, and a batch of them as integer arrays, the input of the metrics.

In a batch, graph g owns the slice `offsets[g]:offsets[g + 1]` of each array (CSR). Strings are stored once, in three
vocabularies, so that work on strings is done once per distinct string, not per graph.

    concepts   [0, 1, 2 | 3, 1]      node_offsets  [0, 3, 5]     concept_names  [want-01, boy, sleep-01, see-01]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from features.core.errors import RowError
from features.graphs.graph import AmrGraph, decode
from features.schemas import AMR, Reject, StageOutput, rejects_frame

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]

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


@dataclass(frozen=True)
class GraphBatch:
    """AMR graphs, roles as written."""

    rows: pl.DataFrame  # the graphs as rows of the table `amr`
    concept_names: list[str]  # distinct concepts
    role_names: list[str]  # distinct roles, of attributes and relations together
    value_names: list[str]  # distinct constants, quotes included
    node_offsets: Offsets  # (n_graphs + 1,)
    concepts: Ids  # concept of each node, (n_nodes,); the first of a graph is the root's
    attribute_offsets: Offsets  # (n_graphs + 1,)
    attribute_nodes: Ids  # node within its graph, (n_attributes,)
    attribute_roles: Ids  # (n_attributes,)
    attribute_values: Ids  # (n_attributes,)
    relation_offsets: Offsets  # (n_graphs + 1,)
    relation_sources: Ids  # node within its graph, (n_relations,)
    relation_roles: Ids  # (n_relations,)
    relation_targets: Ids  # node within its graph, (n_relations,)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @classmethod
    def of(cls, graphs: Iterable[AmrGraph]) -> "GraphBatch":
        """Make a batch of graphs, in their order."""
        return cls.from_rows(graphs_frame(graphs))

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> "GraphBatch":
        """Make a batch from rows of the table `amr` (`features.schemas.AMR`), in their order."""
        node_offsets, concepts = _list_column(rows, "concepts")
        attribute_offsets, attribute_roles = _list_column(rows, "attribute_roles")
        relation_offsets, relation_roles = _list_column(rows, "relation_roles")
        concept_names, concept_ids = _encode(concepts)
        role_names, role_ids = _encode(pa.concat_arrays([attribute_roles, relation_roles]))
        value_names, value_ids = _encode(_list_column(rows, "attribute_values")[1])
        return cls(
            rows=rows,
            concept_names=concept_names,
            role_names=role_names,
            value_names=value_names,
            node_offsets=node_offsets,
            concepts=concept_ids,
            attribute_offsets=attribute_offsets,
            attribute_nodes=_numbers(rows, "attribute_nodes"),
            attribute_roles=role_ids[: len(attribute_roles)],
            attribute_values=value_ids,
            relation_offsets=relation_offsets,
            relation_sources=_numbers(rows, "relation_sources"),
            relation_roles=role_ids[len(attribute_roles) :],
            relation_targets=_numbers(rows, "relation_targets"),
        )

    def select(self, graphs: npt.NDArray[np.int64]) -> "GraphBatch":
        """Return some of the graphs, in the order given, with only the strings that they need."""
        return self.from_rows(self.rows[graphs])


def _list_column(rows: pl.DataFrame, name: str) -> tuple[Offsets, Any]:
    column: Any = rows[name].to_arrow()  # a LargeListArray, which the stubs do not say
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), column.flatten()


def _numbers(rows: pl.DataFrame, name: str) -> Ids:
    return np.ascontiguousarray(_list_column(rows, name)[1].to_numpy(zero_copy_only=False), dtype=np.int32)


def _encode(strings: Any) -> tuple[list[str], Ids]:
    encoded = strings.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.ascontiguousarray(encoded.indices.to_numpy(), dtype=np.int32)
