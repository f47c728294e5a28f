"""InfoNCE: make an anchor closer to its positive than to all other candidates (van den Oord et al. 2018)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize


class InfoNceObjective(nn.Module):
    """Identify the positive of each anchor among the candidates of the batch.

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

    Args:
        temperature: τ, above 0; 0.05 in AspectCSE (Schopf et al. 2023) and SimCSE.
    """

    def __init__(self, temperature: float = 0.05) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, anchors: Tensor, candidates: Tensor, masked: Tensor) -> Tensor:
        """Return the loss, a scalar."""
        scores = normalize(anchors, dim=-1) @ normalize(candidates, dim=-1).T / self.temperature
        scores = scores.masked_fill(masked, -torch.inf)
        return cross_entropy(scores, torch.arange(len(anchors), device=scores.device))
