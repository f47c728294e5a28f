"""The loop: steps of AdamW over all epochs, with checkpoints from which it goes on as if it had never stopped.

    rate    ╱‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾╲         rises, stays, falls in the last epochs
           0        steps        end

Until the rates fall nothing depends on the number of epochs. So a training may be made longer or shorter on the way:
stopped, and begun again with another number, it gives what it would have given with that number from the start.
"""

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from features.errors import RunError, SettingsError
from features.interruption import Interruption, held_back
from features.parsers.devices import computes_in_bfloat16
from features.parsers.srl.network import SrlBert
from training.loop import checkpoints
from training.parsers.srl.examples import IGNORED, Example, batches, stack
from training.parsers.srl.settings import SrlTrainingSettings

PROGRESS = "progress.jsonl"

_LOG = logging.getLogger("training")
_LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What is learned from.

    Args:
        marked: a sequence for each predicate.
        unmarked: a sequence for each sentence.
    """

    marked: Sequence[Example]
    unmarked: Sequence[Example]

    def epoch(self, settings: SrlTrainingSettings, epoch: int) -> list[list[Example]]:
        """Return the batches of an epoch: all marked sequences, and a share of the others."""
        random = np.random.default_rng((settings.seed, epoch, 1))
        count = round(settings.unmarked * len(self.unmarked))
        chosen = random.permutation(len(self.unmarked))[:count]
        examples = [*self.marked, *(self.unmarked[i] for i in chosen)]
        lengths = np.array([len(example) for example in examples], np.int64)
        order = batches(lengths, batch_pieces=settings.batch_pieces, seed=(settings.seed, epoch))
        return [[examples[i] for i in batch] for batch in order]


class Loop:
    """A training under way.

    Args:
        network: the network with its start weights, on the CPU or a GPU.
        data: sequences to learn from.
        settings: see `SrlTrainingSettings`.
        folder: for the checkpoint and the progress.
        identity: hash of all that decides the result.
        evaluate: gives scores of the network after an epoch, for the progress.
    """

    def __init__(
        self,
        network: SrlBert,
        data: TrainingData,
        settings: SrlTrainingSettings,
        *,
        folder: Path,
        identity: str,
        evaluate: Callable[[SrlBert], dict[str, Any]],
    ) -> None:
        self._network = network
        self._data = data
        self._settings = settings
        self._folder = folder
        self._identity = identity
        self._evaluate = evaluate
        self._device = next(network.parameters()).device
        self._bfloat16 = computes_in_bfloat16(settings.precision, self._device.type)
        lengths = [len(data.epoch(settings, epoch)) for epoch in range(settings.epochs)]
        self._steps = sum(lengths)
        self._falls_from = self._steps - min(self._steps, round(settings.falling * self._steps / settings.epochs))
        self._optimizer = _optimizer(network, settings)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._rate)
        self._seconds = 0.0

    @property
    def steps(self) -> int:
        """Number of steps of the whole training."""
        return self._steps

    def run(self) -> float:
        """Train to the end, from the checkpoint if there is one.

        A request to end (SIGINT, SIGTERM) waits until the step is done and its checkpoint written; a second does not.

        Returns:
            Seconds that all steps took, those before an interruption included.

        Raises:
            RunError: the loss is no number any more, or a checkpoint cannot be written.
        """
        with held_back() as interruption:
            return self._learn(interruption)

    def _learn(self, interruption: Interruption) -> float:
        done = self._restore()
        step = 0
        for epoch in range(self._settings.epochs):
            order = self._data.epoch(self._settings, epoch)
            if step + len(order) <= done:
                step += len(order)
                continue
            started = time.perf_counter()
            losses = []
            for batch in order:
                step += 1
                if step <= done:
                    continue
                losses.append(self._step(batch))
                if step % self._settings.log_every == 0 or step == self._steps:
                    now = time.perf_counter()
                    self._seconds, started = self._seconds + now - started, now
                    self._log(step, epoch, losses)
                    losses = []
                if interruption.pending or step % self._settings.checkpoint_every == 0:
                    self._save(step)
                if interruption.pending:
                    _LOG.info("stopped after step %d of %d", step, self._steps)
                interruption.deliver()
            scores = self._evaluate(self._network)
            self._network.train()
            self._append({"step": step, "epoch": epoch + 1, **scores})
            _LOG.info("epoch %d of %d: %s", epoch + 1, self._settings.epochs, scores)
            self._save(step)
        return self._seconds

    def _step(self, batch: Sequence[Example]) -> float:
        ids, types, mask, tags, predicates = (torch.from_numpy(rows).to(self._device) for rows in stack(batch))
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._bfloat16):
            states = self._network.encode(ids, types, mask)
            tag_logits = self._network.tag_projection_layer(states)
            predicate_logits = self._network.predicate_layer(states) if self._network.predicate_layer else None
        loss = _mean(nn.functional.cross_entropy, tag_logits.float().flatten(0, 1), tags.flatten())
        if predicate_logits is not None:
            of_words = predicate_logits.float().flatten()
            loss = loss + self._settings.predicate_weight * _mean(_binary, of_words, predicates.flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._network.parameters(), _LONGEST_GRADIENT)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        return loss.item()

    def _rate(self, step: int) -> float:
        """Return the share of the highest learning rate at a step."""
        risen = min(1.0, (step + 1) / (self._settings.warm_up + 1))
        left = (self._steps - step) / max(1, self._steps - self._falls_from)
        return min(risen, left)

    def _log(self, step: int, epoch: int, losses: Sequence[float]) -> None:
        loss = float(np.mean(losses))
        if not np.isfinite(loss):
            raise RunError(f"the loss is {loss!r} at step {step}; lower `learning_rate`, or use precision float32")
        self._append({"step": step, "epoch": epoch + 1, "loss": round(loss, 5), "seconds": round(self._seconds, 1)})
        _LOG.info("step %d of %d, loss %.4f, %.0f s", step, self._steps, loss, self._seconds)

    def _append(self, line: dict[str, Any]) -> None:
        with (self._folder / PROGRESS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _save(self, step: int) -> None:
        checkpoints.save(
            self._folder / checkpoints.FILE_NAME,
            {
                "identity": self._identity,
                "step": step,
                "steps": self._steps,
                "falls_from": self._falls_from,
                "seconds": self._seconds,
                "network": self._network.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "schedule": self._schedule.state_dict(),
                "random": torch.get_rng_state(),
            },
        )

    def _restore(self) -> int:
        """Take over a checkpoint, and return how many steps were done; 0 where there is none."""
        state = checkpoints.load(self._folder / checkpoints.FILE_NAME, identity=self._identity)
        self._network.train()
        if state is None:
            return 0
        if state["steps"] != self._steps and state["step"] > min(state["falls_from"], self._falls_from):
            raise SettingsError(
                f"the checkpoint in {str(self._folder)!r} is of step {state['step']} of {state['steps']}, where the"
                f" learning rate falls already, here or there; it cannot go on with {self._settings.epochs} epochs"
            )
        self._network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"])
        self._seconds = float(state["seconds"])
        _LOG.info("going on after step %d", state["step"])
        return int(state["step"])


def _optimizer(network: SrlBert, settings: SrlTrainingSettings) -> torch.optim.AdamW:
    encoder = [parameter for parameter in network.bert_model.parameters() if parameter.requires_grad]
    known = {id(parameter) for parameter in network.bert_model.parameters()}
    heads = [parameter for parameter in network.parameters() if id(parameter) not in known]
    groups: list[dict[str, Any]] = []
    for parameters, rate in ((encoder, settings.learning_rate), (heads, settings.head_learning_rate)):
        matrices = [parameter for parameter in parameters if parameter.ndim > 1]
        others = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups += [
            {"params": matrices, "lr": rate, "weight_decay": settings.weight_decay},
            {"params": others, "lr": rate, "weight_decay": 0.0},
        ]
    return torch.optim.AdamW(groups, fused=True)


def _mean(loss: Callable[..., Tensor], logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss where there is a target; 0 where a batch has none."""
    known = targets != IGNORED
    return loss(logits[known], targets[known]) if bool(known.any()) else logits.sum() * 0


def _binary(logits: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(logits, targets.float())
