"""The training task of the semantic role tagger: batches of word pieces, two losses, F1 on dev."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from features.parsers.srl.network import SrlBert
from training.loop import together
from training.loop.machine import Machine
from training.loop.task import Group, Judgement, decaying_matrices
from training.parsers.srl.examples import IGNORED, Example, batches, stack
from training.parsers.srl.settings import TaggerSettings


class TaggerTask:
    """Train the network on sequences with a marked predicate, and on some of those without; `f1` is that on dev."""

    unit = "sequences"

    def __init__(
        self,
        network: SrlBert,
        marked: Sequence[Example],
        unmarked: Sequence[Example],
        settings: TaggerSettings,
        machine: Machine,
        f1: Callable[[SrlBert], float],
    ) -> None:
        self._network, self._settings, self._machine, self._f1 = network, settings, machine, f1
        self._marked, self._unmarked = marked, unmarked
        learnt = {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
        encoder = {name: weight for name, weight in learnt.items() if name.startswith("bert_model.")}
        heads = {name: weight for name, weight in learnt.items() if name not in encoder}
        factor = settings.head_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = [*decaying_matrices(encoder), *decaying_matrices(heads, factor)]

    def batches(self, epoch: int) -> list[list[Example]]:
        """Return the batches of an epoch: all marked sequences, and a share of the others."""
        seed = self._settings.loop.seed
        random = np.random.default_rng((seed, epoch, 1))
        count = round(self._settings.unmarked * len(self._unmarked))
        chosen = random.permutation(len(self._unmarked))[:count]
        examples = [*self._marked, *(self._unmarked[i] for i in chosen)]
        lengths = np.array([len(example) for example in examples], np.int64)
        order = batches(lengths, batch_pieces=self._settings.loop.batch_size, seed=(seed, epoch))
        return [[examples[i] for i in batch] for batch in order]

    def train(self) -> None:
        """Switch on dropout."""
        self._network.train()

    def losses(self, batch: Sequence[Example]) -> dict[str, Tensor]:
        """Return the weighted sum, and the losses of tags and predicates; each process computes its share."""
        # A process without a share takes a sequence without a target: all processes must communicate.
        nothing = np.full(len(batch[0]), IGNORED, np.int64)
        mine = together.share(batch) or [replace(batch[0], tags=nothing, predicates=nothing)]
        device, precision = self._machine.device, self._machine.precision
        ids, types, mask, tags, predicates = (torch.from_numpy(rows).to(device) for rows in stack(mine))
        assert self._network.predicate_layer is not None  # noqa: S101 - a training starts with one
        with torch.autocast(device.type, precision, enabled=precision != torch.float32):
            states = self._network.encode(ids, types, mask)
            tag_logits = self._network.tag_projection_layer(states)
            predicate_logits = self._network.predicate_layer(states)
        of_tags = _mean(nn.functional.cross_entropy, tag_logits.float().flatten(0, 1), tags.flatten())
        binary = nn.functional.binary_cross_entropy_with_logits
        of_predicates = _mean(binary, predicate_logits.float().flatten(), predicates.flatten().float())
        loss = of_tags + self._settings.predicate_weight * of_predicates
        return {"loss": loss, "tags": of_tags, "predicates": of_predicates}

    def judge(self) -> Judgement:
        """Return the F1 of arguments on dev, with predicates given."""
        f1 = self._f1(self._network)
        return Judgement({"f1": round(f1, 4)}, value=f1)


def _mean(loss: Callable[..., Tensor], logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss over the targets of all processes; 0 where a batch has none."""
    labelled = targets != IGNORED
    mean = loss(logits[labelled], targets[labelled]) if bool(labelled.any()) else logits.sum() * 0
    return together.over_all(mean, labelled.sum())
