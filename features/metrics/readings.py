"""What several metrics read from a batch of graphs, computed only once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from features.graphs.batch import GraphBatch
from features.metrics.arrays import Ids, Positions, ids_of, owners
from features.metrics.neighbourhoods import Neighbourhoods, distances_from_first, neighbourhoods
from features.metrics.relations import DirectedRelations, direct


def comparable(name: str) -> str:
    """Return a concept or constant as Smatch compares it: lower case, without quotes, spaces, trailing underscores."""
    return name.replace('"', "").replace(" ", "").lower().rstrip("_")


@dataclass(frozen=True)
class Readings:
    """A batch of graphs, and what is read from it; nodes are numbered through the batch."""

    graphs: GraphBatch

    @cached_property
    def labels(self) -> Ids:
        """An id of each node's concept, equal for concepts that compare equal, shape (n_nodes,)."""
        return np.asarray(ids_of(map(comparable, self.graphs.concept_names))[self.graphs.concepts], np.int32)

    @cached_property
    def ranks(self) -> Positions:
        """Rank of each node's concept in alphabetical order, equal for equal ones, shape (n_nodes,)."""
        names = np.array([comparable(name) for name in self.graphs.concept_names], np.str_)
        return np.asarray(np.unique(names, return_inverse=True)[1][self.graphs.concepts], np.int64)

    @cached_property
    def values(self) -> Ids:
        """The id of each attribute's constant, shape (n_attributes,)."""
        return np.asarray(ids_of(map(comparable, self.graphs.value_names))[self.graphs.attribute_values], np.int32)

    @cached_property
    def attribute_nodes(self) -> Positions:
        """The node of each attribute, shape (n_attributes,)."""
        first = self.graphs.node_offsets[owners(self.graphs.attribute_offsets)]
        return np.asarray(self.graphs.attribute_nodes + first, np.int64)

    @cached_property
    def relations(self) -> DirectedRelations:
        """The relations with every inverse role inverted back."""
        return direct(self.graphs)

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """The graphs with constants as nodes."""
        return neighbourhoods(self.graphs, self.relations)

    @cached_property
    def distances(self) -> Positions:
        """Steps from the root to each node, along relations in either direction, shape (n_nodes,)."""
        around = self.neighbourhoods
        distances = distances_from_first(around.node_offsets, around.offsets, around.neighbours)
        graph_of = owners(self.graphs.node_offsets)
        return np.asarray(distances[np.arange(len(graph_of)) + self.graphs.attribute_offsets[graph_of]], np.int64)
