"""The loop: batches in, losses down, the best model kept; stopped anywhere, it goes on where its checkpoint is."""

import json
import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from features.errors import RunError
from features.interruption import Interruption, held_back
from training.encoders.s3bert.backbone import Backbone, Tokens
from training.encoders.s3bert.settings import S3bertSettings
from training.loop import checkpoints
from training.loop.batches import epoch_batches
from training.objectives.consistency import ConsistencyObjective
from training.objectives.decomposition import DecompositionObjective
from training.progress import EVERY, Counted, duration
from training.writing import writing

_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class Prepared:
    """Pairs as the loop takes them; training and dev pairs share one list of sentences.

    Args:
        tokens: all sentences.
        teacher: their embeddings by the teacher, (n_texts, t), float32.
        first: positions of sentences a, (n_pairs,).
        second: positions of sentences b, (n_pairs,).
        targets: values of the metrics, (n_pairs, n_facets), float32.
        groups: group of each pair (a positive and its negatives), (n_pairs,).
        train: pairs to learn from, positions.
        dev: pairs to choose the best model by, positions; may be empty.
    """

    tokens: Tokens
    teacher: Tensor
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    targets: Tensor
    groups: NDArray[np.int64]
    train: NDArray[np.int64]
    dev: NDArray[np.int64]

    def lengths(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tokens of the longer sentence of some pairs, (n,)."""
        return np.maximum(self.tokens.lengths[self.first[pairs]], self.tokens.lengths[self.second[pairs]])


@dataclass(frozen=True, slots=True)
class Losses:
    """Mean losses over some pairs; `total` is what is minimised."""

    total: float
    decomposition: float
    consistency: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a training went.

    Args:
        steps: batches learnt from.
        best_step: the step whose model was kept.
        best_dev: its dev losses; None without dev pairs.
        history: dev losses by step.
        seconds: time in the loop, over all its runs.
        pairs_per_second: training pairs (two sentences each) a second, dev losses and checkpoints not counted.
    """

    steps: int
    best_step: int
    best_dev: Losses | None
    history: list[dict[str, float]]
    seconds: float
    pairs_per_second: float


class Loop:
    """Train the last layers of a backbone.

    Args:
        backbone: the encoder.
        decomposition: the first objective; its scales learn too.
        prepared: the pairs.
        settings: numbers of the loop.
        folder: the run's folder, for the checkpoint and the progress file.
        identity: hash of what was asked for; a checkpoint of anything else is refused.
    """

    def __init__(
        self,
        backbone: Backbone,
        decomposition: DecompositionObjective,
        prepared: Prepared,
        settings: S3bertSettings,
        *,
        folder: Path,
        identity: str,
    ) -> None:
        self.backbone = backbone
        self.decomposition = decomposition.to(backbone.device)
        self.consistency = ConsistencyObjective()
        self.prepared = prepared
        self.settings = settings
        self.folder = folder
        self.identity = identity
        self.parameters = backbone.tuned_parameters()
        self.optimizer = _optimizer(self.parameters, self.decomposition, settings)
        self.step = 0
        self.epoch = 0
        self.position = 0  # batches of this epoch that are done
        self.seconds = 0.0  # in the loop
        self.learning_seconds = 0.0  # of them, in training steps
        self.best_step = 0
        self.best_dev: Losses | None = None
        self.best: dict[str, Tensor] = {}
        self.history: list[dict[str, float]] = []
        self.total_steps = settings.loop.epochs * len(self._batches(0))
        self.kept: int | None = None  # the step of the checkpoint

    @property
    def left(self) -> str:
        """What is left of this training when it ends now, as a sentence for the user."""
        if self.kept is None:
            return "Interrupted before the first checkpoint; run the same command again."
        return f"Interrupted; the same command goes on after step {self.kept} of {self.total_steps}."

    def run(self, on_step: Callable[[int], None] | None = None) -> Outcome:
        """Train to the end, from the checkpoint if there is one, and leave the best weights in the backbone.

        A request to end (SIGINT, SIGTERM) waits until the step is done and its checkpoint written; a second does not.

        Args:
            on_step: called with the number of each finished step, after its checkpoint.

        Raises:
            RunError: when a loss is no number any more, or a checkpoint cannot be written.
        """
        state = checkpoints.load(self.folder / checkpoints.FILE_NAME, identity=self.identity)
        if state is None:
            torch.manual_seed(self.settings.loop.seed)
        else:
            self._restore(state)
            self.kept = self.step
            _log.info("resumed at step %d of %d", self.step, self.total_steps)
        with held_back() as interruption:
            self._learn_all(interruption, on_step)
        if self.best:
            self._put_back(self.best)
        seen = self.settings.loop.epochs * len(self.prepared.train)
        return Outcome(
            steps=self.step,
            best_step=self.best_step or self.step,
            best_dev=self.best_dev,
            history=self.history,
            seconds=self.seconds,
            pairs_per_second=seen / max(self.learning_seconds, 1e-9),
        )

    def _learn_all(self, interruption: Interruption, on_step: Callable[[int], None] | None) -> None:
        """Do the steps that are left, with dev losses and checkpoints on the way."""
        started, before = time.perf_counter(), self.seconds
        progress = _Progress(self.folder, self.total_steps, self.step)
        batches = self._batches(self.epoch)
        while self.step < self.total_steps:
            clock = time.perf_counter()
            losses = self._learn(batches[self.position])
            self.learning_seconds += time.perf_counter() - clock
            progress.add(losses, pairs=len(batches[self.position]))
            self.step += 1
            self.position += 1
            if self.step % self.settings.loop.log_every == 0 or progress.is_due:
                progress.report(step=self.step, epoch=self.epoch, rate=self._rate(self.step - 1))
            epoch_ends = self.position == len(batches)
            if epoch_ends or self.step % (self.settings.loop.evaluate_every or self.total_steps) == 0:
                self._judge(progress)
            if epoch_ends:
                self.epoch, self.position = self.epoch + 1, 0
                batches = self._batches(self.epoch)
            # The last step as well: what follows (the encoder is written) may fail, and the training is not lost.
            due = self.step % self.settings.loop.checkpoint_every == 0 or self.step == self.total_steps
            if due or interruption.pending:
                self.seconds = before + time.perf_counter() - started
                checkpoints.save(self.folder / checkpoints.FILE_NAME, self._state())
                self.kept = self.step
            interruption.deliver()
            if on_step is not None:
                on_step(self.step)

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        train = self.prepared.train
        _, groups = np.unique(self.prepared.groups[train], return_inverse=True)
        batches = epoch_batches(
            groups,
            self.prepared.lengths(train),
            batch_size=self.settings.loop.batch_size,
            seed=self.settings.loop.seed,
            epoch=epoch,
        )
        return [train[batch] for batch in batches]

    def _losses(self, pairs: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return decomposition and consistency of a batch; each sentence is encoded once."""
        first, second = self.prepared.first[pairs], self.prepared.second[pairs]
        sentences, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        embeddings = self.backbone.embed(self.prepared.tokens, sentences)
        teacher = self.prepared.teacher[torch.from_numpy(sentences)].to(device := embeddings.device)
        left, right = (torch.from_numpy(half).to(device) for half in np.split(places, 2))
        targets = self.prepared.targets[torch.from_numpy(pairs)].to(device)
        return (
            self.decomposition(embeddings[left], embeddings[right], targets),
            self.consistency(embeddings[left], embeddings[right], teacher[left], teacher[right]),
        )

    def _learn(self, pairs: NDArray[np.int64]) -> Losses:
        rate = self._rate(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        self.backbone.train()
        decomposition, consistency = self._losses(pairs)
        loss = self.settings.alpha * decomposition + self.settings.consistency * consistency
        value = loss.item()
        if not math.isfinite(value):
            raise RunError(
                f"the loss became {value} at step {self.step + 1} (learning rate {rate:.2g}); lower learning_rate, or "
                "train in precision 'float32'"
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # PyTorch has not typed it yet
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.settings.loop.gradient_norm)
        self.optimizer.step()
        return Losses(value, decomposition.item(), consistency.item())

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step (from 0): linear warm-up, then linear decay to 0 or constant."""
        most = self.settings.loop.warmup_steps
        warmup = min(int(self.settings.loop.warmup * self.total_steps), self.total_steps if most is None else most)
        if step < warmup:
            return self.settings.loop.learning_rate * (step + 1) / warmup
        if self.settings.loop.schedule == "constant":
            return self.settings.loop.learning_rate
        return self.settings.loop.learning_rate * max(
            0.0, (self.total_steps - step) / max(1, self.total_steps - warmup)
        )

    def _judge(self, progress: "_Progress") -> None:
        """Take the dev loss and keep the weights if it is the lowest so far."""
        if not len(self.prepared.dev):
            return
        losses = self._dev_losses()
        self.history.append({"step": self.step, **asdict(losses)})
        if self.best_dev is None or losses.total < self.best_dev.total:
            self.best_step, self.best_dev = self.step, losses
            self.best = {name: p.detach().cpu().clone() for name, p in self._learnt().items()}
        progress.report_dev(step=self.step, losses=losses, best=self.best_step == self.step)

    @torch.no_grad()
    def _dev_losses(self) -> Losses:
        self.backbone.eval()
        dev, size = self.prepared.dev, self.settings.loop.batch_size
        order = dev[np.argsort(self.prepared.lengths(dev), kind="stable")]
        sums = np.zeros(2)
        counted = Counted("dev loss", len(order), "pairs")
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            sums += len(batch) * np.array([loss.item() for loss in self._losses(batch)])
            counted.add(len(batch))
        decomposition, consistency = (sums / len(order)).tolist()
        total = self.settings.alpha * decomposition + self.settings.consistency * consistency
        return Losses(total, decomposition, consistency)

    def _learnt(self) -> dict[str, torch.nn.Parameter]:
        return {**self.parameters, "scales": self.decomposition.scales}

    @torch.no_grad()
    def _put_back(self, values: dict[str, Tensor]) -> None:
        for name, parameter in self._learnt().items():
            parameter.copy_(values[name])

    def _state(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "step": self.step,
            "epoch": self.epoch,
            "position": self.position,
            "seconds": self.seconds,
            "learning_seconds": self.learning_seconds,
            "history": self.history,
            "best_step": self.best_step,
            "best_dev": None if self.best_dev is None else asdict(self.best_dev),
            "best": self.best,
            "weights": {name: p.detach().cpu() for name, p in self._learnt().items()},
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state(self.backbone.device)
            if self.backbone.device.type == "cuda"
            else None,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        for name in ("step", "epoch", "position", "seconds", "learning_seconds", "history", "best_step", "best"):
            setattr(self, name, state[name])
        self.best_dev = None if state["best_dev"] is None else Losses(**state["best_dev"])
        self._put_back(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if self.backbone.device.type == "cuda" and state["random_gpu"] is not None:
            torch.cuda.set_rng_state(state["random_gpu"], self.backbone.device)


def _optimizer(
    parameters: dict[str, torch.nn.Parameter], decomposition: DecompositionObjective, settings: S3bertSettings
) -> torch.optim.AdamW:
    """Return AdamW; a group's `factor` is its learning rate as a multiple of the settings' rate."""
    matrices = [p for p in parameters.values() if p.dim() > 1]
    others = [p for p in parameters.values() if p.dim() <= 1]
    scale_factor = (settings.scale_learning_rate or settings.loop.learning_rate) / settings.loop.learning_rate
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.loop.weight_decay, "factor": 1.0},
            {"params": others, "weight_decay": 0.0, "factor": 1.0},
            {"params": [decomposition.scales], "weight_decay": 0.0, "factor": scale_factor},
        ],
        lr=settings.loop.learning_rate,
        fused=True,
    )


class _Progress:
    """Progress lines in the log, and the same as JSON lines in the run's folder."""

    def __init__(self, folder: Path, total_steps: int, done: int) -> None:
        self.path = folder / "progress.jsonl"
        self.total_steps = total_steps
        self.done = done
        self.started = time.perf_counter()
        self._forget()

    def _forget(self) -> None:
        self.sums = np.zeros(3)
        self.steps = 0
        self.pairs = 0
        self.since = time.perf_counter()

    @property
    def is_due(self) -> bool:
        """Whether nothing was reported for so long that a user may think that nothing goes on."""
        return time.perf_counter() - self.since > EVERY

    def add(self, losses: Losses, *, pairs: int) -> None:
        """Count a step."""
        self.sums += (losses.total, losses.decomposition, losses.consistency)
        self.steps += 1
        self.pairs += pairs

    def report(self, *, step: int, epoch: int, rate: float) -> None:
        """Write the mean losses since the last line, the speed and the time that is left."""
        total, decomposition, consistency = (self.sums / self.steps).tolist()
        speed = self.pairs / (time.perf_counter() - self.since)
        left = (self.total_steps - step) * (time.perf_counter() - self.started) / (step - self.done)
        _log.info(
            "step %d of %d, epoch %d: loss %.4f (decomposition %.4f, consistency %.5f), "
            "rate %.1e, %.0f pairs/s, %s left",
            *(step, self.total_steps, epoch + 1, total, decomposition, consistency, rate, speed, duration(left)),
        )
        self._write(
            step=step,
            epoch=epoch + 1,
            loss=total,
            decomposition=decomposition,
            consistency=consistency,
            learning_rate=rate,
            pairs_per_second=speed,
            seconds_left=left,
        )
        self._forget()

    def report_dev(self, *, step: int, losses: Losses, best: bool) -> None:
        """Write a dev loss."""
        _log.info(
            "step %d: dev loss %.5f (decomposition %.4f, consistency %.5f)%s",
            *(step, losses.total, losses.decomposition, losses.consistency, ", the best so far" if best else ""),
        )
        self._write(step=step, dev_loss=losses.total, dev_decomposition=losses.decomposition, best=best)

    def _write(self, **values: float) -> None:
        with writing(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
