"""From scores of pairs of nodes to the edges of a connected graph.

    1. every pair above the threshold is an edge, in its better direction;
    2. components that are still separate are joined by the best remaining pairs (Kruskal 1956).

A leaf (a constant, a name) has one parent and no children, however low its best score.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
_NEVER = np.float32(-1e9)


def connect(scores: Scores, leaves: NDArray[np.bool_], threshold: float) -> NDArray[np.int64]:
    """Return the edges of one sentence.

    Args:
        scores: log-odds of an edge from each node to each other, shape (n_nodes, n_nodes).
        leaves: which nodes are leaves, shape (n_nodes,); at least one is not.
        threshold: log-odds from which a pair is an edge.

    Returns:
        Source and target of each edge, shape (n_edges, 2), the most certain first; the graph is connected.
    """
    allowed = scores.astype(np.float32)
    np.fill_diagonal(allowed, _NEVER)
    allowed[leaves] = _NEVER
    for child in np.flatnonzero(leaves):
        parent = int(allowed[:, child].argmax())
        score = max(allowed[parent, child], np.float32(threshold + 1))
        allowed[:, child] = _NEVER
        allowed[parent, child] = score
    either = np.maximum(allowed, allowed.T)
    left, right = np.triu_indices(len(scores), 1)
    order = np.argsort(-either[left, right], kind="stable")
    return _join(allowed, left[order], right[order], np.float32(threshold))  # type: ignore[no-any-return]


@numba.njit(cache=True, nogil=True)
def _join(allowed: Any, left: Any, right: Any, threshold: Any) -> Any:
    n = len(allowed)
    piece = np.arange(n)
    edges = np.empty((len(left), 2), np.int64)
    count = 0
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        score = max(allowed[a, b], allowed[b, a])
        if score <= -1e8:
            continue
        if score > threshold or piece[a] != piece[b]:
            if piece[a] != piece[b]:
                joined = piece[b]
                for node in range(n):
                    if piece[node] == joined:
                        piece[node] = piece[a]
            edges[count, 0] = a if allowed[a, b] >= allowed[b, a] else b
            edges[count, 1] = b if allowed[a, b] >= allowed[b, a] else a
            count += 1
    return edges[:count]
