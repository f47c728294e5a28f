"""Module of a saved PAS-SBERT after its pooling: the weighted sum of predicate-argument spans.

    token_embeddings ─┬─ mean (Pooling) ─────────────────────────────────────── ū ─┐
                      └─ mean of each span, h₁ … h_N ─ α = softmax(W h) ─ Σ αᵢ hᵢ ─┴─ [ū; Σ αᵢ hᵢ]

Peng et al. 2022, section 3, equations 1 to 3. The softmax of their W h + b is the same for any b, so there is no bias.
A sentence without spans has the mean of all its pieces in place of the sum.
"""

from typing import Any, get_args

import torch
from torch import Tensor, nn

from training.modules.layers import words_of
from training.modules.saved import SavedModule
from training.modules.spans import NUMBERS, ROLES, SPAN_PLACES
from training.types import SpanWeights

WEIGHTS = "span_weights"
"""Key of the weights of the spans, (n_sentences, n_spans), in [0, 1]: 0 for padding; those of a sentence that has any
sum to 1."""


class SpanPooling(SavedModule):
    """The mean of each span, and the weighted sum of the spans of a sentence.

    Weights are softmax(W h) if `learnt`, softmax(W h + b_role) `by_role`, 1 / N if `equal`. The output of `Pooling` is
    concatenated before the sum if `pooled`. Roles are counted with the one for unknown roles (`LabelNumbers`).
    """

    def __init__(
        self, token_width: int, sentence_width: int, roles: int, *, weights: SpanWeights = "learnt", pooled: bool = True
    ) -> None:
        super().__init__()
        if weights not in get_args(SpanWeights):
            raise ValueError(f"weights of spans are {', '.join(get_args(SpanWeights))}, not {weights!r}")
        self.token_width, self.sentence_width, self.roles = token_width, sentence_width, roles
        self.weights, self.pooled = weights, pooled
        self.attention = None if weights == "equal" else nn.Linear(token_width, 1, bias=False)
        # No role is preferred at first; number 0 is padding.
        self.of_role = nn.Parameter(torch.zeros(roles + 1)) if weights == "by_role" else None

    def get_embedding_dimension(self) -> int:
        """Return the dimension of embeddings."""
        return self.token_width + (self.sentence_width if self.pooled else 0)

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Replace the embedding of each sentence, and add the weights of its spans."""
        tokens = words_of(features)
        numbers, positions, roles = (features[name].to(tokens.device) for name in (NUMBERS, SPAN_PLACES, ROLES))
        # Row 0 is the whole sentence; padding also writes to it, so the mask overwrites it.
        members = tokens.new_zeros(len(tokens), roles.shape[1] + 1, tokens.shape[1])
        members[torch.arange(len(tokens), device=tokens.device)[:, None], numbers, positions] = 1
        members[:, 0] = features["attention_mask"]
        means = torch.bmm(members, tokens) / members.sum(dim=2, keepdim=True).clamp(min=1)
        weights = torch.softmax(self._scores(means, roles), dim=1)
        summed = torch.bmm(weights[:, None], means)[:, 0]
        features[WEIGHTS] = weights[:, 1:]
        before = [features["sentence_embedding"]] if self.pooled else []
        features["sentence_embedding"] = torch.cat([*before, summed], dim=1)
        return features

    def _scores(self, means: Tensor, roles: Tensor) -> Tensor:
        """Return the logits of the weights, (n, 1 + n_spans): the whole sentence, then its spans.

        Means, (n, 1 + n_spans, d), are in the same order; roles of the spans, (n, n_spans), are 0 for padding.
        """
        spans = means[:, 1:]
        scores = spans.new_zeros(spans.shape[:2]) if self.attention is None else self.attention(spans)[:, :, 0]
        if self.of_role is not None:
            scores = scores + self.of_role[roles.clamp(max=self.roles)]
        scores = scores.masked_fill(roles == 0, -torch.inf)
        # The whole sentence has all the weight if there is no span, otherwise none.
        some = (roles > 0).any(dim=1, keepdim=True)
        whole = torch.zeros_like(some, dtype=scores.dtype).masked_fill(some, -torch.inf)
        return torch.cat([whole, scores], dim=1)
