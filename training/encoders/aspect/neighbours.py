"""How well the nearest texts share a label, for choosing the best model: each text is a query to the others."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.data.shared_labels import Positions, SharedLabels
from training.nearest import cosines_of, find_nearest, unit
from training.ranking import MEASURES, judge

DEPTH = 10
"""Number of neighbours that are scored."""


class Neighbours(NamedTuple):
    """Scores of the first ten neighbours (`training.ranking`), over the texts that share a label with another.

    Args:
        mrr: mean of 1 / rank of the first neighbour that shares a label, 0 if none of the ten does, in [0, 1].
        ndcg: normalised discounted gain, in [0, 1].
        texts: number of queries.
    """

    mrr: float
    ndcg: float
    texts: int


def score_neighbours(vectors: NDArray[np.float32], shared: SharedLabels, texts: Positions) -> Neighbours | None:
    """Return how well neighbours share a label; None if no text shares one with another.

    Args:
        vectors: embeddings of the texts, (n, d).
        shared: which texts share a label.
        texts: their positions in `shared`, (n,); each is a query to all others.
    """
    n = len(texts)
    if n < 2:
        return None
    known = unit(vectors)
    nearest = find_nearest(cosines_of(known, known), queries=n, texts=n, k=DEPTH, themselves=True).positions
    counts, values = judge(partial(shared.relevant, texts), {"encoder": nearest}, texts=n, k=DEPTH)
    asked = counts > 0
    if not asked.any():
        return None
    means = dict(zip(MEASURES, values["encoder"][asked].mean(axis=0).tolist(), strict=True))
    return Neighbours(means["mrr"], means["ndcg"], int(asked.sum()))
