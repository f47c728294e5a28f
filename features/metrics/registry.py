"""The fifteen metrics, in the order of their columns."""

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
