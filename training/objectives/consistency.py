"""The consistency objective: preserve the sentence similarities of the teacher (Opitz & Frank 2022, §3.3)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class ConsistencyObjective(nn.Module):
    """Keep the cosine of every sentence a with every sentence b of the batch at its value for the teacher.

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

    def forward(self, left: Tensor, right: Tensor, teacher_left: Tensor, teacher_right: Tensor) -> Tensor:
        """Return the loss, a scalar."""
        with torch.no_grad():
            targets = normalize(teacher_left, dim=-1) @ normalize(teacher_right, dim=-1).T
        return (targets - normalize(left, dim=-1) @ normalize(right, dim=-1).T).square().mean()
