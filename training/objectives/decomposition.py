"""The decomposition objective: each facet's similarity mirrors its AMR metric (Opitz & Frank 2022, Eq. 3)."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.types import Similarity

_TINY = 1e-12


class DecompositionObjective(nn.Module):
    """Make the similarity of every facet predict the value of its metric.

    Formula, for b pairs and K facets, with i(k) the dimensions of facet k and a learnable scale βₖ::

        L = 1/b Σᵢ 1/K Σₖ wₖ [Mᵢₖ - βₖ sim(eᵢ[i(k)], e'ᵢ[i(k)])]²

    sim is the cosine, or 1 - L1 distance (the authors' repository; it depends on norms, so it needs unit embeddings).
    wₖ = 1 in the paper.

    Inputs:
        +-----------------------------+------------------+---------------------------------+
        | argument                    | shape            | values                          |
        +=============================+==================+=================================+
        | embeddings of sentences a   | (n_pairs, d)     | float                           |
        | embeddings of sentences b   | (n_pairs, d)     | float                           |
        | metrics M                   | (n_pairs, K)     | [0, 1], the order of the facets |
        +-----------------------------+------------------+---------------------------------+

    Relations:
        - Alone it gives the best facets but ruins the embedding: the correlation with human ratings falls from 83 to 52
          (Table 2). Add `ConsistencyObjective`.
        - Prefer the cosine: facets are then on the scale of the sentence similarity, and can be read from embeddings of
          any norm. Prefer Manhattan to reproduce the authors' released models.

    Args:
        membership: which dimension belongs to which facet, (d, K), 0 or 1.
        similarity: similarity of two sub-vectors.
        weights: wₖ, one per facet; all 1 when missing.
    """

    membership: Tensor
    weights: Tensor

    def __init__(
        self,
        membership: NDArray[np.float32],
        similarity: Similarity = "cosine",
        weights: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        facets = membership.shape[1]
        self.similarity = similarity
        self.scales = nn.Parameter(torch.ones(facets))
        self.register_buffer("membership", torch.from_numpy(membership), persistent=False)
        self.register_buffer("weights", torch.ones(facets) if weights is None else torch.tensor(weights))

    def similarities(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the similarity of every facet, (n_pairs, K)."""
        if self.similarity == "manhattan":
            return 1.0 - (left - right).abs() @ self.membership
        squares = ((left * left) @ self.membership) * ((right * right) @ self.membership)
        return ((left * right) @ self.membership) * torch.rsqrt(squares.clamp_min(_TINY**2))

    def forward(self, left: Tensor, right: Tensor, metrics: Tensor) -> Tensor:
        """Return the loss, a scalar."""
        errors = metrics - self.scales * self.similarities(left, right)
        return (self.weights * errors.square()).mean()
