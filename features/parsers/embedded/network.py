"""The network: encoder, word labels, a small transformer over the nodes, and biaffine scores between nodes.

The base encoder's table of word pieces is read from its own files, and so are the layers that training starts from.

word pieces ── encoder (six layers) ── words ──┬── primary ── sense, wrapper (each given the primary)
                casing, suffix, spelling ──┘   └── nodes (word + concept + slot) ──┬── arcs   (Dozat & Manning 2017)
                                                                                    ├── roles
                                                                                    └── root
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import torch
from torch import Tensor, nn
from torch.nn import functional

from features.core.faults import ModelDamaged, NotThisModel
from features.parsers.embedded.words import CASINGS, SPELLINGS, SUFFIXES

BASE = "all-MiniLM-L6-v2"  # the encoder that the embedded parser was trained from; a model names its own

_WEIGHTS = "model.safetensors"  # of a base encoder
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


class Transform(nn.Sequential):
    """Linear layer, GELU and dropout: the input transform of each head."""

    def __init__(self, width: int, outputs: int, dropout: float) -> None:
        super().__init__(nn.Linear(width, outputs), nn.GELU(), nn.Dropout(dropout))


def attention_mask(present: Tensor) -> Tensor:
    """Return the mask of `Block` for a boolean tensor of shape (batch, length)."""
    return torch.zeros(present.shape, device=present.device).masked_fill(~present, _MASKED)[:, None, None, :]


_PLACES = 8  # places of a word's nodes that have their own vector
_HEADS = 6
_FARTHEST = 20  # distances in words between two nodes that have their own weight


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


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """Sizes that the weights depend on."""

    primaries: int  # classes of the primary label
    senses: int  # classes of the sense
    wrappers: int  # classes of the wrapper
    roles: int  # classes of the role
    concepts: int  # rows of the table of concept vectors
    width: int = 384  # width of the states of words and nodes
    node_layers: int = 2  # transformer blocks over the nodes
    dropout: float = 0.2  # dropout of the states in training; before the heads it is a quarter higher
    word_dropout: float = 0.0  # share of the word pieces, and of the spellings, whose vectors are masked in training


class TextTensors(TypedDict):
    """A batch of sentences; see `features.parsers.embedded.inputs`."""

    pieces: Tensor  # (batch, n_pieces) word pieces
    piece_mask: Tensor  # (batch, n_pieces) bool
    first: Tensor  # (batch, n_words) first piece of each word
    last: Tensor  # (batch, n_words) last piece of each word
    word_mask: Tensor  # (batch, n_words) bool
    spelling: Tensor  # (batch, n_words, 3) casing, suffix, spelling


class NodeTensors(TypedDict):
    """The nodes of a batch."""

    node_words: Tensor  # (batch, n_nodes) word of each node
    node_places: Tensor  # (batch, n_nodes) place on the word
    node_concepts: Tensor  # (batch, n_nodes) row of the table of concepts
    node_mask: Tensor  # (batch, n_nodes) bool


class Network(nn.Module):
    """All trained parameters, and the base encoder's tables."""

    piece_table: Tensor
    position_table: Tensor

    def __init__(self, shape: NetworkShape, encoder: EncoderShape) -> None:
        super().__init__()
        width = shape.width
        hidden = encoder.width
        self._word_dropout = shape.word_dropout
        # The base encoder's table of word pieces is frozen, and not part of the weights.
        self.register_buffer("piece_table", torch.empty(encoder.pieces, hidden), persistent=False)
        self.register_buffer("position_table", torch.empty(encoder.positions, hidden), persistent=False)
        self.piece_norm = nn.LayerNorm(hidden, eps=encoder.epsilon)
        self.encoder = nn.ModuleList(
            Block(hidden, heads=encoder.heads, inner=encoder.inner, normalise_first=False, epsilon=encoder.epsilon)
            for _ in range(encoder.layers)
        )
        self.layer_weights = nn.Parameter(torch.zeros(encoder.layers + 1))
        self.casing = nn.Embedding(CASINGS, 32)
        self.suffix = nn.Embedding(SUFFIXES, 64)
        self.spelling = nn.Embedding(SPELLINGS, 96)
        self.dropout = nn.Dropout(shape.dropout)
        self.word_input = nn.Linear(2 * hidden + 32 + 64 + 96, width)
        self.word_norm = nn.LayerNorm(width)
        self.word_layer = Block(width, heads=_HEADS, inner=4 * width, normalise_first=True)

        late = 1.25 * shape.dropout
        self.primary = nn.Sequential(Transform(width, width, late), nn.Linear(width, shape.primaries))
        self.primary_vectors = nn.Embedding(shape.primaries, 64)
        self.sense = nn.Sequential(Transform(width + 64, 256, late), nn.Linear(256, shape.senses))
        self.wrapper = nn.Sequential(Transform(width + 64, width, late), nn.Linear(width, shape.wrappers))

        self.concept_vectors = nn.Embedding(shape.concepts, 128)
        self.place_vectors = nn.Embedding(_PLACES, width)
        self.node_input = nn.Linear(width + 128, width)
        self.node_layers = nn.ModuleList(
            Block(width, heads=_HEADS, inner=3 * width, normalise_first=True) for _ in range(shape.node_layers)
        )
        self.node_norm = nn.LayerNorm(width)

        self.arc_source, self.arc_target = Transform(width, 256, late), Transform(width, 256, late)
        self.arc_weights = nn.Parameter(torch.randn(256, 256) * 0.02)
        self.arc_source_bias, self.arc_target_bias = nn.Linear(256, 1), nn.Linear(256, 1)
        self.distance_bias = nn.Embedding(2 * _FARTHEST + 1, 1)
        nn.init.constant_(self.distance_bias.weight, -3.0)  # few pairs of nodes are related
        self.role_source, self.role_target = Transform(width, 128, late), Transform(width, 128, late)
        self.role_weights = nn.Parameter(torch.randn(shape.roles * 128, 128) * 0.02)
        self.role_bias = nn.Linear(256, shape.roles)
        self.root = nn.Sequential(Transform(width, 128, late), nn.Linear(128, 1))

    def words(self, text: TextTensors) -> Tensor:
        """Return the states of the words, shape (batch, n_words, width)."""
        pieces = text["pieces"]
        # Pieces and spellings are masked independently, so that the network learns to do without either.
        states = self.piece_norm(self._hide(self.piece_table[pieces]) + self.position_table[: pieces.shape[1]])
        mask = attention_mask(text["piece_mask"])
        weights = self.layer_weights.softmax(0)
        mixed = weights[0] * states
        for weight, layer in zip(weights[1:], self.encoder, strict=True):
            states = layer(states, mask)
            mixed = mixed + weight * states
        first, last, spelling = text["first"], text["last"], text["spelling"]
        word_parts = [(_rows(layer, first) + _rows(layer, last)) / 2 for layer in (states, mixed)]
        spelled = (self.casing(spelling[..., 0]), self.suffix(spelling[..., 1]), self.spelling(spelling[..., 2]))
        parts = torch.cat([*word_parts, self._hide(torch.cat(spelled, -1))], -1)
        words = self.word_norm(self.word_input(self.dropout(parts)))
        return self.word_layer(words, attention_mask(text["word_mask"]))  # type: ignore[no-any-return]

    def given_primary(self, words: Tensor, primaries: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of senses and of wrappers, once the primary label of each word is known."""
        given = torch.cat([words, self.primary_vectors(primaries).to(words.dtype)], -1)
        return self.sense(given), self.wrapper(given)

    def nodes(self, words: Tensor, nodes: NodeTensors) -> Tensor:
        """Return the states of the nodes, shape (batch, n_nodes, width)."""
        states = torch.cat([_rows(words, nodes["node_words"]), self.concept_vectors(nodes["node_concepts"])], -1)
        states = self.node_input(states) + self.place_vectors(nodes["node_places"].clamp(max=_PLACES - 1))
        states = self.dropout(states)
        mask = attention_mask(nodes["node_mask"])
        for layer in self.node_layers:
            states = layer(states, mask)
        return self.node_norm(states)  # type: ignore[no-any-return]

    def arcs(self, nodes: Tensor, node_words: Tensor) -> Tensor:
        """Return the log-odds of an edge from each node to each other, shape (batch, n_nodes, n_nodes), float32."""
        source, target = self.arc_source(nodes), self.arc_target(nodes)
        scores = (source @ self.arc_weights.to(source.dtype)) @ target.transpose(1, 2)
        scores = scores + self.arc_source_bias(source) + self.arc_target_bias(target).transpose(1, 2)
        distance = (node_words[:, :, None] - node_words[:, None, :]).clamp(-_FARTHEST, _FARTHEST) + _FARTHEST
        biased: Tensor = scores.float() + self.distance_bias(distance).squeeze(-1).float()
        return biased

    def roles(self, nodes: Tensor, sentence: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """Return the scores of the roles of some edges, shape (n_edges, n_roles)."""
        left, right = self.role_source(nodes)[sentence, source], self.role_target(nodes)[sentence, target]
        weights = self.role_weights.to(left.dtype)
        crossed = (left @ weights.view(-1, 128, 128).permute(1, 0, 2).reshape(128, -1)).view(len(left), -1, 128)
        scores: Tensor = (crossed @ right[:, :, None]).squeeze(-1) + self.role_bias(torch.cat([left, right], -1))
        return scores

    def roots(self, nodes: Tensor) -> Tensor:
        """Return the score of each node as the root, shape (batch, n_nodes), float32."""
        return self.root(nodes).squeeze(-1).float()  # type: ignore[no-any-return]

    def _hide(self, vectors: Tensor) -> Tensor:
        """Return vectors, shape (batch, length, width), some of them zero while training."""
        if not self.training or not self._word_dropout:
            return vectors
        return vectors * (torch.rand(vectors.shape[:-1], device=vectors.device) >= self._word_dropout)[..., None]


def _rows(states: Tensor, positions: Tensor) -> Tensor:
    """Return states[b, positions[b, i]] for all b and i."""
    return states.gather(1, positions[..., None].expand(-1, -1, states.shape[-1]))


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
            f" give one such as {BASE!r}, by `facetflow models pull {BASE}`."
        ) from error


@contextmanager
def _base_weights(folder: Path) -> Iterator[Callable[[str], Tensor]]:
    """Yield a function that reads a parameter of an encoder by name; one saved with a head has them below `bert`.

    A file that cannot be read, or lacks a parameter, is a ModelError.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / _WEIGHTS, "pt") as weights:
            there = frozenset(weights.keys())
            yield lambda name: weights.get_tensor(name if name in there else f"bert.{name}")
    except (OSError, SafetensorError) as error:
        raise ModelDamaged(
            f"The weights {str(folder / _WEIGHTS)!r} are not those of a BERT encoder ({error}); pull it again, or give"
            " another."
        ) from error


def fill_tables(network: Network, folder: Path) -> None:
    """Fill in the parts of a network that are never trained: the encoder's tables of word pieces and positions."""
    with torch.no_grad(), _base_weights(folder) as weight:
        network.piece_table.copy_(weight("embeddings.word_embeddings.weight"))
        # Every word piece has token type 0.
        first_type = weight("embeddings.token_type_embeddings.weight")[0]
        network.position_table.copy_(weight("embeddings.position_embeddings.weight") + first_type)


def fill_layers(network: Network, folder: Path) -> None:
    """Initialise training with the encoder's own layers."""
    with torch.no_grad(), _base_weights(folder) as weight:
        for kind in ("weight", "bias"):
            getattr(network.piece_norm, kind).copy_(weight(f"embeddings.LayerNorm.{kind}"))
            for number, block in enumerate(network.encoder):
                start = f"encoder.layer.{number}"
                parts = [f"{start}.attention.self.{part}.{kind}" for part in ("query", "key", "value")]
                getattr(block.attention, kind).copy_(torch.cat([weight(part) for part in parts]))
                for ours, theirs in _SAME.items():
                    getattr(getattr(block, ours), kind).copy_(weight(f"{start}.{theirs}.{kind}"))
