"""The AMR metrics as functions of two graphs in PENMAN: `smatch`, `negations`, `wlk` and the others.

    from facetflow import metrics

    metrics.negations("(s / sleep-01 :polarity -)", "(s / sleep-01)")     0.0
    metrics.negations(list_of_graphs, another_list)                       an array, one value per pair
    metrics.smatch.corpus(gold_graphs, parsed_graphs)                     precision, recall and F1 over all pairs

The `summary` and `question` of a metric say what it compares. `wwlk`, `root` and the three degree metrics compare word
vectors from the sentence encoder `all-MiniLM-L6-v2`; the others need only the graphs.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from facetflow.arguments import Texts, near, pair_up
from features.core.errors import RowError
from features.core.faults import GraphUnusable, UnknownName
from features.core.types import RejectCode
from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph, decode
from features.metrics.bootstrap import Bootstrap
from features.metrics.corpus_scores import CorpusScore, choose_metrics, score_corpus
from features.metrics.label_vectors import NO_VECTORS, LabelVectors, words_of
from features.metrics.measurement import PAIRS_AT_ONCE, compare
from features.metrics.metric import Comparison, Metric
from features.metrics.registry import ALGORITHM_VERSION, BUILT_IN, METRIC_NAMES, METRICS

__all__ = ["NAMES", "CorpusScore", "GraphMetric", "measure", "metric"]
__all__ += list(METRIC_NAMES)

NAMES: tuple[str, ...] = METRIC_NAMES
"""The metrics, in the order of the columns of `measure`."""


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in tuple(METRICS):  # a list, which has no hash, is no name either
            raise UnknownName(f"there is no metric {name!r}; {near(name, METRICS)}")


class GraphMetric:
    """A built-in metric: a function of two AMR graphs.

    Args:
        name: of the metric, one of `NAMES`; any other is a SettingsError.

    Attributes:
        name: its name.
        summary: what it compares, in technical terms.
        question: the question that it answers about two sentences; 1 is yes, 0 is no.
        range: its lowest and highest value.
        symmetric: whether a pair and the pair swapped have the same value.
    """

    def __init__(self, name: str) -> None:
        _check_names([name])
        self._metric: Metric = METRICS[name]
        self.name, self.summary, self.question = name, self._metric.summary, self._metric.question
        self.range, self.symmetric = self._metric.range, self._metric.symmetric

    @property
    def signature(self) -> str:
        """What its values depend on, as one string, for papers and reports."""
        return self._metric.signature(ALGORITHM_VERSION)

    @overload
    def __call__(self, a: str, b: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, a: Texts, b: str | Texts) -> NDArray[np.float64]: ...
    def __call__(self, a: str | Texts, b: str | Texts) -> float | NDArray[np.float64]:
        """Compare two graphs, or many pairs of them.

        Args:
            a: a graph in PENMAN, or several.
            b: a graph, or several. Two lists are compared pair by pair, a single graph with each of a list.

        Returns:
            The value, in `range`; for several pairs an array of float64, (n_pairs,).

        Raises:
            InputError: a graph is not valid PENMAN, or the lists differ in length.
            ModelError: the metric compares word vectors, and the sentence encoder is not on this machine.

        >>> smatch("(b / bark-01 :ARG0 (d / dog))", "(b / bark-01 :ARG0 (c / cat))")
        0.75
        """
        pairs, single = _compare(a, b, [self.name])
        values = compare(pairs, [self.name])[self.name].to_numpy(writable=True)
        return float(values[0]) if single else values

    def corpus(self, gold: Texts, parsed: Texts, *, resamples: int = 0, seed: int = 0) -> CorpusScore:
        """Score the graphs of a parser: precision, recall and F1 of the matches in all pairs together.

        Args:
            gold: graphs in PENMAN.
            parsed: the graphs of the parser, one per gold graph.
            resamples: bootstrap samples for the 95 % intervals; 0 for none. Fewer than six pairs have none.
            seed: of the bootstrap.

        Returns:
            The scores; `score.f1.value` is the number, `score.f1.low` the lower end of its interval, if it has one.

        Raises:
            InputError: a graph is not valid PENMAN, there is no pair, or the lists differ in length.
            SettingsError: the metric does not count matches, so it has no precision and recall; or a number is below 0.
        """
        chosen = choose_metrics([self.name])
        pairs, _ = _compare(gold, parsed, [self.name])
        statistics = np.concatenate([self._metric.statistics(part) for part in pairs.parts(PAIRS_AT_ONCE)])
        return score_corpus(chosen, {self.name: statistics}, Bootstrap(resamples, seed))[0]

    def __reduce__(self) -> str:
        return self.name  # under which every process finds it in this module

    def __repr__(self) -> str:
        return f"<metric {self.name}: {self.summary}>"


_BUILT_IN = {name: GraphMetric(name) for name in METRIC_NAMES}
globals().update(_BUILT_IN)  # the registry alone names the metrics, so that a new one needs no line here

if TYPE_CHECKING:
    smatch: GraphMetric  # which pyright does not look up below for the package that passes it on

    def __getattr__(name: str) -> GraphMetric: ...


def metric(name: str) -> GraphMetric:
    """Return a metric by its name.

    Raises:
        SettingsError: there is no such metric.

    >>> metric("frames")("(b / bark-01)", "(r / run-02)")
    0.0
    """
    return _BUILT_IN[GraphMetric(name).name]


def measure(a: str | Texts, b: str | Texts, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Compare graphs by several metrics at once, which is faster than one by one.

    Args:
        a: a graph in PENMAN, or several.
        b: a graph, or several. Two lists are compared pair by pair, a single graph with each of a list.
        metrics: names of the metrics; all by default.

    Returns:
        One row per pair, with a float64 column for each metric. Each metric that searches for an alignment also has
        `<name>_optimal`: whether its optimum is proven.

    Raises:
        InputError: a graph is not valid PENMAN, or the lists differ in length.
        ModelError: a metric compares word vectors, and the sentence encoder is not on this machine.
        SettingsError: there is no such metric.

    >>> measure("(b / bark-01)", ["(b / bark-01)", "(r / run-02)"], ["smatch", "frames"])["smatch"].to_list()
    [1.0, 0.5]
    """
    metrics = METRIC_NAMES if metrics is None else metrics
    names = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    _check_names(names)
    pairs, _ = _compare(a, b, names)
    return compare(pairs, names)


def _compare(a: str | Texts, b: str | Texts, names: Sequence[str]) -> tuple[Comparison, bool]:
    """Return pairs of graphs, with each distinct graph decoded once, and whether both arguments were single graphs."""
    left, right, single = pair_up(a, b, "graph")
    positions: dict[str, int] = {}
    graphs: list[AmrGraph] = []
    for side, texts in (("first", left), ("second", right)):
        for number, text in enumerate(texts, start=1):
            if text not in positions:
                positions[text] = len(positions)
                graphs.append(_decode(text, f"the {side} graph" if single else f"the {side} graph of pair {number}"))
    first, second = (np.array([positions[text] for text in texts], np.int64) for texts in (left, right))
    batch = GraphBatch.of(graphs)
    return Comparison(batch, first, second, _vectors(batch, names)), single


def _decode(text: str, which: str) -> AmrGraph:
    try:
        return decode(text)
    except RowError as error:
        if error.code is RejectCode.TOO_MANY_NODES:
            raise GraphUnusable(f"{which} cannot be compared: {error.message}") from error
        raise GraphUnusable(f"{which} is not valid PENMAN: {error.message}") from error


def _vectors(graphs: GraphBatch, names: Sequence[str]) -> LabelVectors:
    if not any(BUILT_IN[name].vectors for name in names):
        return NO_VECTORS
    from features.parsers.label_vectors import load
    from features.parsers.settings import LabelVectorSettings

    words = words_of([*graphs.concept_names, *graphs.value_names])
    return LabelVectors(*load(LabelVectorSettings()).look_up(words))
