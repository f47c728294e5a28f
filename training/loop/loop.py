"""The training loop: minimise losses over batches, keep the best model, and resume from a checkpoint.

task.batches ──> task.losses ──> finite? ──> gradients ──> averaged, clipped ──> AdamW ──> keeper
                                    │no                                           │
                                 RunError                at intervals: task.judge, progress, checkpoint
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from features.core.errors import RunError
from features.core.faults import LossNotFinite, TooFewTexts, TrainingsApart
from features.core.interruption import Interruption, held_back
from training.loop import checkpoints, together
from training.loop.course import Course
from training.loop.keeping import Keeper
from training.loop.machine import Machine, random_state, restore_random_state
from training.loop.settings import LoopSettings, share_of_rate
from training.loop.task import Group, Judgement, Task, parameters_of
from training.progress import log


@dataclass(slots=True)
class Outcome:
    """State of a training, and in the end its result."""

    steps: int = 0  # number of steps done
    best_step: int = 0  # with the best dev score, in the end that of the kept weights; 0 before any, or for the start
    best_value: float = -math.inf  # its value
    best_scores: dict[str, float] | None = None  # its dev scores; None without dev
    value: float = -math.inf  # value of the last dev evaluation
    looks: int = 0  # dev evaluations since the best one
    history: list[dict[str, float]] = field(default_factory=list)  # dev scores by step, in the end the finite ones
    seconds: float = 0.0  # time in the loop, including earlier runs
    learning_seconds: float = 0.0  # part of this time in training steps
    units: int = 0  # number of training pairs or sentences, counting repetitions

    @property
    def per_second(self) -> float:
        """Pairs or sentences per second, without the time of dev evaluations and checkpoints."""
        return self.units / max(self.learning_seconds, 1e-9)


class Loop:
    """A training: its task, optimiser, kept weights and outcome; one that was stopped is resumed."""

    def __init__(
        self,
        task: Task,
        settings: LoopSettings,
        machine: Machine,
        *,
        folder: Path,
        identity: str,
        described: Mapping[str, Any] | None = None,
        tracked_as: str = "facetflow",
    ) -> None:
        self.task, self.settings, self.machine = task, settings, machine
        self.folder, self.identity, self.described, self.tracked_as = folder, identity, described or {}, tracked_as
        self.parameters = parameters_of(task.groups)
        self.clipped = [p for group in task.groups if group.clipped for p in group.parameters.values()]
        self.optimizer = _optimizer(task.groups, settings)
        self.keeper = Keeper(self.parameters, settings.keep, settings.average_over)
        self.epochs = self._steps_by_epoch()
        self.total_steps = sum(self.epochs)
        if not self.total_steps:
            raise TooFewTexts(f"there are too few {task.unit} for a single batch: add training data")
        self.outcome = Outcome()
        self.kept: int | None = None  # the step of the checkpoint

    @property
    def left(self) -> str:
        """What the user keeps of this training if it ends now, as a sentence."""
        if self.kept is None:
            return "Interrupted before the first checkpoint; run the same command again."
        return f"Interrupted; run the same command to continue after step {self.kept} of {self.total_steps}."

    def run(self, on_step: Callable[[int], None] | None = None) -> Outcome:
        """Train to the end, from the checkpoint if there is one, and leave the model with the kept weights.

        A request to end (SIGINT, SIGTERM) waits until the step and its checkpoint are done; a second one does not.
        `on_step` is called with the number of each finished step, after its checkpoint.
        """
        if together.rank() > 0:  # initial weights are equal already, dropout must differ
            torch.manual_seed(self.settings.seed + together.rank())
        self._resume()
        if self.settings.trackers:
            # TensorBoard rejects lists and None.
            plain = {
                name: value if isinstance(value, bool | int | float | str) else json.dumps(value)
                for name, value in self.described.items()
            }
            self.machine.accelerator.init_trackers(self.tracked_as, config=plain)
        try:
            with held_back() as interruption:
                self._learn_all(interruption, on_step)
        finally:
            for tracker in self.machine.accelerator.trackers:
                tracker.finish()
        self._check_dev_score()
        self.keeper.finish()
        if self.outcome.best_scores is None:
            self.outcome.best_step = self.outcome.steps
        if self.settings.keep == "last" and self.outcome.history:
            (_, step), *scores = self.outcome.history[-1].items()
            self.outcome.best_step, self.outcome.best_value = int(step), self.outcome.value
            self.outcome.best_scores = dict(scores)
        # A look that chose nothing has scores that no record can have: JSON has only finite numbers.
        self.outcome.history = [look for look in self.outcome.history if all(map(math.isfinite, look.values()))]
        return self.outcome

    def _check_dev_score(self) -> None:
        """Refuse weights without a finite dev score: the last step can break them, and no loss follows that tells."""
        outcome = self.outcome
        value = outcome.value if self.settings.keep == "last" else outcome.best_value
        if outcome.history and not math.isfinite(value):
            raise LossNotFinite(
                f"the dev score is {outcome.value} after step {outcome.steps}, so the weights are of no use; lower "
                "loop.learning_rate, or train in loop.precision 'float32'"
            )

    def run_and_write(
        self, write: Callable[[Outcome], None], *, before: Callable[[Outcome], None] | None = None
    ) -> None:
        """Train to the end, let the first process write the result, and delete the checkpoint; errors as in `run`.

        Every process does what comes `before` that, such as an evaluation, for which all of them embed.
        """
        with self.saying_what_is_left():
            outcome = self.run()
            if before is not None:
                before(outcome)
            if together.rank() == 0:
                write(outcome)
                (self.folder / checkpoints.FILE_NAME).unlink(missing_ok=True)

    @contextmanager
    def saying_what_is_left(self) -> Iterator[None]:
        """Set the message of an interrupt to what is left."""
        try:
            yield
        except KeyboardInterrupt as interrupt:
            interrupt.args = (self.left,)
            raise

    def _learn_all(self, interruption: Interruption, on_step: Callable[[int], None] | None) -> None:
        outcome, settings = self.outcome, self.settings
        started, before = time.perf_counter(), outcome.seconds
        course = Course(
            self.folder, self.machine.accelerator, unit=self.task.unit, total=self.total_steps, done=outcome.steps
        )
        if getattr(self.task, "begins_learnt", False) and settings.keep != "last" and not outcome.steps:
            self._judge(course)
        epoch, position = self._position()
        batches = self.task.batches(epoch)
        self.task.train()
        while outcome.steps < self.total_steps and not self._patience_exhausted():
            some = batches[position * settings.accumulate : (position + 1) * settings.accumulate]
            clock = time.perf_counter()
            rate = settings.learning_rate * share_of_rate(outcome.steps, self.total_steps, settings)
            losses, stopping = self._learn(some, rate, stopping=interruption.pending)
            if together.world() == 1:  # several processes agree on it in their next step
                stopping = interruption.pending
            outcome.learning_seconds += time.perf_counter() - clock
            units = sum(map(len, some))
            outcome.units += units
            course.add(losses, units)
            outcome.steps += 1
            position += 1
            self.keeper.after_step(outcome.steps)
            if outcome.steps % settings.log_every == 0 or course.is_due:
                course.report(step=outcome.steps, epoch=epoch, rate=rate)
            ends = position == self.epochs[epoch]
            if ends or (settings.evaluate_every and outcome.steps % settings.evaluate_every == 0):
                self._judge(course)
            if ends and outcome.steps < self.total_steps:
                epoch, position = epoch + 1, 0
                batches = self.task.batches(epoch)
            # Also at the last step: writing the model may fail, and the training must not be lost.
            last = outcome.steps == self.total_steps or self._patience_exhausted()
            if stopping or last or outcome.steps % settings.checkpoint_every == 0:
                outcome.seconds = before + time.perf_counter() - started
                self._save()
            if stopping:
                interruption.deliver()
                if together.world() > 1:
                    raise KeyboardInterrupt
            if on_step is not None:
                on_step(outcome.steps)

    def _learn(self, batches: Sequence[Any], rate: float, *, stopping: bool) -> tuple[dict[str, float], bool]:
        """Do a step; return its losses, and whether any process was asked to end."""
        sums: dict[str, Tensor] = {}
        for batch in batches:
            losses = self.task.losses(batch)
            (loss, *_) = losses.values()
            sums = {name: sums.get(name, 0.0) + value.detach() / len(batches) for name, value in losses.items()}
            if loss.requires_grad:  # not if a process has no share of a small batch
                (loss / len(batches) if len(batches) > 1 else loss).backward()  # type: ignore[no-untyped-call]
        local = torch.stack(
            [*(value.double() for value in sums.values()), torch.tensor(float(stopping)).to(loss).double()]
        )
        *values, asked = together.mean_of_all(local).tolist()
        if not all(math.isfinite(value) for value in values):
            raise self._not_finite("loss", values[0], rate)
        together.average_gradients(self.parameters.values())
        norm = float(torch.nn.utils.clip_grad_norm_(self.clipped, self.settings.gradient_norm))
        if not math.isfinite(norm):
            raise self._not_finite("norm of the gradients", norm, rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return dict(zip(sums, values, strict=True)), asked > 0

    def _not_finite(self, what: str, value: float, rate: float) -> RunError:
        return LossNotFinite(
            f"the {what} became {value} at step {self.outcome.steps + 1} (learning rate {rate:.2g}); lower "
            "loop.learning_rate, or train in loop.precision 'float32'"
        )

    def _judge(self, course: Course) -> None:
        with self.keeper.judged():
            judgement = _first_judgement(self.task.judge())
        self.task.train()
        if judgement is None:
            return
        outcome = self.outcome
        outcome.history.append({"step": outcome.steps, **judgement.scores})
        outcome.value = judgement.value
        best = judgement.value > outcome.best_value
        if math.isnan(judgement.value):
            log.warning("the dev score of step %d is not a number, so it chooses nothing", outcome.steps)
        outcome.looks = 0 if best else outcome.looks + 1
        if best:
            outcome.best_step, outcome.best_value = outcome.steps, judgement.value
            outcome.best_scores = dict(judgement.scores)
            self.keeper.best_so_far()
        course.report_dev(judgement.scores, step=outcome.steps, best=best)

    def _patience_exhausted(self) -> bool:
        return self.settings.patience is not None and self.outcome.looks >= self.settings.patience

    def _steps_by_epoch(self) -> list[int]:
        left = math.inf if self.settings.steps is None else self.settings.steps
        epochs = []
        for epoch in range(self.settings.epochs):
            steps = int(min(left, math.ceil(len(self.task.batches(epoch)) / self.settings.accumulate)))
            if epoch and not steps:
                break
            epochs.append(steps)
            left -= steps
        return epochs

    def _position(self) -> tuple[int, int]:
        step = self.outcome.steps
        for epoch, steps in enumerate(self.epochs):
            if step < steps:
                return epoch, step
            step -= steps
        return len(self.epochs) - 1, self.epochs[-1]

    def _save(self) -> None:
        states = together.from_each(random_state(self.machine.device))
        if together.rank() == 0:
            state = {
                "identity": self.identity,
                "outcome": {name: getattr(self.outcome, name) for name in Outcome.__slots__},
                "weights": {name: p.detach().cpu() for name, p in self.parameters.items()},
                "keeper": self.keeper.state(),
                "optimizer": self.optimizer.state_dict(),
                "random": states,
            }
            checkpoints.save(self.folder / checkpoints.FILE_NAME, state)
        self.kept = self.outcome.steps

    def _resume(self) -> None:
        state = checkpoints.load(self.folder / checkpoints.FILE_NAME, identity=self.identity)
        # Every process waits here: the first one may delete a checkpoint of the last step as soon as it has read it.
        steps = together.from_each(None if state is None else state["outcome"]["steps"])
        if len(set(steps)) > 1:
            raise TrainingsApart(
                f"the processes of this training found different checkpoints in {str(self.folder)!r} (steps "
                f"{', '.join(map(str, steps))}): put the folder of the run where all of them can read it"
            )
        if state is None:
            return
        self.outcome = Outcome(**state["outcome"])
        self.keeper.put(state["weights"])
        self.keeper.restore(state["keeper"])
        self.optimizer.load_state_dict(state["optimizer"])
        step = self.kept = self.outcome.steps
        other = restore_random_state(state["random"], self.machine.device, seed=self.settings.seed, step=step)
        log.info("resumed at step %d of %d", step, self.total_steps)
        if other:
            log.warning(
                "%s: random numbers (dropout) are reseeded from here on, so the weights will not be exactly those of "
                "an uninterrupted training",
                other,
            )


def _first_judgement(judgement: Judgement | None) -> Judgement | None:
    if judgement is not None:  # numbers of numpy do not travel
        scores = {name: float(score) for name, score in judgement.scores.items()}
        judgement = Judgement(scores, float(judgement.value))
    first = together.from_first(judgement and asdict(judgement))
    return first and Judgement(**first)


def _optimizer(groups: Iterable[Group], settings: LoopSettings) -> torch.optim.AdamW:
    """Return AdamW; a group's `factor` is its learning rate as a multiple of the settings' rate."""

    def described(group: Group) -> dict[str, Any]:
        decay = settings.weight_decay if group.decays else 0.0
        return {"params": list(group.parameters.values()), "weight_decay": decay, "factor": group.factor}

    chosen = [described(group) for group in groups if group.parameters]  # each step sets their rates
    return torch.optim.AdamW(chosen, betas=settings.betas, fused=True)
