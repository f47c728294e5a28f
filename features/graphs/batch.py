"""A batch of graphs as integer arrays, the input of the metrics.

Graph g owns the slice `offsets[g]:offsets[g + 1]` of each array (CSR). Strings are stored once, in three vocabularies,
so that work on strings is done once per distinct string, not per graph.

    concepts   [0, 1, 2 | 3, 1]      node_offsets  [0, 3, 5]     concept_names  [want-01, boy, sleep-01, see-01]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


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
    column: Any = rows[name].rechunk().to_arrow()  # a LargeListArray, which the stubs do not say
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), column.flatten()


def _numbers(rows: pl.DataFrame, name: str) -> Ids:
    return np.ascontiguousarray(_list_column(rows, name)[1].to_numpy(zero_copy_only=False), dtype=np.int32)


def _encode(strings: Any) -> tuple[list[str], Ids]:
    encoded = strings.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.ascontiguousarray(encoded.indices.to_numpy(), dtype=np.int32)
