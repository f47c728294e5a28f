"""Relational graph convolution over batches of dependency trees (Peng et al. 2021, after Schlichtkrull et al. 2018).

    tree       boy <─nsubj─ sleeps ─advmod─> well
    edges      sleeps ─nsubj─> boy, boy ─nsubj⁻¹─> sleeps, …, and boy ─self─> boy of every word
    a layer    hᵢ' = Σ over edges j ─r─> i of (1 / number of edges into i) W_r hⱼ

All trees of a batch are one graph, and a layer is one gather, one product and one scatter, for all sentences and
relations at once. The product depends on the form of the W_r:

    bases      W_r = Σ_b a_rb V_b: neighbours are summed by basis first, then (nodes, bases · d) @ (bases · d, width)
    full       edges are grouped in blocks of one relation: (blocks, 16, d) @ (blocks, d, width)

Differences from the papers: the self-loop is one more relation and counts in the number of edges into i, whereas
Schlichtkrull et al. add W_0 hᵢ undivided; the message of a word to itself has weight 1 / (degree + 1). Peng et al. have
nodes of width 512, a matrix for each relation, and tune the whole BERT; an encoder of kind `rgcn` has width 256, 8
bases, and the last two layers of a MiniLM, unless its settings say otherwise (docs/concepts/dependency_trees.md).
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from training.types import Direction

BLOCK = 16
"""Edges of one relation that are multiplied at once; the last block of a relation is padded with zeros."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The trees of a batch."""

    nodes: Tensor  # positions of the words in the flattened batch of words, (n_nodes,), int64
    sources: Tensor  # node where each edge starts, (n_edges,), int64
    targets: Tensor  # node where each edge ends, (n_edges,), int64
    relations: Tensor  # relation of each edge, (n_edges,), int64, from 0 to below `relation_count`

    @classmethod
    def of(cls, heads: Tensor, labels: Tensor, known: Tensor, direction: Direction = "both") -> Self:
        """Make the graph of a batch of trees: every tree edge, in both directions or one, and each word's self-loop.

        All are (n_sentences, n_words). Heads and labels, int64, count from 1, and 0 is padding; a root is its own head,
        and this edge is only its self-loop. Words that are not `known`, padding and truncated ones, are no nodes, and
        edges to and from them are left out. The direction does not change the numbers of relations.
        """
        sentences, words = heads.shape
        count = sentences * words
        nodes = known.flatten().nonzero()[:, 0]
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


def relation_count(labels: int) -> int:
    """Return the number of relations for a number of labels: each in both directions, and the self-loop."""
    return 2 * labels + 1


class RelationalGraphLayer(nn.Module):
    """One layer, without what follows it, such as ReLU.

    Relation matrices are mixed from a number of bases; without, each relation (`relation_count`) has its own.
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
