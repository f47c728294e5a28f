"""How well the nearest texts share a label, for the choice of the best model: a text asks, the others answer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.data.shared_labels import Positions, SharedLabels

DEPTH = 10
"""Neighbours that are looked at."""
_AT_ONCE = 512  # texts that ask: no matrix of all texts with all is in memory


class Neighbours(NamedTuple):
    """Scores of the first ten neighbours, over the texts that share a label with another.

    Args:
        mrr: mean of 1 / place of the first neighbour that shares a label, 0 where none of the ten does, in [0, 1].
        ndcg: normalised discounted gain, in [0, 1].
        texts: that ask.
    """

    mrr: float
    ndcg: float
    texts: int


def score_neighbours(vectors: NDArray[np.float32], shared: SharedLabels, texts: Positions) -> Neighbours | None:
    """Return how well neighbours share a label; None where no text shares one with another.

    Args:
        vectors: of the texts, (n, d).
        shared: says which texts share a label.
        texts: their positions there, (n,); each asks for the others, itself left out.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(norms, 1e-12)
    depth = min(DEPTH, len(texts) - 1)
    if depth < 1:
        return None
    gains = 1 / np.log2(np.arange(2, depth + 2))
    reciprocals, discounted = [], []
    for start in range(0, len(texts), _AT_ONCE):
        asking = np.arange(start, min(start + _AT_ONCE, len(texts)))
        cosines = unit[asking] @ unit.T
        relevant = shared.matrix(texts[asking], texts)
        rows = np.arange(len(asking))
        cosines[rows, asking], relevant[rows, asking] = -np.inf, False
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :depth]
        hits = np.take_along_axis(relevant, nearest, axis=1)
        count = relevant.sum(axis=1)
        asked = count > 0
        first = np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0)
        ideal = np.cumsum(gains)[np.minimum(np.maximum(count, 1), depth) - 1]
        reciprocals.append(first[asked])
        discounted.append((hits @ gains / ideal)[asked])
    found = np.concatenate(reciprocals)
    if not len(found):
        return None
    return Neighbours(float(found.mean()), float(np.concatenate(discounted).mean()), len(found))
