"""Objectives of S3BERT, L = α · decomposition + consistency (Opitz & Frank 2022, Eq. 4), ordering, and InfoNCE."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, softplus

from training.similarity import TINY
from training.types import Similarity


class DecompositionObjective(nn.Module):
    """Make the similarity of every facet predict the value of its metric (Opitz & Frank 2022, Eq. 3).

    Formula, for b pairs and K facets, with i(k) the dimensions of facet k and a learnable scale βₖ::

        L = 1/b Σᵢ 1/K Σₖ wₖ [Mᵢₖ - βₖ sim(eᵢ[i(k)], e'ᵢ[i(k)])]²

    sim is the cosine, or 1 - L1 distance (the authors' repository; it depends on norms, so it needs unit embeddings).
    wₖ = 1 in the paper.

    Inputs:
        +-----------------------------+------------------+---------------------------------+
        | argument                    | shape            | values                          |
        +=============================+==================+=================================+
        | embeddings                  | (n_texts, d)     | float                           |
        | positions of sentences a    | (n_pairs,)       | int, in embeddings              |
        | positions of sentences b    | (n_pairs,)       | int, in embeddings              |
        | metrics M                   | (n_pairs, K)     | [0, 1], the order of the facets |
        +-----------------------------+------------------+---------------------------------+

    Relations:
        - Alone it gives the best facets but ruins the embedding: the correlation with human ratings falls from 83 to 52
          (Table 2). Add `consistency_loss`.
        - Prefer the cosine: facets are then on the scale of the sentence similarity, and can be read from embeddings of
          any norm. Prefer Manhattan to reproduce the authors' released models.

    Args:
        membership: which dimension belongs to which facet, (d, K), 0 or 1.
        similarity: similarity of two sub-vectors.
        weights: wₖ, one per facet; all 1 when missing.
        scales: βₖ to start from, one per facet; all 1 when missing.
    """

    membership: Tensor
    weights: Tensor

    def __init__(
        self,
        membership: NDArray[np.float32],
        similarity: Similarity = "cosine",
        weights: Sequence[float] | None = None,
        scales: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        facets = membership.shape[1]
        self.similarity = similarity
        self.scales = nn.Parameter(torch.ones(facets) if scales is None else torch.tensor(scales))
        used = np.flatnonzero(membership.any(axis=1))
        self._used = slice(int(used[0]), int(used[-1]) + 1)  # copied for each pair; the residual is of no facet
        self.register_buffer("membership", torch.from_numpy(membership[self._used]), persistent=False)
        self.register_buffer("weights", torch.ones(facets) if weights is None else torch.tensor(weights))

    def similarities(self, embeddings: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Return the similarity of every facet, (n_pairs, K)."""
        left, right = embeddings[:, self._used].index_select(0, torch.cat([first, second])).chunk(2)
        if self.similarity == "manhattan":
            return 1.0 - (left - right).abs() @ self.membership
        squares = ((left * left) @ self.membership) * ((right * right) @ self.membership)
        return ((left * right) @ self.membership) * torch.rsqrt(squares.clamp_min(TINY**2))

    def forward(self, embeddings: Tensor, first: Tensor, second: Tensor, metrics: Tensor) -> Tensor:
        """Return the loss, a scalar."""
        errors = metrics - self.scales * self.similarities(embeddings, first, second)
        return (self.weights * errors.square()).mean()


def consistency_loss(left: Tensor, right: Tensor, teacher_left: Tensor, teacher_right: Tensor) -> Tensor:
    """Keep the cosine of every sentence a with every sentence b of the batch at its value for the teacher (§3.3).

    Formula, for b pairs, with the teacher's embeddings t::

        L = 1/b² Σᵢ Σⱼ [cos(tᵢ, t'ⱼ) - cos(eᵢ, e'ⱼ)]²

    All b² combinations need no more encoding than b pairs, since targets are cosines of existing vectors.

    Inputs:
        +-----------------------------+------------------+---------------------------------+
        | argument                    | shape            | values                          |
        +=============================+==================+=================================+
        | embeddings of sentences a   | (n_pairs, d)     | float                           |
        | embeddings of sentences b   | (n_pairs, d)     | float                           |
        | teacher's embeddings of a   | (n_pairs, t)     | float, no gradient; any t       |
        | teacher's embeddings of b   | (n_pairs, t)     | float, no gradient; any t       |
        +-----------------------------+------------------+---------------------------------+

    Relations:
        - Alone it has no measurable effect (Table 2, no decomposition: 83.0 against 83.1).
        - It is small compared with `DecompositionObjective`, whose minimum is what a sentence does not reveal about its
          graph. Raise its weight when the correlation with human ratings falls; lower it when facets stay weak.
    """
    with torch.no_grad():
        targets = normalize(teacher_left, dim=-1) @ normalize(teacher_right, dim=-1).T
    return (targets - normalize(left, dim=-1) @ normalize(right, dim=-1).T).square().mean()


def ordering_loss(
    similarities: Tensor, metrics: Tensor, first: Tensor, second: Tensor, temperature: float = 0.2
) -> Tensor:
    """Make every facet order the pairs of a sentence as its metric does (RankNet, Burges et al. 2005).

    Formula, for K facets with similarities s, where Oₖ are the pairs i, j that share a sentence and have Mᵢₖ > Mⱼₖ::

        L = 1/K Σₖ 1/|Oₖ| Σᵢⱼ log(1 + exp(-(sᵢₖ - sⱼₖ)/τ))

    Inputs:
        +-----------------------------+------------------+---------------------------------+
        | argument                    | shape            | values                          |
        +=============================+==================+=================================+
        | similarities s              | (n_pairs, K)     | float, of each facet            |
        | metrics M                   | (n_pairs, K)     | [0, 1]                          |
        | sentences a of the pairs    | (n_pairs,)       | int, any numbers                |
        | sentences b of the pairs    | (n_pairs,)       | int, any numbers                |
        +-----------------------------+------------------+---------------------------------+

    Relations:
        - `DecompositionObjective` sees almost no error where a passive and a sentence with exchanged arguments differ
          by 0.1 in their metrics and by nothing in the embedding. Here what is ordered wrongly has a gradient of 1/τ,
          and what is ordered rightly by some τ hardly any: τ is the distance that is learnt, more than what the
          metrics differ by, so that the order holds for other sentences too.
    """
    ends = (first[:, None], second[:, None])
    shares = torch.stack([end == other for end in ends for other in (first, second)]).any(dim=0)
    left, right = torch.triu(shares, diagonal=1).nonzero(as_tuple=True)
    order = (metrics[left] - metrics[right]).sign()
    losses = order.abs() * softplus(-order * (similarities[left] - similarities[right]) / temperature)
    return (losses.sum(dim=0) / order.abs().sum(dim=0).clamp_min(1.0)).mean()


def info_nce_loss(anchors: Tensor, candidates: Tensor, masked: Tensor, temperature: float) -> Tensor:
    """Identify the positive of each anchor among the candidates of the batch (InfoNCE, van den Oord et al. 2018).

    Formula, with b anchors aᵢ, candidates cⱼ of which cᵢ is the positive of aᵢ, and temperature τ::

        L = -1/b Σᵢ log( exp(cos(aᵢ, cᵢ)/τ) / Σⱼ exp(cos(aᵢ, cⱼ)/τ) )        j runs over what is not masked

    Inputs:
        +-----------------------------+------------------------------+------------------------------------+
        | argument                    | shape                        | values                             |
        +=============================+==============================+====================================+
        | embeddings of the anchors   | (n_anchors, d)               | float                              |
        | embeddings of candidates    | (n_candidates, d)            | float; positives come first        |
        | masked                      | (n_anchors, n_candidates)    | True: no negative of this anchor   |
        +-----------------------------+------------------------------+------------------------------------+

    Relations:
        - With only positives as candidates it is the multiple negatives ranking loss, whose scale is 1/τ.
        - With the same text as anchor and positive, under different dropout, it is the loss of unsupervised SimCSE.

    The temperature τ, above 0, is 0.05 in AspectCSE (Schopf et al. 2023) and SimCSE.
    """
    scores = normalize(anchors, dim=-1) @ normalize(candidates, dim=-1).T / temperature
    scores = scores.masked_fill(masked, -torch.inf)
    return cross_entropy(scores, torch.arange(len(anchors), device=scores.device))
