"""Similarities of embeddings, pair by pair, and rank correlations, column by column."""

import numpy as np
from numpy.typing import NDArray

from training.types import Similarity

TINY = 1e-12
"""Lower bound of a norm in a division: the cosine with a zero vector is 0."""


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine of each pair of vectors, (n_pairs, dimension) each: (n_pairs,), in [-1, 1]."""
    return slice_similarities(left, right, np.ones((left.shape[1], 1), np.float32), "cosine")[:, 0]


def slice_similarities(
    left: NDArray[np.float32], right: NDArray[np.float32], membership: NDArray[np.float32], similarity: Similarity
) -> NDArray[np.float64]:
    """Return the similarity in groups of dimensions, (n_pairs, n_groups), by membership, (dimension, n_groups)."""
    u, v, groups = left.astype(np.float64), right.astype(np.float64), membership.astype(np.float64)
    if similarity == "manhattan":
        return np.asarray(1.0 - np.abs(u - v) @ groups)
    norms = np.sqrt((u * u) @ groups) * np.sqrt((v * v) @ groups)
    return np.asarray(((u * v) @ groups) / np.maximum(norms, TINY))


def spearman(predicted: NDArray[np.floating], measured: NDArray[np.floating]) -> list[float | None]:
    """Return Spearman's correlation of each column, (n_pairs, n_columns), with measured values, (n_pairs,).

    Ties share a mean rank. It is None if undefined, when one is constant or has fewer than two values.
    """
    if len(predicted) < 2:
        return [None] * predicted.shape[1]
    left, right = _centred_ranks(predicted), _centred_ranks(measured)
    norms = np.sqrt((left * left).sum(axis=0) * (right * right).sum())
    return [float(p / n) if n > 0 else None for p, n in zip(right @ left, norms, strict=True)]


def spearman_matrix(left: NDArray[np.floating], right: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return Spearman's correlation of every left with every right column, (n_left, n_right); 0 if undefined."""
    a, b = _centred_ranks(left), _centred_ranks(right)
    norms = np.sqrt((a * a).sum(axis=0))[:, None] * np.sqrt((b * b).sum(axis=0))[None, :]
    return np.asarray(np.divide(a.T @ b, norms, out=np.zeros_like(norms), where=norms > 0), dtype=np.float64)


def _centred_ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    from scipy.stats import rankdata  # here, since its import takes over a second, also in commands without ranks

    ranks = rankdata(values, axis=0).astype(np.float64)
    return np.asarray(ranks - ranks.mean(axis=0), dtype=np.float64)
