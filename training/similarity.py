"""Similarity of embeddings, pair by pair."""

import numpy as np
from numpy.typing import NDArray

TINY = 1e-12
"""Lower bound of a norm in a division: the cosine with a zero vector is 0."""


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine of each pair of vectors, (n_pairs,), in [-1, 1].

    Args:
        left: (n_pairs, dimension).
        right: the same shape.
    """
    u, v, ones = left.astype(np.float64), right.astype(np.float64), np.ones((left.shape[1], 1))
    norms = np.sqrt((u * u) @ ones) * np.sqrt((v * v) @ ones)
    return np.asarray(((u * v) @ ones) / np.maximum(norms, TINY))[:, 0]
