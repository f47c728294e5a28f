"""The training task of the AMR parser: batches of sentences, the losses of its parts, accuracies on dev."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor

from features.parsers.embedded.network import Network
from features.parsers.embedded.vocabulary import SPECIAL_PRIMARIES
from training.loop import together
from training.loop.batches import epoch_batches
from training.loop.machine import Machine
from training.loop.task import Group, Judgement
from training.parsers.amr.examples import Example, collate
from training.parsers.amr.losses import PARTS, WEIGHTS, correct, counts, losses, score
from training.parsers.amr.settings import AmrParserSettings

_DEV_BATCH = 64


class AmrParserTask:
    """Train the network.

    Args:
        network: with the base encoder's layers filled in, on the machine's device.
        train: examples to train on.
        dev: examples to measure progress on.
        settings: see `AmrParserSettings`.
        machine: machine to train on.
    """

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

    def size(self, batch: Sequence[int]) -> int:
        """Return the number of sentences."""
        return len(batch)

    def train(self) -> None:
        """Switch on dropout."""
        self.network.train()

    def losses(self, batch: Sequence[int]) -> dict[str, Tensor]:
        """Return the weighted sum and the losses of the parts; each process computes its share of the sentences."""
        mine = together.share(batch)
        # A process without a share takes a sentence of weight zero: all processes must communicate.
        examples = [self._train[position] for position in mine or batch[:1]]
        text, nodes, gold = collate(examples, len(SPECIAL_PRIMARIES), self._machine.device)
        with self._autocast():
            scores = score(self.network, text, nodes, gold, self._settings.concept_dropout)
        parts = together.over_all(losses(scores, nodes, gold), counts(nodes, gold) * bool(len(mine)))
        loss = (parts * parts.new_tensor(WEIGHTS)).sum()
        return {"loss": loss, **dict(zip(PARTS, parts.unbind(), strict=True))}

    @torch.no_grad()
    def judge(self) -> Judgement:
        """Return the accuracy of each part on dev (F1 for arcs), and their mean."""
        self.network.eval()
        counted = torch.zeros(len(PARTS), 2, dtype=torch.float64)
        order = sorted(range(len(self._dev)), key=lambda position: len(self._dev[position].text.pieces))
        with self._autocast():
            for start in range(0, len(order), _DEV_BATCH):
                examples = [self._dev[position] for position in order[start : start + _DEV_BATCH]]
                text, nodes, gold = collate(examples, len(SPECIAL_PRIMARIES), self._machine.device)
                counted += correct(score(self.network, text, nodes, gold), nodes, gold).cpu()
        accuracies = (counted[:, 0] / counted[:, 1].clamp(min=1)).tolist()
        mean = sum(accuracies) / len(accuracies)
        return Judgement({"mean": mean, **dict(zip(PARTS, accuracies, strict=True))}, value=mean)

    def _autocast(self) -> AbstractContextManager[None]:
        precision = self._machine.precision
        return torch.autocast(self._machine.device.type, precision, enabled=precision != torch.float32)
