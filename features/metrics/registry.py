"""The fifteen metrics, in the order of their columns."""

from collections.abc import Mapping

from features.metrics.focus import MAX_DEGREE, MAX_INDEGREE, MAX_OUTDEGREE, ROOT
from features.metrics.metric import Metric
from features.metrics.overlap import CONCEPTS, FRAMES, NAMED_ENTITIES, NEGATIONS
from features.metrics.quantifiers import QUANTIFIERS_METRIC
from features.metrics.smatch import COREFERENCE, SMATCH, SRL, UNLABELED
from features.metrics.wlk import WLK
from features.metrics.wwlk import WWLK

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        SMATCH,
        UNLABELED,
        FRAMES,
        CONCEPTS,
        NAMED_ENTITIES,
        NEGATIONS,
        COREFERENCE,
        SRL,
        WLK,
        WWLK,
        MAX_INDEGREE,
        MAX_OUTDEGREE,
        MAX_DEGREE,
        ROOT,
        QUANTIFIERS_METRIC,
    )
}


COMPARES: Mapping[str, str] = {
    "smatch": "triples",
    "unlabeled": "triples, without roles",
    "frames": "senses of verbs and the like",
    "concepts": "concepts, wherever they stand",
    "named_entities": "kinds of names, not the names",
    "negations": "what is negated",
    "coreference": "relations of what has several",
    "srl": "who does what to whom",
    "wlk": "concepts with their neighbours",
    "wwlk": "the same, by word vectors",
    "max_indegree": "the concept most point to",
    "max_outdegree": "the concept that points to most",
    "max_degree": "the best connected concept",
    "root": "the main concept",
    "quantifiers": "numbers and quantifiers, not of what",
}
"""What each metric compares, in a few words."""


def explain_facet(name: str, own: Mapping[str, str]) -> str:
    """Return one plain sentence on what a facet mirrors.

    Args:
        name: name of the facet.
        own: the first line of the docstring of each of the project's own metrics.

    >>> explain_facet("negations", {})
    'Is the same thing negated?'
    >>> explain_facet("rhymes", {})
    "A metric of the project's own."
    """
    if name in METRICS:
        return METRICS[name].question
    return own.get(name) or "A metric of the project's own."
