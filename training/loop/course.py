"""Progress reports of a training: to the log, to a JSON Lines file in the run's folder, and to trackers."""

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from training.progress import EVERY, duration, log
from training.writing import writing_file

if TYPE_CHECKING:
    from accelerate import Accelerator

FILE_NAME = "progress.jsonl"
_RATE, _LEFT, _PER_SECOND = "learning_rate", "seconds_left", "_per_second"
_NOT_SCORES = frozenset({"step", "epoch", "best", _RATE, _LEFT})


def read_course(folder: Path) -> dict[str, dict[int, float]]:
    """Return the losses and dev scores that a training has reported in its folder: name → step → value.

    They are those of the part that reported last: each part, or point of a search, has a folder within that one.
    """
    course: dict[str, dict[int, float]] = {}
    try:
        file = max(folder.rglob(FILE_NAME), key=lambda file: file.stat().st_mtime_ns)
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # it has reported nothing yet
        return course
    for line in lines:
        try:
            entry = json.loads(line)
            step = int(entry["step"])
        except (ValueError, KeyError, TypeError):  # the last line may be half written
            continue
        for name, value in entry.items():
            is_score = name not in _NOT_SCORES and not name.endswith(_PER_SECOND)
            if is_score and isinstance(value, int | float) and math.isfinite(value):
                course.setdefault(name, {})[step] = value  # of a step that was repeated, the last
    return course


class Course:
    """Reports the progress of a training to its folder and the trackers; only the first of several processes does."""

    def __init__(self, folder: Path, accelerator: "Accelerator", *, unit: str, total: int, done: int) -> None:
        self.path = folder / FILE_NAME
        self.accelerator, self.unit, self.total, self.done = accelerator, unit, total, done
        self.started = time.perf_counter()
        self._forget()

    def _forget(self) -> None:
        self.sums: dict[str, float] = {}
        self.steps = self.units = 0
        self.since = time.perf_counter()

    @property
    def is_due(self) -> bool:
        """Whether the last report is so old that the training may seem to hang."""
        return time.perf_counter() - self.since > EVERY

    def add(self, losses: Mapping[str, float], units: int) -> None:
        """Count a step."""
        self.sums = {name: self.sums.get(name, 0.0) + value for name, value in losses.items()}
        self.steps += 1
        self.units += units

    def report(self, *, step: int, epoch: int, rate: float) -> None:
        """Report the mean losses since the last line, the speed and the remaining time."""
        means = {name: value / self.steps for name, value in self.sums.items()}
        speed = self.units / (time.perf_counter() - self.since)
        left = (self.total - step) * (time.perf_counter() - self.started) / (step - self.done)
        line = (
            f"step {step} of {self.total}, epoch {epoch + 1}: {_named(means)}, rate {rate:.1e}, "
            f"{speed:,.0f} {self.unit}/s, {duration(left)} left"
        )
        numbers = {**means, _RATE: rate, f"{self.unit}{_PER_SECOND}": speed}
        self._write(line, step, {"epoch": epoch + 1, **numbers, _LEFT: left}, numbers)
        self._forget()

    def report_dev(self, scores: Mapping[str, float], *, step: int, best: bool) -> None:
        """Report the dev scores."""
        line = f"step {step}: dev {_named(scores)}{', the best so far' if best else ''}"
        numbers = {f"dev_{name}": value for name, value in scores.items()}
        self._write(line, step, {**numbers, "best": best}, numbers)

    def _write(self, line: str, step: int, entry: Mapping[str, object], numbers: Mapping[str, float]) -> None:
        from training.loop.together import rank  # here, since pages read courses without torch

        if rank() > 0:
            return
        log.info(line)
        with writing_file(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **entry}) + "\n")
        self.accelerator.log(dict(numbers), step=step)


def _named(values: Mapping[str, float]) -> str:
    (first, value), *others = values.items()
    rest = ", ".join(f"{name} {value:.4f}" for name, value in others)
    return f"{first} {value:.4f}" + (f" ({rest})" if rest else "")
