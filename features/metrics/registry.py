"""The AMR metrics, in the order of their columns and of the facets of S3BERT.

A metric is one file and one line of `BUILT_IN`. Every command knows the line; the file is imported when its metric is
asked for, because compiled code is slow to import.
"""

from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import polars as pl

from features.schemas import Columns

if TYPE_CHECKING:
    from features.metrics.metric import Metric


ALGORITHM_VERSION = "1"
"""Incremented when a code change changes a number; part of the fingerprint of the stage and of every signature."""

STEPS = 10**8
"""Steps after which the search for the best alignment of a pair ends, proven or not: half a second. The pairs of BAMBOO
and UKP ASPECT take at most 5 · 10⁶."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """What is known of a metric without its code."""

    at: str  # where its `Metric` is, as `module:name`
    compares: str  # what it compares, in a few words
    # whether it searches for an alignment: a column `<name>_optimal` is True where the optimum is proven
    aligned: bool = False
    vectors: bool = False  # whether it compares the vectors of words
    # part of the recipe unless empty; given to a metric that is new, and changed when its numbers change
    version: str = ""


BUILT_IN: Mapping[str, BuiltIn] = {
    "smatch": BuiltIn("features.metrics.smatch:SMATCH", "triples", aligned=True),
    "unlabeled": BuiltIn("features.metrics.smatch:UNLABELED", "triples, without roles", aligned=True),
    "frames": BuiltIn("features.metrics.overlap:FRAMES", "senses of verbs and the like"),
    "concepts": BuiltIn("features.metrics.overlap:CONCEPTS", "concepts, wherever they stand"),
    "named_entities": BuiltIn("features.metrics.overlap:NAMED_ENTITIES", "kinds of names, not the names"),
    "negations": BuiltIn("features.metrics.overlap:NEGATIONS", "what is negated"),
    "coreference": BuiltIn("features.metrics.smatch:COREFERENCE", "relations of what has several", aligned=True),
    "srl": BuiltIn("features.metrics.smatch:SRL", "who does what to whom", aligned=True),
    "wlk": BuiltIn("features.metrics.wlk:WLK", "concepts with their neighbours"),
    "wwlk": BuiltIn("features.metrics.wwlk:WWLK", "neighbourhoods, by word vectors", vectors=True),
    "max_indegree": BuiltIn("features.metrics.focus:MAX_INDEGREE", "the concept most point to", vectors=True),
    "max_outdegree": BuiltIn("features.metrics.focus:MAX_OUTDEGREE", "the concept that points to most", vectors=True),
    "max_degree": BuiltIn("features.metrics.focus:MAX_DEGREE", "the best connected concept", vectors=True),
    "root": BuiltIn("features.metrics.focus:ROOT", "the main concept", vectors=True),
    "quantifiers": BuiltIn("features.metrics.overlap:QUANTIFIERS_METRIC", "numbers and quantifiers, not of what"),
}

METRIC_NAMES = tuple(BUILT_IN)
ALIGNED_METRICS = tuple(name for name, metric in BUILT_IN.items() if metric.aligned)

METRIC_COLUMNS: Columns = {
    "pair_id": pl.String,
    **dict.fromkeys(METRIC_NAMES, pl.Float64),
    **{f"{name}_optimal": pl.Boolean for name in ALIGNED_METRICS},
}
"""One measured pair; one more column for each of the project's own metrics (`features.metrics.own`)."""


class _Metrics(UserDict[str, Any]):
    """The metrics by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> "Metric":
        metric: Metric = resolve_name(self.data[name].at)
        return metric


METRICS: Mapping[str, "Metric"] = _Metrics(BUILT_IN)


def explain_facet(name: str, own: Mapping[str, str]) -> str:
    """Return one plain sentence on what a facet mirrors, given the first lines of the docstrings of own metrics.

    >>> explain_facet("negations", {})
    'Is the same thing negated?'
    >>> explain_facet("rhymes", {})
    "A metric of the project's own."
    """
    if name in METRICS:
        return METRICS[name].question
    return own.get(name) or "A metric of the project's own."
