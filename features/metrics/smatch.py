"""Metrics by the best alignment of nodes: Smatch, and Smatch on parts of the graphs.

    smatch       all triples (Cai & Knight 2013)
    unlabeled    all triples, role labels made equal (Damonte et al. 2017)
    coreference  relations into nodes with more than one parent, and their concepts ("reentrancies")
    srl          :ARGn relations and constants, and the concepts they touch

The number of matches is exact: hill-climbing, as in the reference implementation, gives a lower bound. Statistics are
matched triples, triples of the first and of the second graph, and an upper bound on the matched ones: the same number,
unless the search ended early.
"""

import numpy as np

from features.metrics.alignment.solve import best_alignments
from features.metrics.arrays import Statistics
from features.metrics.metric import Comparison, Metric, f1
from features.metrics.registry import STEPS
from features.metrics.triples import triples_of


def _aligned(name: str, summary: str, question: str, triples: str, vacuous: float | None = 1.0) -> Metric:
    def statistics(pairs: Comparison) -> Statistics:
        batch = triples_of(name, pairs.readings)
        alignments = best_alignments(batch, pairs.first, pairs.second)
        sizes = batch.sizes
        return np.column_stack([alignments.matched, sizes[pairs.first], sizes[pairs.second], alignments.bound])

    return Metric(
        name=name,
        summary=summary,
        question=question,
        statistics=statistics,
        number=f1,
        parameters={"triples": triples, "align": "exact", "steps": f"{STEPS:,}", "count": "multiset"},
        proof=lambda statistics: np.asarray(statistics[:, 0] == statistics[:, 3], np.bool_),
        vacuous=vacuous,
    )


SMATCH = _aligned(
    "smatch",
    "F1 of matching triples under the best alignment of nodes",
    "Are the same things said of the same things, as a whole?",
    "smatch-1.0.4",
    vacuous=None,
)
UNLABELED = _aligned(
    "unlabeled",
    "Smatch with all role labels made equal",
    "Are the same things connected, whatever their relations are called?",
    "smatch-1.0.4-unlabeled",
    vacuous=None,
)
COREFERENCE = _aligned(
    "coreference",
    "Smatch on the relations into nodes that have more than one parent",
    "Does what takes part in several events take part in the same ones?",
    "reentrancies",
)
SRL = _aligned(
    "srl",
    "Smatch on the :ARGn relations",
    "Do the same participants play the same roles: who does what to whom?",
    "arguments",
)
