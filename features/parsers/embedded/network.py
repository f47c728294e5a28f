"""The network: encoder, word labels, a small transformer over the nodes, and biaffine scores between nodes.

The base encoder's table of word pieces is read from its own files, and so are the layers that training starts from.

word pieces ── encoder (six layers) ── words ──┬── primary ── sense, wrapper (each given the primary)
                casing, suffix, spelling ──┘   └── nodes (word + concept + slot) ──┬── arcs   (Dozat & Manning 2017)
                                                                                    ├── roles
                                                                                    └── root
"""

from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor, nn

from features.parsers.bert import Bert, Block, EncoderShape, attention_mask
from features.parsers.embedded.words import CASINGS, SPELLINGS, SUFFIXES


class Transform(nn.Sequential):
    """Linear layer, GELU and dropout: the input transform of each head."""

    def __init__(self, width: int, outputs: int, dropout: float) -> None:
        super().__init__(nn.Linear(width, outputs), nn.GELU(), nn.Dropout(dropout))


_PLACES = 8  # places of a word's nodes that have their own vector
_HEADS = 6
_FARTHEST = 20  # distances in words between two nodes that have their own weight


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


class Network(Bert):
    """All trained parameters, and the base encoder's tables."""

    def __init__(self, shape: NetworkShape, encoder: EncoderShape) -> None:
        super().__init__(encoder)
        width = shape.width
        hidden = encoder.width
        self._word_dropout = shape.word_dropout
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
