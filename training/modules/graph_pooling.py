"""Modules of a saved SBERT-RGCN after its transformer: the graph over word vectors, and the combined embedding.

    token_embeddings ─┬─ mean (Pooling) ────────────────────────────── u₁ ─┐
                      └─ words ─ affine, ReLU ─ layers ─ mean of nodes ─ u₂ ─┴─ LayerNorm([u₁; u₂])

Peng et al. 2021, section 3. A sentence without nodes (no parse, no word) has u₂ = 0.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from training.modules.layers import words_of
from training.modules.relational_graph import Graph, RelationalGraphLayer, relation_count
from training.modules.saved import SavedModule
from training.modules.trees import HEADS, LABELS, PLACES
from training.types import Direction

NODES = "node_embedding"
"""Key of the mean over the nodes of each sentence, (n_sentences, width)."""


class GraphPooling(SavedModule):
    """Relational graph convolutions over word vectors, and the mean of the nodes.

    Labels are counted with the one for unknown labels (`LabelNumbers`). If fewer are given, the last one stands for all
    that follow; with 1 all edges of a direction are alike. Without layers the words are taken as they are; without
    bases (`RelationalGraphLayer`) matrices are full.
    """

    config_keys: list[str] = ["token_width", "width", "labels", "layers", "bases", "dropout", "direction"]  # noqa: RUF012 - as there

    def __init__(
        self,
        token_width: int,
        labels: int,
        *,
        width: int = 256,
        layers: int = 1,
        bases: int | None = 8,
        dropout: float = 0.2,
        direction: Direction = "both",
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.token_width, self.width, self.labels = token_width, width, labels
        self.layers, self.bases, self.dropout, self.direction = layers, bases, dropout, direction
        self.words = nn.Linear(token_width, width)
        relations = relation_count(labels)
        self.graph = nn.ModuleList(RelationalGraphLayer(width, width, relations, bases) for _ in range(layers))

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add the mean over the nodes of each sentence."""
        tokens = words_of(features)
        positions, heads, labels = (features[name].to(tokens.device) for name in (PLACES, HEADS, LABELS))
        graph = Graph.of(heads, labels.clamp(max=self.labels), positions > 0, self.direction)
        sentence = graph.nodes // max(1, positions.shape[1])
        flat = sentence * tokens.shape[1] + positions.flatten().index_select(0, graph.nodes)
        states = functional.relu(self.words(tokens.flatten(0, 1).index_select(0, flat)))
        for layer in self.graph:
            states = functional.relu(layer(functional.dropout(states, self.dropout, self.training), graph))
        counts = torch.bincount(sentence, minlength=len(tokens)).clamp(min=1)[:, None]
        summed = states.new_zeros(len(tokens), self.width).index_add_(0, sentence, states)
        features[NODES] = summed / counts
        return features


class NodeCombination(SavedModule):
    """LayerNorm([mean pooling; mean of the nodes]), of these widths."""

    config_keys: list[str] = ["sentence_width", "node_width"]  # noqa: RUF012 - as in the base class

    def __init__(self, sentence_width: int, node_width: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sentence_width, self.node_width = sentence_width, node_width
        self.norm = nn.LayerNorm(sentence_width + node_width)

    def get_embedding_dimension(self) -> int:
        """Return the dimension of embeddings."""
        return self.sentence_width + self.node_width

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Replace the embedding of each sentence."""
        features["sentence_embedding"] = self.norm(torch.cat([features["sentence_embedding"], features[NODES]], dim=1))
        return features
