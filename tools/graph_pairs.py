"""Pairs of graphs for tests: batches of PENMAN, one after the other, and what the metrics say of them."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from features.graphs.batch import GraphBatch
from features.graphs.graph import decode
from features.graphs.table import graphs_frame
from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison


def batch_of(texts: Sequence[str]) -> GraphBatch:
    """Return graphs in PENMAN as a batch."""
    return GraphBatch.from_rows(graphs_frame(decode(text) for text in texts))


def followed_by(first: GraphBatch, second: GraphBatch) -> GraphBatch:
    """Return the graphs of two batches as one, over common vocabularies."""
    concept_names, concepts = _merge(first.concept_names, second.concept_names)
    role_names, roles = _merge(first.role_names, second.role_names)
    value_names, values = _merge(first.value_names, second.value_names)
    return GraphBatch(
        concept_names=concept_names,
        role_names=role_names,
        value_names=value_names,
        node_offsets=_append(first.node_offsets, second.node_offsets),
        concepts=np.concatenate([first.concepts, concepts[second.concepts]]),
        attribute_offsets=_append(first.attribute_offsets, second.attribute_offsets),
        attribute_nodes=np.concatenate([first.attribute_nodes, second.attribute_nodes]),
        attribute_roles=np.concatenate([first.attribute_roles, roles[second.attribute_roles]]),
        attribute_values=np.concatenate([first.attribute_values, values[second.attribute_values]]),
        relation_offsets=_append(first.relation_offsets, second.relation_offsets),
        relation_sources=np.concatenate([first.relation_sources, second.relation_sources]),
        relation_roles=np.concatenate([first.relation_roles, roles[second.relation_roles]]),
        relation_targets=np.concatenate([first.relation_targets, second.relation_targets]),
    )


def measure(
    left: GraphBatch, right: GraphBatch, vectors: LabelVectors, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """Measure the first graph of `left` with the first of `right`, and so on."""
    pairs = np.arange(len(left))
    return compare(Comparison(followed_by(left, right), pairs, pairs + len(left), vectors), metrics)


def _merge(names: list[str], others: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the names of both, and the new id of each of the others."""
    ids = {name: number for number, name in enumerate(names)}
    mapping = np.array([ids.setdefault(name, len(ids)) for name in others], np.int32)
    return list(ids), mapping


def _append(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.concatenate([first, first[-1] + second[1:]])
