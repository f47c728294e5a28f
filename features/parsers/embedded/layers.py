"""The layers of the network: the transformer block, and the small transform before each head."""

import torch
from torch import Tensor, nn
from torch.nn import functional

_MASKED = -1e4
_MULTIPLE, _LEAST_LENGTH = 8, 16  # lengths at which the fused attention is fast


class Block(nn.Module):
    """A transformer block (Vaswani et al. 2017); BERT's if it normalises after each part.

    Args:
        width: width of the states.
        heads: number of attention heads.
        inner: width of the feed-forward part.
        normalise_first: normalise the input of each part (trains faster from scratch), not its output (BERT).
        epsilon: epsilon of the normalisation.
    """

    def __init__(self, width: int, *, heads: int, inner: int, normalise_first: bool, epsilon: float = 1e-5) -> None:
        super().__init__()
        self._heads, self._normalise_first = heads, normalise_first
        self.attention = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.norm1 = nn.LayerNorm(width, eps=epsilon)
        self.norm2 = nn.LayerNorm(width, eps=epsilon)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the new states.

        Args:
            states: shape (batch, length, width).
            mask: added to the attention scores, shape (batch, 1, 1, length): 0, or very negative for padding.
        """
        if self._normalise_first:
            states = states + self._attend(self.norm1(states), mask)
            return states + self._feed(self.norm2(states))
        states = self.norm1(states + self._attend(states, mask))
        new: Tensor = self.norm2(states + self._feed(states))
        return new

    def _attend(self, states: Tensor, mask: Tensor) -> Tensor:
        batch, length, width = states.shape
        parts = self.attention(states).view(batch, length, 3, self._heads, width // self._heads)
        if self.training:
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            # The fused attention has a slow backward pass on CPUs.
            scores = query @ key.transpose(-1, -2) * (width // self._heads) ** -0.5 + mask
            mixed = scores.softmax(-1).to(value.dtype) @ value
        else:
            mixed = _fused_attention(parts, mask.to(parts.dtype))
        attended: Tensor = self.attended(mixed.transpose(1, 2).reshape(batch, length, width))
        return attended

    def _feed(self, states: Tensor) -> Tensor:
        fed: Tensor = self.outer(functional.gelu(self.inner(states)))
        return fed


def _fused_attention(parts: Tensor, mask: Tensor) -> Tensor:
    """Return the output of the attention, shape (batch, heads, length, width of a head).

    Args:
        parts: query, key and value, shape (batch, length, 3, heads, width of a head).
        mask: see `Block`.
    """
    length = parts.shape[1]
    # On a CPU a length of 15 takes two and a half times as long as one of 16.
    missing = max(_LEAST_LENGTH, -(-length // _MULTIPLE) * _MULTIPLE) - length
    if missing and parts.device.type == "cpu":
        parts = functional.pad(parts, (0, 0, 0, 0, 0, 0, 0, missing))
        mask = functional.pad(mask, (0, missing), value=_MASKED)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)[:, :, :length]


class Transform(nn.Sequential):
    """Linear layer, GELU and dropout: the input transform of each head."""

    def __init__(self, width: int, outputs: int, dropout: float) -> None:
        super().__init__(nn.Linear(width, outputs), nn.GELU(), nn.Dropout(dropout))


def attention_mask(present: Tensor) -> Tensor:
    """Return the mask of `Block` for a boolean tensor of shape (batch, length)."""
    return torch.zeros(present.shape, device=present.device).masked_fill(~present, _MASKED)[:, None, None, :]
