"""BERT (Devlin et al. 2019) without transformers, whose import takes longer than reading a few sentences.

Parameters are read from an encoder's own files. Imports torch: load it only with a model.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from features.core.faults import ModelDamaged, NotThisModel

WEIGHTS = "model.safetensors"
_AN_ENCODER = "all-MiniLM-L6-v2"
_SAME = {
    "attended": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm2": "output.LayerNorm",
}
"""Layers of a `Block` → names in BERT."""
_MASKED = -1e4
_MULTIPLE, _LEAST_LENGTH = 8, 16  # lengths at which the fused attention is fast


class Block(nn.Module):
    """A transformer block (Vaswani et al. 2017); BERT's if it normalises after each part.

    To normalise the input of each part first, and not its output (BERT), trains faster from scratch.
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
        """Return the new states, (batch, length, width).

        The mask, (batch, 1, 1, length), is added to the attention scores: 0, or very negative for padding.
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
    """Return the output of the attention, (batch, heads, length, width of a head).

    Query, key and value in `parts` have the shape (batch, length, 3, heads, width of a head).
    """
    length = parts.shape[1]
    # On a CPU a length of 15 takes two and a half times as long as one of 16.
    missing = max(_LEAST_LENGTH, -(-length // _MULTIPLE) * _MULTIPLE) - length
    if missing and parts.device.type == "cpu":
        parts = functional.pad(parts, (0, 0, 0, 0, 0, 0, 0, missing))
        mask = functional.pad(mask, (0, missing), value=_MASKED)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)[:, :, :length]


def attention_mask(present: Tensor) -> Tensor:
    """Return the mask of `Block` for a boolean tensor of shape (batch, length)."""
    return torch.zeros(present.shape, device=present.device).masked_fill(~present, _MASKED)[:, None, None, :]


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder."""

    pieces: int  # rows of its table of word pieces
    positions: int  # the longest sequence that it reads
    width: int  # width of its states
    layers: int  # number of layers
    heads: int  # number of attention heads
    inner: int  # width of the feed-forward part
    epsilon: float  # epsilon of the normalisation


class Bert(nn.Module):
    """The encoder of BERT: tables of word pieces and positions, and layers; all empty until they are filled."""

    piece_table: Tensor
    position_table: Tensor

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        # Neither table is trained, nor part of the weights.
        self.register_buffer("piece_table", torch.empty(shape.pieces, shape.width), persistent=False)
        self.register_buffer("position_table", torch.empty(shape.positions, shape.width), persistent=False)
        self.piece_norm = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.encoder = nn.ModuleList(
            Block(shape.width, heads=shape.heads, inner=shape.inner, normalise_first=False, epsilon=shape.epsilon)
            for _ in range(shape.layers)
        )

    def forward(self, pieces: Tensor, present: Tensor) -> Tensor:
        """Return the states of word pieces, (batch, length, width).

        Args:
            pieces: (batch, length) indices of word pieces, int64.
            present: (batch, length) bool, False for padding.
        """
        states: Tensor = self.piece_norm(self.piece_table[pieces] + self.position_table[: pieces.shape[1]])
        mask = attention_mask(present)
        for layer in self.encoder:
            states = layer(states, mask)
        return states

    def fill_tables(self, folder: Path) -> None:
        """Fill in the tables of word pieces and positions from an encoder's folder."""
        with torch.no_grad(), _base_weights(folder) as weight:
            self.piece_table.copy_(weight("embeddings.word_embeddings.weight"))
            # Every word piece has token type 0.
            first_type = weight("embeddings.token_type_embeddings.weight")[0]
            self.position_table.copy_(weight("embeddings.position_embeddings.weight") + first_type)

    def fill_layers(self, folder: Path) -> None:
        """Fill in the layers from an encoder's folder."""
        with torch.no_grad(), _base_weights(folder) as weight:
            for kind in ("weight", "bias"):
                getattr(self.piece_norm, kind).copy_(weight(f"embeddings.LayerNorm.{kind}"))
                for number, block in enumerate(self.encoder):
                    start = f"encoder.layer.{number}"
                    parts = [f"{start}.attention.self.{part}.{kind}" for part in ("query", "key", "value")]
                    getattr(block.attention, kind).copy_(torch.cat([weight(part) for part in parts]))
                    for ours, theirs in _SAME.items():
                        getattr(getattr(block, ours), kind).copy_(weight(f"{start}.{theirs}.{kind}"))


def read_shape(folder: Path) -> EncoderShape:
    """Read the sizes of a BERT encoder from its configuration; a ModelError if the folder holds none."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        return EncoderShape(
            pieces=config["vocab_size"],
            positions=config["max_position_embeddings"],
            width=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            inner=config["intermediate_size"],
            epsilon=config["layer_norm_eps"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotThisModel(
            f"The folder {str(folder)!r} holds no BERT encoder ({error!r} in {path.name});"
            f" give one such as {_AN_ENCODER!r}, by `facetflow models pull {_AN_ENCODER}`."
        ) from error


@contextmanager
def _base_weights(folder: Path) -> Iterator[Callable[[str], Tensor]]:
    """Yield a function that reads a parameter of an encoder by name; one saved with a head has them below `bert`.

    A file that cannot be read, or lacks a parameter, is a ModelError.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / WEIGHTS, "pt") as weights:
            there = frozenset(weights.keys())
            yield lambda name: weights.get_tensor(name if name in there else f"bert.{name}").float()
    except (OSError, SafetensorError) as error:
        raise ModelDamaged(
            f"The weights {str(folder / WEIGHTS)!r} are not those of a BERT encoder ({error}); pull it again, or give"
            " another."
        ) from error
