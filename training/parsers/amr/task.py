"""The training task of the AMR parser: batches of sentences, the losses of its parts, accuracies on dev.

    loss = primary + 0.7 wrapper + 0.4 sense + arcs + 0.7 roles + 0.3 root

| part | loss | over |
|---|---|---|
| primary, wrapper | cross-entropy; primary with smoothed labels | words |
| sense, roles, root | cross-entropy | concepts, edges, sentences |
| arcs | binary cross-entropy of every pair of nodes | summed, divided by nodes |

Arcs, roles and root are computed from the gold nodes (teacher forcing); a share of the labels is hidden.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from features.parsers.embedded.network import Network, NodeTensors, TextTensors
from training.loop import together
from training.loop.batches import epoch_batches
from training.loop.machine import Machine
from training.loop.task import Group, Judgement
from training.parsers.amr.preparing import IGNORED, Example, Gold, collate
from training.parsers.amr.settings import AmrParserSettings

_PARTS = {"primary": 1.0, "wrapper": 0.7, "sense": 0.4, "arcs": 1.0, "roles": 0.7, "root": 0.3}  # and their weights
_SMOOTHING = 0.03
_DEV_BATCH = 64


class AmrParserTask:
    """Train the network, with the layers of the base encoder filled in, on examples."""

    unit = "sentences"

    def __init__(
        self,
        network: Network,
        train: Sequence[Example],
        dev: Sequence[Example],
        settings: AmrParserSettings,
        machine: Machine,
    ) -> None:
        self.network, self._train, self._settings, self._machine = network, train, settings, machine
        self._dev = dev[:: -(-len(dev) // settings.dev_examples)]
        learnt = {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
        encoder = set(network.encoder.parameters()) | set(network.piece_norm.parameters())
        factor = settings.head_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [
            Group({name: weight for name, weight in learnt.items() if weight not in encoder}, factor),
            Group({name: weight for name, weight in learnt.items() if weight in encoder}),
        ]

    def batches(self, epoch: int) -> list[list[int]]:
        """Return the batches of an epoch, each the positions of its sentences, as often as their shares say."""
        loop = self._settings.loop
        random = np.random.default_rng((loop.seed, epoch, 1))  # independent of the order
        shares, lengths = np.array([(example.share, len(example.text.pieces)) for example in self._train]).T
        times = np.floor(shares + random.random(len(shares))).astype(int)
        drawn = np.repeat(np.arange(len(shares)), times)
        alone, longest = np.arange(len(drawn)), lengths[drawn].astype(np.int64)
        order = epoch_batches(alone, longest, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
        return [drawn[batch].tolist() for batch in order]

    def train(self) -> None:
        """Switch on dropout."""
        self.network.train()

    def losses(self, batch: Sequence[int]) -> dict[str, Tensor]:
        """Return the weighted sum and the losses of the parts; each process computes its share of the sentences."""
        mine = together.share(batch)
        # A process without a share takes a sentence of weight zero: all processes must communicate.
        examples = [self._train[position] for position in mine or batch[:1]]
        text, nodes, gold = collate(examples, self._machine.device)
        with self._autocast():
            scored = _score(self.network, text, nodes, gold, self._settings.concept_dropout)
        losses, counts = _losses(scored, nodes["node_mask"].sum())
        parts = together.over_all(losses, counts * bool(len(mine)))
        loss = (parts * parts.new_tensor(tuple(_PARTS.values()))).sum()
        return {"loss": loss, **dict(zip(_PARTS, parts.unbind(), strict=True))}

    @torch.no_grad()
    def judge(self) -> Judgement:
        """Return the accuracy of each part on dev (F1 for arcs), and their mean."""
        self.network.eval()
        counted = torch.zeros(len(_PARTS), 2, dtype=torch.float64)
        order = sorted(range(len(self._dev)), key=lambda position: len(self._dev[position].text.pieces))
        with self._autocast():
            for start in range(0, len(order), _DEV_BATCH):
                examples = [self._dev[position] for position in order[start : start + _DEV_BATCH]]
                text, nodes, gold = collate(examples, self._machine.device)
                counted += _correct(_score(self.network, text, nodes, gold)).cpu()
        accuracies = (counted[:, 0] / counted[:, 1].clamp(min=1)).tolist()
        mean = sum(accuracies) / len(accuracies)
        return Judgement({"mean": mean, **dict(zip(_PARTS, accuracies, strict=True))}, value=mean)

    def _autocast(self) -> AbstractContextManager[None]:
        precision = self._machine.precision
        return torch.autocast(self._machine.device.type, precision, enabled=precision != torch.float32)


Parts = Sequence[tuple[Tensor, Tensor]]
"""Scores and classes of each part, in the order of `_PARTS`."""


def _score(network: Network, text: TextTensors, nodes: NodeTensors, gold: Gold, concept_dropout: float = 0.0) -> Parts:
    """Return the parts of a batch, each step given the gold labels of the previous one; of arcs, all pairs of nodes."""
    words = network.words(text)
    primaries = network.primary(words)
    senses, wrappers = network.given_primary(words, _hide(gold["primaries"].clamp(min=0), concept_dropout))
    concepts = _hide(nodes["node_concepts"], concept_dropout)
    states = network.nodes(words, {**nodes, "node_concepts": concepts})
    arcs = network.arcs(states, nodes["node_words"])
    sentence, source, target, role = gold["edges"].unbind(1)
    roles = network.roles(states, sentence, source, target)
    mask = nodes["node_mask"]
    roots = network.roots(states).masked_fill(~mask, -1e4)
    pairs = mask[:, :, None] & mask[:, None, :]
    return [
        (primaries.float(), gold["primaries"]),
        (wrappers.float(), gold["wrappers"]),
        (senses.float(), gold["senses"]),
        (arcs[pairs], gold["arcs"][pairs]),
        (roles.float(), role),
        (roots.float(), gold["root"]),
    ]


def _losses(parts: Parts, n_nodes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the losses of the parts, and the number of words, nodes, edges or sentences that each is a mean over."""
    losses, counts = [], []
    for name, (scores, classes) in zip(_PARTS, parts, strict=True):
        if name == "arcs":
            losses.append(functional.binary_cross_entropy_with_logits(scores, classes, reduction="sum") / n_nodes)
            counts.append(n_nodes)
        else:
            smoothing, chosen = _SMOOTHING if name == "primary" else 0.0, classes != IGNORED
            loss = functional.cross_entropy(scores[chosen], classes[chosen], label_smoothing=smoothing)
            losses.append(loss if chosen.any() else scores.sum() * 0.0)
            counts.append(chosen.sum())
    return torch.stack(losses), torch.stack(counts)


def _correct(parts: Parts) -> Tensor:
    """Return the number of correct and of all predictions of each part, shape (6, 2).

    For arcs, it is twice the hits, and the predicted plus the gold arcs: their quotient is F1.
    """
    counted = []
    for name, (scores, classes) in zip(_PARTS, parts, strict=True):
        if name == "arcs":
            predicted, right = scores > 0, classes > 0
            counted.append(torch.stack([2 * (predicted & right).sum(), predicted.sum() + right.sum()]))
        else:
            chosen = classes != IGNORED
            counted.append(torch.stack([(scores.argmax(-1) == classes)[chosen].sum(), chosen.sum()]))
    return torch.stack(counted).double()


def _hide(classes: Tensor, share: float) -> Tensor:
    return torch.where(torch.rand(classes.shape, device=classes.device) < share, 0, classes) if share else classes
