"""What a metric is: additive statistics of each pair of graphs, and a number finally computed from them.

pair 0: matched 5, left 6, right 6 ┐                                  number([5, 6, 6])    = 0.83   the pair's score
pair 1: matched 2, left 6, right 4 ┘ sum: [7, 12, 10] ── number ──>   number([7, 12, 10])  = 0.64   the corpus' score
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from features.graphs.batch import GraphBatch
from features.metrics.arrays import Numbers, Positions, Statistics
from features.metrics.label_vectors import NO_VECTORS, LabelVectors
from features.metrics.readings import Readings


@dataclass(frozen=True)
class Comparison:
    """Pairs of graphs to compare."""

    graphs: GraphBatch  # each distinct graph once
    first: Positions  # position of the first graph of each pair, (n_pairs,)
    second: Positions  # position of the second graph of each pair, (n_pairs,)
    vectors: LabelVectors = NO_VECTORS  # vectors of the words in the labels, for metrics that compare them

    @cached_property
    def readings(self) -> Readings:
        """What the metrics read from the graphs."""
        return Readings(self.graphs)

    @cached_property
    def label_vectors(self) -> npt.NDArray[np.float32]:
        """The vector of each of `readings.neighbourhoods.label_names`, shape (n_labels, n_dimensions)."""
        return self.vectors.of_labels(self.readings.neighbourhoods.label_names)

    def __len__(self) -> int:
        return len(self.first)

    def parts(self, size: int) -> Iterator["Comparison"]:
        """Yield the pairs in order, at most `size` at a time, with the graphs that they need."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            first, second = self.first[start : start + size], self.second[start : start + size]
            needed, positions = np.unique(np.concatenate([first, second]), return_inverse=True)
            graphs = self.graphs.select(needed)
            yield Comparison(graphs, positions[: len(first)], positions[len(first) :], self.vectors)


@dataclass(frozen=True)
class Metric:
    """A built-in metric."""

    name: str  # its column
    summary: str  # what it compares, in one line, in the terms of the field
    question: str  # what it asks about two sentences, in plain words; 1 is yes, 0 is no
    statistics: Callable[[Comparison], Statistics]  # maps pairs to additive statistics, (n_pairs, n_statistics)
    number: Callable[[Statistics], Numbers]  # maps statistics of shape (n, n_statistics) to scores in `range`, (n,)
    parameters: dict[str, str] = field(default_factory=dict)  # what the number depends on, for the signature
    # maps statistics to "the optimum is proven", for metrics that search for an alignment
    proof: Callable[[Statistics], npt.NDArray[np.bool_]] | None = None
    range: tuple[float, float] = (0.0, 1.0)  # lowest and highest value
    symmetric: bool = True  # whether both orders of a pair have the same value
    vacuous: float | None = 1.0  # value if neither graph has the structure; None if every graph has it

    def signature(self, version: str) -> str:
        """Return what the number depends on, as one string: `smatch|triples:smatch-1.0.4|...|version:1`."""
        parts = [self.name, *(f"{key}:{value}" for key, value in self.parameters.items()), f"version:{version}"]
        return "|".join(parts)


def f1(statistics: Statistics) -> Numbers:
    """Return F1 of (matched, left, right, ...), (n, ≥ 3): 2 · matched / (left + right), (n,); 1 if both are empty.

    Opitz & Frank 2022, footnote 2: graphs that both lack a structure agree in it.
    """
    matched, left, right = statistics[:, 0], statistics[:, 1], statistics[:, 2]
    size = left + right
    return np.where(size > 0, 2 * matched / np.maximum(size, 1), 1.0)


def mean(statistics: Statistics) -> Numbers:
    """Return the mean of (sum of similarities, number of pairs), (n, 2) → (n,) in [0, 1]; a negative one is 0."""
    return np.clip(statistics[:, 0] / np.maximum(statistics[:, 1], 1), 0.0, 1.0)


def similarities(values: Numbers) -> Statistics:
    """Return the statistics of a similarity metric: (similarity, 1) for each pair, shape (n_pairs, 2)."""
    return np.column_stack([values, np.ones(len(values))])
