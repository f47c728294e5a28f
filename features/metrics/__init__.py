"""The fifteen AMR metrics: similarity of two graphs as a whole, or in one aspect.

GraphBatch, GraphBatch ── measure ──> one row per pair

whole       smatch, unlabeled, wlk, wwlk
aspects     frames, concepts, named_entities, negations, coreference, srl, quantifiers
focus       max_indegree, max_outdegree, max_degree, root
"""

from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import ALGORITHM_VERSION, measure, warm_up
from features.metrics.metric import Metric
from features.metrics.registry import METRICS

__all__ = ["ALGORITHM_VERSION", "METRICS", "LabelVectors", "Metric", "measure", "warm_up"]
