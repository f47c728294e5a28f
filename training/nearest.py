"""Exact nearest neighbours in blocks of queries, so that the matrix of all similarities is never in memory.

    queries 0–166    ×  all texts  ──>  similarities (167, n)  ──>  the k best of each row
    queries 167–333  ×  all texts  ──>  …                            equal to six digits: the earlier text first

Any similarity that is computed in blocks of rows works: cosines of vectors here, weights of words elsewhere. torch
selects the texts, as in `sentence_transformers.util.semantic_search`, which does not define which of two equal texts it
returns.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from features.core.faults import EncoderDamaged
from training.similarity import TINY

Similarities = Callable[[slice], NDArray[np.float32]]
"""Some queries → their similarity to every text, (n_some, n_texts); the caller may modify the array."""
DIGITS = 6
"""Similarities that agree to this many decimals count as equal: further digits depend on the order of additions."""
_NUMBERS_AT_ONCE = 1 << 24  # 64 MiB of similarities


class Nearest(NamedTuple):
    """The texts that are most similar to each query, best first."""

    positions: NDArray[np.int64]  # positions of the texts, (n_queries, k), int64
    similarities: NDArray[np.float32]  # their similarities, (n_queries, k), float32


def require_finite(vectors: NDArray[np.float32], encoder: Path | None = None) -> NDArray[np.float32]:
    """Return embeddings if all are finite numbers; else raise a ModelError, which names the folder of their encoder."""
    if not np.isfinite(vectors).all():
        raise EncoderDamaged(
            f"the encoder{'' if encoder is None else f' {str(encoder)!r}'} gives embeddings that are not finite: it is "
            "damaged; delete its folder, then train or pull it again"
        )
    return vectors


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors of length 1, (n, d); a zero vector is not changed."""
    lengths = np.linalg.norm(require_finite(vectors), axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, TINY), np.float32)


def cosines_of(queries: NDArray[np.float32], texts: NDArray[np.float32]) -> Similarities:
    """Return the cosine of queries and texts, vectors of unit length, (n_queries, d) and (n_texts, d)."""
    return lambda some: queries[some] @ texts.T


def find_nearest(similarities: Similarities, *, queries: int, texts: int, k: int, themselves: bool = False) -> Nearest:
    """Return the k texts that are most similar to each query, fewer if there are not enough; of equal ones the first.

    If the queries are the texts `themselves`, in the same order, none is returned for itself.
    """
    kept = max(0, min(k, texts - themselves))
    nearest = Nearest(np.empty((queries, kept), np.int64), np.empty((queries, kept), np.float32))
    if not kept:
        return nearest
    rows = max(1, _NUMBERS_AT_ONCE // texts)
    for start in range(0, queries, rows):
        some = slice(start, min(start + rows, queries))
        block = np.round(similarities(some), DIGITS)
        if themselves:
            block[np.arange(len(block)), np.arange(some.start, some.stop)] = -np.inf
        nearest.positions[some], nearest.similarities[some] = _best(block, kept)
    return nearest


def neighbours_of(vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the positions of the k other vectors that are most similar to each, of unit length, (n, at most k)."""
    cosines = cosines_of(vectors, vectors)
    return find_nearest(cosines, queries=len(vectors), texts=len(vectors), k=k, themselves=True).positions


def _best(block: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return positions and values of the k largest numbers of each row; the first of equal ones."""
    import torch

    values, positions = (tensor.numpy() for tensor in torch.topk(torch.from_numpy(block), k, dim=1))
    last = values[:, -1:]
    # If there are more numbers equal to the last one than fit, torch may have taken any of them.
    for row in np.flatnonzero(np.count_nonzero(block >= last, axis=1) > k):
        candidates = np.flatnonzero(block[row] >= last[row])
        positions[row] = candidates[np.lexsort((candidates, -block[row, candidates]))][:k]
    values = np.take_along_axis(block, positions, axis=1)
    order = np.lexsort((positions, -values), axis=1)
    return np.take_along_axis(positions, order, axis=1), np.take_along_axis(values, order, axis=1)
