"""Quality of rankings for each query.

For a query with R relevant texts, whose k nearest texts in order are relevant (1) or not (0), as in 1 0 1 0 …:

    P     hits / k                                       R     hits / R
    MRR   1 / rank of the first hit, 0 without one       MAP   sum over hits of (hits so far / rank) / min(k, R)
    nDCG  sum over hits of 1 / log2(1 + rank), divided by that of a ranking whose first min(k, R) are all relevant

(Manning, Raghavan & Schütze 2008, chapter 8; nDCG with binary gains, Järvelin & Kekäläinen 2002.)
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

MEASURES = ("precision", "recall", "mrr", "ndcg", "map")
Relevant = Callable[[slice], NDArray[np.bool_]]
"""Some queries → which texts are relevant for each, (n_some, n_texts)."""
_CELLS_AT_ONCE = 1 << 24


def judge(
    relevant: Relevant, rankings: Mapping[str, NDArray[np.int64]], *, texts: int, k: int
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Return the number of relevant texts of each query, (n_queries,), and the quality of each ranking.

    Rankings are positions of the nearest texts of each query, best first, (n_queries, at most k); their values of
    `MEASURES` are (n_queries, 5), in [0, 1], 0 without relevant texts. A query is not relevant for itself.
    """
    queries = len(next(iter(rankings.values())))
    counts = np.zeros(queries, np.int64)
    hits = {name: np.zeros(ranking.shape, np.bool_) for name, ranking in rankings.items()}
    rows = max(1, _CELLS_AT_ONCE // max(1, texts))
    for start in range(0, queries, rows):
        some = slice(start, min(start + rows, queries))
        block = relevant(some)
        counts[some] = block.sum(axis=1)
        for name, ranking in rankings.items():
            hits[name][some] = np.take_along_axis(block, ranking[some], axis=1)
    return counts, {name: measure(is_hit, counts, k) for name, is_hit in hits.items()}


def measure(hits: NDArray[np.bool_], relevant: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return the value of each of `MEASURES` for each query, (n_queries, 5), in [0, 1].

    It has relevant texts, (n_queries,), and hits: whether the text at each rank is relevant, (n_queries, at most k).
    A ranking with fewer than k has all texts.
    """
    shown = hits[:, :k].astype(np.float64)
    ranks = np.arange(1, shown.shape[1] + 1)
    most = np.minimum(relevant, k)
    discounts = 1 / np.log2(1 + np.arange(1, k + 1))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[most]
    counts = shown.sum(axis=1)
    at_hits = (shown * np.cumsum(shown, axis=1) / ranks).sum(axis=1)
    columns = [
        counts / k,
        counts / np.maximum(relevant, 1),
        (shown / ranks).max(axis=1, initial=0.0),
        (shown * discounts[: shown.shape[1]]).sum(axis=1) / np.where(ideal > 0, ideal, 1),
        at_hits / np.maximum(most, 1),
    ]
    return np.stack(columns, axis=1)


def expected_at_random(relevant: NDArray[np.int64], texts: int, k: int) -> NDArray[np.float64]:
    """Return the expected value of each of `MEASURES` for each query if texts are in random order, (n_queries, 5).

    With n texts to rank, each rank has a relevant one with probability R / n, and two ranks have both with probability
    R / n · (R − 1) / (n − 1); the first hit has rank j if the texts before it are all irrelevant. The number of texts,
    at least 2, includes the query.
    """
    others = texts - 1
    ranks = np.arange(1, min(k, others) + 1)
    counts = relevant.astype(np.float64)
    hit = counts / others
    before = ranks - 1
    # P(no hit at rank i | none before) = (n - R - i + 1) / (n - i + 1)
    misses = np.maximum(others - counts[:, None] - before, 0) / (others - before)
    none_before = np.cumprod(np.concatenate([np.ones((len(counts), 1)), misses[:, :-1]], axis=1), axis=1)
    first = none_before * np.minimum(counts[:, None] / (others - before), 1)
    again = (counts - 1) / max(others - 1, 1)
    most = np.minimum(relevant, k)
    discounts = 1 / np.log2(1 + np.arange(1, k + 1))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[most]
    at_hits = ((1 + before * again[:, None]) / ranks).sum(axis=1) * hit
    columns = [
        hit * len(ranks) / k,
        np.where(relevant > 0, len(ranks) / others, 0.0),
        (first / ranks).sum(axis=1),
        hit * discounts[: len(ranks)].sum() / np.where(ideal > 0, ideal, 1),
        at_hits / np.maximum(most, 1),
    ]
    return np.stack(columns, axis=1)
