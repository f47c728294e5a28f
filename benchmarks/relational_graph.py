"""Relational graph convolution against a loop over relations: python benchmarks/relational_graph.py [--threads 1].

Forward and backward over a batch of trees of 17 words with as many labels as spaCy's English pipelines, distributed by
Zipf's law; processor time, so that other load on the machine matters little. Ratios are to the first loop's time.
"""

import argparse
import time

import torch
from torch import nn

from training.modules.graph_pooling import Graph, RelationalGraphLayer

LABELS = 45
SENTENCES, WORDS = 32, 17


class LoopLayer(nn.Module):
    """The usual implementation: a matrix and a product for each relation.

    Args:
        width: of the nodes.
        relations: number of relations.
        unbound: unbind the matrices once; otherwise each iteration creates a gradient of all matrices.
    """

    def __init__(self, width: int, relations: int, *, unbound: bool) -> None:
        super().__init__()
        self.matrices = nn.Parameter(torch.randn(relations, width, width) / width**0.5)
        self.unbound = unbound

    def forward(self, states: torch.Tensor, graph: Graph) -> torch.Tensor:
        """Return the nodes after the layer."""
        shares = graph.shares()
        after = torch.zeros_like(states)
        matrices = self.matrices.unbind() if self.unbound else self.matrices
        for relation in range(len(matrices)):
            edges = (graph.relations == relation).nonzero()[:, 0]
            said = states[graph.sources[edges]] @ matrices[relation] * shares[edges, None]
            after = after.index_add(0, graph.targets[edges], said)
        return after


def make_batch(seed: int = 0) -> Graph:
    """Return trees whose labels are as skewed as in text (Zipf)."""
    random = torch.Generator().manual_seed(seed)
    heads = torch.stack(
        [torch.randint(1, max(2, word + 1), (SENTENCES,), generator=random) for word in range(WORDS)], 1
    )
    frequencies = 1 / torch.arange(1, LABELS + 1)
    labels = torch.multinomial(frequencies, SENTENCES * WORDS, replacement=True, generator=random).view(heads.shape) + 1
    return Graph.of(heads, labels, torch.ones_like(heads, dtype=torch.bool))


def seconds(layer: nn.Module, states: torch.Tensor, graph: Graph, times: int, *, step: bool) -> float:
    """Return the processor time of forward and backward, and of a step of Adam if `step`."""
    optimizer = torch.optim.Adam(layer.parameters(), fused=True)
    for turn in range(times + 2):
        if turn == 2:
            begun = time.process_time()
        optimizer.zero_grad()
        layer(states, graph).square().sum().backward()
        if step:
            optimizer.step()
    return (time.process_time() - begun) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--times", type=int, default=20)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    graph, relations = make_batch(), 2 * LABELS + 1
    print(f"{len(graph.nodes)} nodes, {len(graph.sources)} edges, {relations} relations, {arguments.threads} threads\n")
    print(f"{'width':>5} {'layer':<14} {'parameters':>11} {'ms':>8} {'with Adam':>10} {'ratio':>6} {'with Adam':>10}")
    for width in (128, 256, 512):
        states = torch.randn(len(graph.nodes), width, requires_grad=True)
        layers = {
            "loop": LoopLayer(width, relations, unbound=False),
            "loop, unbound": LoopLayer(width, relations, unbound=True),
            "full": RelationalGraphLayer(width, width, relations, None),
            "4 bases": RelationalGraphLayer(width, width, relations, 4),
            "8 bases": RelationalGraphLayer(width, width, relations, 8),
        }
        found = {
            name: [seconds(layer, states, graph, arguments.times, step=step) for step in (False, True)]
            for name, layer in layers.items()
        }
        for name, (plain, step) in found.items():
            count = sum(each.numel() for each in layers[name].parameters())
            ratios = f"{found['loop'][0] / plain:>6.1f} {found['loop'][1] / step:>10.1f}"
            print(f"{width:>5} {name:<14} {count:>11,} {1000 * plain:>8.1f} {1000 * step:>10.1f} {ratios}", flush=True)


if __name__ == "__main__":
    main()
