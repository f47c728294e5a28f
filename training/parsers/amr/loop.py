"""The training loop: AdamW, linear warm-up and decay, an average of the weights, and checkpoints to go on from.

Which sentences make which batch follows from seed and epoch alone; a checkpoint holds weights, optimiser, average and
the state of the random numbers. So a training that was stopped goes on as if it had not been.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from features.errors import RunError
from features.parsers.embedded.network import Network
from features.parsers.embedded.vocabulary import SPECIAL_PRIMARIES
from training.loop import checkpoints
from training.parsers.amr.examples import Example, collate
from training.parsers.amr.losses import PARTS, WEIGHTS, correct, losses, score
from training.parsers.amr.settings import ParserTraining

_log = logging.getLogger("training")

_SORTED_TOGETHER = 50  # batches whose sentences are sorted by length, so that little is padded
_DEV_BATCH = 64


def epoch_batches(examples: Sequence[Example], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """Return the batches of an epoch: positions of examples of like length, in random order."""
    random = np.random.default_rng([seed, epoch])
    shares = np.array([example.share for example in examples])
    times = np.floor(shares + random.random(len(shares))).astype(int)
    order = random.permutation(np.repeat(np.arange(len(examples)), times))
    batches = []
    for start in range(0, len(order), batch_size * _SORTED_TOGETHER):
        together = order[start : start + batch_size * _SORTED_TOGETHER].tolist()
        together.sort(key=lambda position: len(examples[position].text.pieces))
        batches += [together[at : at + batch_size] for at in range(0, len(together), batch_size)]
    random.shuffle(batches)
    return batches


class Loop:
    """One training of the network.

    Args:
        network: with the base encoder's layers filled in.
        train: examples to learn from.
        dev: examples to measure progress on.
        settings: see `ParserTraining`.
        precision: type that layers compute in.
        identity: hash of settings and data; a checkpoint of another training is refused.
    """

    def __init__(
        self,
        network: Network,
        train: Sequence[Example],
        dev: Sequence[Example],
        settings: ParserTraining,
        *,
        precision: torch.dtype,
        device: torch.device,
        identity: str,
    ) -> None:
        self._network, self._train, self._settings = network, train, settings
        self._dev = dev[:: -(-len(dev) // settings.dev_examples)]
        self._precision, self._device, self._identity = precision, device, identity
        self._epochs = [
            epoch_batches(train, settings.batch_size, settings.seed, epoch) for epoch in range(settings.epochs)
        ]
        self.steps = sum(map(len, self._epochs))
        self.step = 0
        self._stopping = False
        self._weights = [weight for weight in network.parameters() if weight.requires_grad]
        encoder = set(network.encoder.parameters()) | set(network.piece_norm.parameters())
        self._optimizer = torch.optim.AdamW(
            [
                {"params": [weight for weight in self._weights if weight not in encoder], "lr": settings.learning_rate},
                {
                    "params": [weight for weight in self._weights if weight in encoder],
                    "lr": settings.encoder_learning_rate,
                },
            ],
            betas=(0.9, 0.98),
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._rate)
        self._average = [weight.detach().clone() for weight in self._weights]

    @property
    def _checkpoint(self) -> Path:
        return self._settings.output / checkpoints.FILE_NAME

    def stop(self) -> None:
        """End the training after the step that is under way; it goes on from there when it is run again."""
        self._stopping = True

    def run(self, interrupted: Callable[[], bool] = lambda: False) -> bool:
        """Train, from the checkpoint if there is one.

        Args:
            interrupted: whether to stop, asked after every step, as `stop` does.

        Returns:
            Whether the training came to its end: the network then holds the average of its weights. False when it was
            stopped.

        Raises:
            RunError: when the loss is no number any more.
        """
        self.resume()
        begun, first_step = time.monotonic(), self.step
        running: Tensor | None = None
        self._network.train()
        for number, batches in enumerate(self._epochs):
            start = sum(map(len, self._epochs[:number]))
            if self.step >= start + len(batches):
                continue
            for batch in batches[self.step - start :]:
                parts = self._learn(batch)
                running = parts if running is None else 0.98 * running + 0.02 * parts
                if self.step % self._settings.log_every == 0:
                    rate = (self.step - first_step) / (time.monotonic() - begun)
                    _log.info("step %d of %d, %.2f a second, %s", self.step, self.steps, rate, _named(running))
                self._stopping = self._stopping or interrupted()
                if self._stopping or self.step % self._settings.checkpoint_every == 0:
                    self.save()
                if self._stopping:
                    _log.info("stopped after step %d of %d", self.step, self.steps)
                    return False
            self.save()
            _log.info("epoch %d: dev %s", number + 1, _named(self.evaluate()))
        self.take_average()
        return True

    def evaluate(self) -> Tensor:
        """Return the accuracy of each part on dev (of arcs F1), with the average of the weights, shape (6,)."""
        own = [weight.detach().clone() for weight in self._weights]
        self.take_average()
        self._network.eval()
        counts = torch.zeros(len(PARTS), 2, dtype=torch.float64)
        order = sorted(range(len(self._dev)), key=lambda position: len(self._dev[position].text.pieces))
        with torch.no_grad(), self._autocast():
            for start in range(0, len(order), _DEV_BATCH):
                examples = [self._dev[position] for position in order[start : start + _DEV_BATCH]]
                text, nodes, gold = collate(examples, len(SPECIAL_PRIMARIES), self._device)
                counts += correct(score(self._network, text, nodes, gold), nodes, gold).cpu()
        self._network.train()
        _copy(own, self._weights)
        return counts[:, 0] / counts[:, 1].clamp(min=1)

    def take_average(self) -> None:
        """Put the average of the weights into the network."""
        if self._settings.average_over:
            _copy(self._average, self._weights)

    def save(self) -> None:
        """Write a checkpoint."""
        state: dict[str, Any] = {
            "identity": self._identity,
            "step": self.step,
            "network": self._network.state_dict(),
            "average": self._average,
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "random": torch.get_rng_state(),
        }
        self._settings.output.mkdir(parents=True, exist_ok=True)
        checkpoints.save(self._checkpoint, state)

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        state = checkpoints.load(self._checkpoint, identity=self._identity)
        if state is None:
            return
        self.step = state["step"]
        self._network.load_state_dict(state["network"])
        _copy(state["average"], self._average)
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"])
        _log.info("going on after step %d of %d", self.step, self.steps)

    def _learn(self, batch: Sequence[int]) -> Tensor:
        examples = [self._train[position] for position in batch]
        text, nodes, gold = collate(examples, len(SPECIAL_PRIMARIES), self._device)
        with self._autocast():
            scores = score(self._network, text, nodes, gold, self._settings.concept_dropout)
        parts = losses(scores, nodes, gold)
        loss = (parts * parts.new_tensor(WEIGHTS)).sum()
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._weights, self._settings.gradient_norm)
        self._optimizer.step()
        self._schedule.step()
        self.step += 1
        if not math.isfinite(loss.item()):
            raise RunError(f"the loss is {loss.item()} at step {self.step}; lower the learning rates and start again")
        if self._settings.average_over:
            weight = max(1 / self._settings.average_over, 1 / (self.step + 1))
            torch._foreach_lerp_(self._average, list[Tensor](self._weights), weight)
        return parts.detach()

    def _rate(self, step: int) -> float:
        warmup = min(self._settings.warmup_steps, max(1, self.steps // 10))
        return min((step + 1) / warmup, max(0.0, (self.steps - step) / max(1, self.steps - warmup)))

    def _autocast(self) -> AbstractContextManager[None]:
        return torch.autocast(self._device.type, self._precision, enabled=self._precision != torch.float32)


@torch.no_grad()
def _copy(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
    for theirs, ours in zip(source, target, strict=True):
        ours.copy_(theirs)


def _named(values: Tensor) -> str:
    return ", ".join(f"{part} {value:.3f}" for part, value in zip(PARTS, values.tolist(), strict=True))
