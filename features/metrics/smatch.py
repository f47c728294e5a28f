"""Metrics by the best alignment of nodes: Smatch, and Smatch on parts of the graphs.

    smatch       all triples (Cai & Knight 2013)
    unlabeled    all triples, role labels made equal (Damonte et al. 2017)
    coreference  relations into nodes with more than one parent, and their concepts ("reentrancies")
    srl          :ARGn relations and constants, and the concepts they touch

The number of matches is exact: hill-climbing, as in the reference implementation, gives a lower bound. Statistics are
matched triples, triples of the first and of the second graph, and an upper bound on the matched ones: the same number,
unless the search ended early.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from features.metrics.alignment.solve import best_alignments
from features.metrics.arrays import Statistics
from features.metrics.metric import Comparison, Metric, f1
from features.metrics.parts import argument_triples, coreference_triples
from features.metrics.readings import Readings
from features.metrics.recipe import STEPS
from features.metrics.triples import TripleBatch, smatch_triples, unlabeled_triples


def _aligned(triples_of: Callable[[Readings], TripleBatch]) -> Callable[[Comparison], Statistics]:
    def statistics(pairs: Comparison) -> Statistics:
        triples = triples_of(pairs.readings)
        found = best_alignments(triples, pairs.first, pairs.second)
        return np.column_stack([found.matched, triples.sizes[pairs.first], triples.sizes[pairs.second], found.bound])

    return statistics


def _proof(statistics: Statistics) -> npt.NDArray[np.bool_]:
    return np.asarray(statistics[:, 0] == statistics[:, 3], np.bool_)


_EXACT = {"align": "exact", "steps": f"{STEPS:,}", "count": "multiset"}

SMATCH = Metric(
    name="smatch",
    summary="F1 of matching triples under the best alignment of nodes",
    question="Are the same things said of the same things, as a whole?",
    statistics=_aligned(smatch_triples),
    number=f1,
    parameters={"triples": "smatch-1.0.4", **_EXACT},
    proof=_proof,
    vacuous=None,
)

UNLABELED = Metric(
    name="unlabeled",
    summary="Smatch with all role labels made equal",
    question="Are the same things connected, whatever their relations are called?",
    statistics=_aligned(unlabeled_triples),
    number=f1,
    parameters={"triples": "smatch-1.0.4-unlabeled", **_EXACT},
    proof=_proof,
    vacuous=None,
)

COREFERENCE = Metric(
    name="coreference",
    summary="Smatch on the relations into nodes that have more than one parent",
    question="Does what takes part in several events take part in the same ones?",
    statistics=_aligned(coreference_triples),
    number=f1,
    parameters={"triples": "reentrancies", **_EXACT},
    proof=_proof,
)

SRL = Metric(
    name="srl",
    summary="Smatch on the :ARGn relations",
    question="Do the same participants play the same roles: who does what to whom?",
    statistics=_aligned(argument_triples),
    number=f1,
    parameters={"triples": "arguments", **_EXACT},
    proof=_proof,
)
