"""Modules of a saved SBERT-RGCN after its transformer: the graph over word vectors, and the combined embedding.

    token_embeddings ─┬─ mean (Pooling) ────────────────────────────── u₁ ─┐
                      └─ words ─ affine, ReLU ─ layers ─ mean of nodes ─ u₂ ─┴─ LayerNorm([u₁; u₂])

Peng et al. 2021, section 3. A sentence without nodes (no parse, no word) has u₂ = 0.

The layers are relational graph convolutions over batches of trees (after Schlichtkrull et al. 2018):

    tree       boy <─nsubj─ sleeps ─advmod─> well
    edges      sleeps ─nsubj─> boy, boy ─nsubj⁻¹─> sleeps, …, and boy ─self─> boy of every word
    a layer    hᵢ' = Σ over edges j ─r─> i of (1 / number of edges into i) W_r hⱼ

All trees of a batch are one graph, and a layer is one gather, one product and one scatter, for all sentences and
relations at once. The product depends on the form of the W_r:

    bases      W_r = Σ_b a_rb V_b: neighbours are summed by basis first, then (nodes, bases · d) @ (bases · d, width)
    full       edges are grouped in blocks of one relation: (blocks, 16, d) @ (blocks, d, width)

Differences from the papers: the self-loop is one more relation and counts in the number of edges into i, whereas
Schlichtkrull et al. add W_0 hᵢ undivided; the message of a word to itself has weight 1 / (degree + 1). Those of the
settings are in docs/concepts/dependency_trees.md.
"""

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.modules.layers import words_of
from training.modules.saved import SavedModule
from training.modules.trees import HEADS, LABELS, PLACES
from training.types import Direction

NODES = "node_embedding"
"""Key of the mean over the nodes of each sentence, (n_sentences, width)."""
BLOCK = 16
"""Edges of one relation that are multiplied at once; the last block of a relation is padded with zeros."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The trees of a batch."""

    nodes: Tensor  # positions of the words in the flattened batch of words, (n_nodes,), int64
    sources: Tensor  # node where each edge starts, (n_edges,), int64
    targets: Tensor  # node where each edge ends, (n_edges,), int64
    relations: Tensor  # relation of each edge, (n_edges,), int64: 0 of a self-loop, 2l - 1 and 2l of label l

    @classmethod
    def of(cls, heads: Tensor, labels: Tensor, present: Tensor, direction: Direction = "both") -> Self:
        """Make the graph of a batch of trees: every tree edge, in both directions or one, and each word's self-loop.

        All are (n_sentences, n_words). Heads and labels, int64, count from 1, and 0 is padding; a root is its own head,
        and this edge is only its self-loop. Words that are not `present`, padding and truncated ones, are no nodes, and
        edges to and from them are left out. The direction does not change the numbers of relations.
        """
        sentences, words = heads.shape
        count = sentences * words
        nodes = present.flatten().nonzero()[:, 0]
        node_of = torch.full((count,), -1, dtype=torch.int64, device=heads.device)
        node_of[nodes] = torch.arange(len(nodes), device=heads.device)
        first = torch.arange(sentences, device=heads.device)[:, None] * words
        head = node_of[(first + (heads - 1).clamp(min=0)).flatten()[nodes]]
        child = torch.arange(len(nodes), device=heads.device)
        edge = (head >= 0) & (head != child) & (heads.flatten()[nodes] > 0)
        label = labels.flatten()[nodes[edge]]
        down = (head[edge], child[edge], 2 * label - 1)
        up = (child[edge], head[edge], 2 * label)
        loops = (child, child, torch.zeros_like(child))
        parts = {"both": (down, up, loops), "down": (down, loops), "up": (up, loops)}[direction]
        sources, targets, relations = (torch.cat(same) for same in zip(*parts, strict=True))
        return cls(nodes, sources, targets, relations)

    def shares(self) -> Tensor:
        """Return 1 / number of edges into the target of each edge, over all relations, float32, (n_edges,)."""
        counts = torch.bincount(self.targets, minlength=len(self.nodes))
        return 1 / counts[self.targets].float()


class RelationalGraphLayer(nn.Module):
    """One layer, without what follows it, such as ReLU.

    Relation matrices are mixed from a number of bases; without, each relation has its own.
    """

    def __init__(self, width_in: int, width_out: int, relations: int, bases: int | None) -> None:
        super().__init__()
        self.bases = bases
        self.matrices = nn.Parameter(torch.empty(relations if bases is None else bases, width_in, width_out))
        self.mixture = None if bases is None else nn.Parameter(torch.empty(relations, bases))
        bound = (3 / width_in) ** 0.5  # a word keeps its length, whatever the number of bases
        nn.init.uniform_(self.matrices, -bound, bound)
        if self.mixture is not None:
            nn.init.normal_(self.mixture, std=self.mixture.shape[1] ** -0.5)

    def forward(self, states: Tensor, graph: Graph) -> Tensor:
        """Return the nodes after the layer, (n_nodes, width_out), from those before, (n_nodes, width_in)."""
        shares = graph.shares().to(states.dtype)
        if self.mixture is None:
            return self._by_blocks(states, graph, shares)
        # Under autocast the parameters keep their dtype, which differs from that of the states.
        weights = self.mixture.index_select(0, graph.relations).to(states.dtype) * shares[:, None]
        gathered = (weights[:, :, None] * states.index_select(0, graph.sources)[:, None]).flatten(1)
        summed = states.new_zeros(len(states), gathered.shape[1]).index_add_(0, graph.targets, gathered)
        return summed @ self.matrices.flatten(0, 1)

    def _by_blocks(self, states: Tensor, graph: Graph, shares: Tensor) -> Tensor:
        relations, order = graph.relations.sort(stable=True)
        counts = torch.bincount(relations, minlength=len(self.matrices))
        blocks = (counts + BLOCK - 1) // BLOCK
        # Place of an edge: start of the blocks of its relation, plus the number of earlier edges of its relation.
        begins = (blocks.cumsum(0) - blocks) * BLOCK - (counts.cumsum(0) - counts)
        positions = begins[relations] + torch.arange(len(relations), device=states.device)
        relation_of = torch.repeat_interleave(torch.arange(len(blocks), device=states.device), blocks)
        filled = states.new_zeros(len(relation_of) * BLOCK, states.shape[1])
        filled = filled.index_copy(0, positions, states.index_select(0, graph.sources[order]) * shares[order, None])
        matrices = self.matrices.index_select(0, relation_of)
        messages = torch.bmm(filled.view(len(relation_of), BLOCK, states.shape[1]), matrices).flatten(0, 1)
        after = messages.new_zeros(len(states), messages.shape[1])
        return after.index_add_(0, graph.targets[order], messages.index_select(0, positions))


class GraphPooling(SavedModule):
    """Relational graph convolutions over word vectors, and the mean of the nodes.

    Labels are counted with the one for unknown labels (`LabelNumbers`). If fewer are given, the last one stands for all
    that follow; with 1 all edges of a direction are alike. Without layers the nodes are the words
    after affine and ReLU; without bases (`RelationalGraphLayer`) matrices are full.
    """

    def __init__(
        self,
        token_width: int,
        *,
        width: int = 256,
        labels: int,
        layers: int = 1,
        bases: int | None = 8,
        dropout: float = 0.2,
        direction: Direction = "both",
    ) -> None:
        super().__init__()
        self.token_width, self.width, self.labels = token_width, width, labels
        self.layers, self.bases, self.dropout, self.direction = layers, bases, dropout, direction
        self.words = nn.Linear(token_width, width)
        relations = 2 * labels + 1  # each label in both directions, and the self-loop
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

    def __init__(self, sentence_width: int, node_width: int) -> None:
        super().__init__()
        self.sentence_width, self.node_width = sentence_width, node_width
        self.norm = nn.LayerNorm(sentence_width + node_width)

    def get_embedding_dimension(self) -> int:
        """Return the dimension of embeddings."""
        return self.sentence_width + self.node_width

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Replace the embedding of each sentence."""
        features["sentence_embedding"] = self.norm(torch.cat([features["sentence_embedding"], features[NODES]], dim=1))
        return features
