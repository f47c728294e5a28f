"""What the start model already knows, measured in three ways (Opitz & Frank 2022, §5.1): whole, random, assigned."""

import numpy as np
from numpy.typing import NDArray

from features.core.faults import OutOfRange
from training.similarity import cosines, spearman_matrix

Embeddings = NDArray[np.float32]


def full_similarities(left: Embeddings, right: Embeddings, n_facets: int) -> NDArray[np.float64]:
    """SB-full: return the cosine of the whole embedding for every facet, (n_pairs, n_facets)."""
    return np.repeat(cosines(left, right)[:, None], n_facets, axis=1)


def random_width(dimension: int, n_facets: int, width: int) -> int:
    """Return the dimensions of a facet of SB-rand: those of the encoder's, or fewer where the start model has fewer."""
    return min(width, dimension // n_facets)


def random_memberships(
    *, dimension: int, n_facets: int, width: int, draws: int, seed: int
) -> list[NDArray[np.float32]]:
    """SB-rand: return partitions that give every facet `width` random dimensions, no dimension twice.

    Args:
        dimension: of the embedding.
        n_facets: number of facets.
        width: dimensions of a facet.
        draws: number of partitions.
        seed: decides them.

    Returns:
        One matrix per draw, (dimension, n_facets), 0 or 1.
    """
    random = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        chosen = random.permutation(dimension)[: n_facets * width].reshape(n_facets, width)
        membership = np.zeros((dimension, n_facets), dtype=np.float32)
        for facet, dimensions in enumerate(chosen):
            membership[dimensions, facet] = 1.0
        found.append(membership)
    return found


def assigned_membership(left: Embeddings, right: Embeddings, metrics: NDArray[np.float32]) -> NDArray[np.float32]:
    """SB-ILP: return the partition that an integer programme finds (Eq. 5 to 7).

    max Σ ω(i, j) x(i, j), each dimension i in at most one facet, each facet j with at least one dimension; ω(i, j) is
    Spearman's correlation of dimension i with metric j. The value of a dimension for a pair is the product of its two
    entries: its share of the cosine.

    Args:
        left: start embeddings of sentences a, (n_pairs, dimension), of pairs that are not evaluated on.
        right: of sentences b.
        metrics: (n_pairs, n_facets).

    Returns:
        (dimension, n_facets), 0 or 1.

    Raises:
        RunError: when the solver finds no partition (more facets than dimensions).
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # here, as `facetflow runs` solves nothing
    from scipy.sparse import csr_array, hstack, identity, kron

    weights = spearman_matrix(left * right, metrics)
    n_dimensions, n_facets = weights.shape
    once = kron(identity(n_dimensions), np.ones((1, n_facets)), format="csr")
    some = hstack([identity(n_facets)] * n_dimensions, format="csr")
    solution = milp(
        -weights.ravel(),
        integrality=np.ones(weights.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(csr_array(once), ub=1.0),
            LinearConstraint(csr_array(some), lb=1.0),
        ],
    )
    if solution.x is None:
        raise OutOfRange(f"no partition of {n_dimensions} dimensions into {n_facets} facets exists: {solution.message}")
    return np.asarray(np.rint(solution.x).reshape(weights.shape), dtype=np.float32)
