"""The losses of the network's parts, and their weights.

    loss = primary + 0.7 wrapper + 0.4 sense + arcs + 0.7 roles + 0.3 root

| part | loss | over |
|---|---|---|
| primary, wrapper | cross-entropy; primary with smoothed labels | words |
| sense, roles, root | cross-entropy | concepts, edges, sentences |
| arcs | binary cross-entropy of every pair of nodes | summed, divided by nodes |

Arcs, roles and root are computed from the gold nodes (teacher forcing); a share of the labels is hidden.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from features.parsers.embedded.network import Network, NodeTensors, TextTensors
from training.parsers.amr.examples import IGNORED, Gold

PARTS = ("primary", "wrapper", "sense", "arcs", "roles", "root")
WEIGHTS = (1.0, 0.7, 0.4, 1.0, 0.7, 0.3)
_SMOOTHING = 0.03


class Scores(NamedTuple):
    """The scores of the network for a batch with known labels."""

    primaries: Tensor
    senses: Tensor
    wrappers: Tensor
    arcs: Tensor
    roles: Tensor
    roots: Tensor


def score(network: Network, text: TextTensors, nodes: NodeTensors, gold: Gold, concept_dropout: float = 0.0) -> Scores:
    """Return the scores of a batch, each step given the gold labels of the previous one."""
    words = network.words(text)
    primaries = network.primary(words)
    senses, wrappers = network.given_primary(words, _hide(gold["primaries"].clamp(min=0), concept_dropout))
    concepts = _hide(nodes["node_concepts"], concept_dropout)
    states = network.nodes(words, {**nodes, "node_concepts": concepts})
    arcs = network.arcs(states, nodes["node_words"])
    sentence, source, target, _ = gold["edges"].unbind(1)
    roles = network.roles(states, sentence, source, target)
    roots = network.roots(states).masked_fill(~nodes["node_mask"], -1e4)
    return Scores(primaries.float(), senses.float(), wrappers.float(), arcs, roles.float(), roots)


def losses(scores: Scores, nodes: NodeTensors, gold: Gold) -> Tensor:
    """Return the losses of the parts, in the order of `PARTS`, shape (6,)."""
    mask = nodes["node_mask"]
    pairs = mask[:, :, None] & mask[:, None, :]
    arcs = functional.binary_cross_entropy_with_logits(scores.arcs[pairs], gold["arcs"][pairs], reduction="sum")
    return torch.stack(
        [
            _cross_entropy(scores.primaries, gold["primaries"], smoothing=_SMOOTHING),
            _cross_entropy(scores.wrappers, gold["wrappers"]),
            _cross_entropy(scores.senses, gold["senses"]),
            arcs / mask.sum(),
            _cross_entropy(scores.roles, gold["edges"][:, 3]),
            _cross_entropy(scores.roots, gold["root"]),
        ]
    )


def counts(nodes: NodeTensors, gold: Gold) -> Tensor:
    """Return how many words, nodes, edges or sentences the loss of each part is the mean over, shape (6,)."""
    classes = [gold["primaries"], gold["wrappers"], gold["senses"], gold["edges"][:, 3], gold["root"]]
    primary, wrapper, sense, roles, root = ((labels != IGNORED).sum() for labels in classes)
    return torch.stack([primary, wrapper, sense, nodes["node_mask"].sum(), roles, root])


def correct(scores: Scores, nodes: NodeTensors, gold: Gold) -> Tensor:
    """Return the number of correct and of all predictions of each part, shape (6, 2).

    For arcs, it is twice the hits, and the predicted plus the gold arcs: their quotient is F1.
    """
    mask = nodes["node_mask"]
    pairs = mask[:, :, None] & mask[:, None, :]
    predicted, right = (scores.arcs > 0) & pairs, gold["arcs"] > 0
    rows = [
        _accuracy(scores.primaries, gold["primaries"]),
        _accuracy(scores.wrappers, gold["wrappers"]),
        _accuracy(scores.senses, gold["senses"]),
        torch.stack([2 * (predicted & right).sum(), predicted.sum() + right.sum()]),
        _accuracy(scores.roles, gold["edges"][:, 3]),
        _accuracy(scores.roots, gold["root"]),
    ]
    return torch.stack(rows).double()


def _cross_entropy(scores: Tensor, classes: Tensor, smoothing: float = 0.0) -> Tensor:
    chosen = classes != IGNORED
    if not chosen.any():
        return scores.sum() * 0.0
    return functional.cross_entropy(scores[chosen], classes[chosen], label_smoothing=smoothing)


def _accuracy(scores: Tensor, classes: Tensor) -> Tensor:
    chosen = classes != IGNORED
    return torch.stack([(scores.argmax(-1) == classes)[chosen].sum(), chosen.sum()])


def _hide(classes: Tensor, share: float) -> Tensor:
    return torch.where(torch.rand(classes.shape, device=classes.device) < share, 0, classes) if share else classes
