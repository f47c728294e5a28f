"""The ordering objective: a facet orders the pairs of a sentence as its metric does (RankNet, Burges et al. 2005)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus


class OrderingObjective(nn.Module):
    """Make every facet order the pairs of a sentence as its metric does.

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

    Args:
        temperature: τ, above 0.
    """

    def __init__(self, temperature: float = 0.2) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, similarities: Tensor, metrics: Tensor, first: Tensor, second: Tensor) -> Tensor:
        """Return the loss, a scalar; 0 where no two pairs share a sentence."""
        ends = (first[:, None], second[:, None])
        shares = torch.stack([end == other for end in ends for other in (first, second)]).any(dim=0)
        left, right = torch.triu(shares, diagonal=1).nonzero(as_tuple=True)
        order = (metrics[left] - metrics[right]).sign()
        losses = order.abs() * softplus(-order * (similarities[left] - similarities[right]) / self.temperature)
        return (losses.sum(dim=0) / order.abs().sum(dim=0).clamp_min(1.0)).mean()
