"""The loop of an encoder's training: run once, or once for each point of a search; the best result is kept.

    make_task(settings) ── Loop ── outcome ──┬── complete(learnt): the kind writes its encoder
                 └── again for each point ───┘
                     from the same start weights

The folder of a search, within that of the run, is deleted once the encoder is written:

    search/learning_rate=2e-05/    checkpoint.pt, while it is training and while it is the best
                                   tried.json, its result
"""

import math
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from features.core.faults import Conflict, LossNotFinite
from training.encoders.running import Learnt, TaskT, TrainingPlan, Tried
from training.encoders.settings import EncoderSettings, Point
from training.loop import checkpoints, together
from training.loop.course import FILE_NAME
from training.loop.loop import Loop, Outcome
from training.loop.machine import Machine
from training.loop.task import Task, parameters_of
from training.progress import log
from training.runs import SEARCH, flattened
from training.writing import read_json, require_writable, write_json

_TRIED = "tried.json"


def learn(
    plan: TrainingPlan,
    machine: Machine,
    make_task: Callable[[Any], TaskT],
    complete: Callable[[Learnt[TaskT]], None],
    *,
    about: str,
    before: Callable[[Learnt[TaskT]], None] | None = None,
) -> None:
    """Train to the end, resuming an interrupted training, and `complete` the encoder in the first process.

    Without a search, every process does what comes `before` that. The settings of its loop are those of the plan,
    unless the task has a `loop` of its own.
    """
    log.info("%s", about)
    points = plan.settings.points()
    if points[0].values:
        _search(plan, machine, points, make_task, complete)
        return
    task = make_task(plan.settings)
    loop = _make_loop(plan, machine, plan.settings, task)
    loop.run_and_write(
        lambda outcome: complete(Learnt(task, outcome, {})),
        before=None if before is None else lambda outcome: before(Learnt(task, outcome, {})),
    )


def learn_first(plan: TrainingPlan, machine: Machine, part: str, task: Task) -> Outcome:
    """Train what a training starts from, in a folder of its own within that of the run, where it also resumes."""
    loop = _make_loop(plan, machine, plan.settings, task, part)
    with loop.saying_what_is_left():
        return loop.run()


def _search(
    plan: TrainingPlan,
    machine: Machine,
    points: list[Point],
    make_task: Callable[[Any], TaskT],
    complete: Callable[[Learnt[TaskT]], None],
) -> None:
    """Try each point from the same start weights, then complete the best from its checkpoint.

    One that diverges is the worst, and ends only a search whose points all do.
    """
    folder = plan.job.output / SEARCH
    task = make_task(points[0].settings)
    if _read_tried(folder, points[0], plan.identity) is None and not together.from_first(task.judge() is not None):
        raise Conflict(
            "`search` chooses by the dev score, and there is none: give the corpora a dev split, name a set of ratings "
            "in `choose_by`, or leave `search` out."
        )
    start = {name: value.detach().clone() for name, value in parameters_of(task.groups).items()}

    def loop_at(point: Point) -> tuple[TaskT, Loop]:
        task = make_task(point.settings)
        with torch.no_grad():
            for name, value in parameters_of(task.groups).items():
                value.copy_(start[name])
                value.grad = None  # after a point that diverged it is no number
        return task, _make_loop(plan, machine, point.settings, task, point.name, within=SEARCH)

    tried: list[Tried] = []
    for number, point in enumerate(points, start=1):
        log.info("search, %d of %d: %s", number, len(points), point.name)
        result = _read_tried(folder, point, plan.identity)
        if result is None:
            _, loop = loop_at(point)
            with loop.saying_what_is_left():
                result = _write_tried(folder, point, plan.identity, _run(loop, point))
        tried.append(result)
        values = [-math.inf if each.value is None else each.value for each in tried]
        best = values.index(max(values))
        for position, other in enumerate(points[:number]):
            if position != best and together.rank() == 0:  # its checkpoint is no longer needed
                (folder / other.name / checkpoints.FILE_NAME).unlink(missing_ok=True)
    if tried[best].value is None:
        raise LossNotFinite(
            "every point of the search diverged: give `search` lower learning rates, lower loop.learning_rate, or "
            "train in loop.precision 'float32'"
        )
    chosen = points[best]
    log.info("the best of %d is %s", len(points), chosen.name)
    task, loop = loop_at(chosen)  # resumes from its checkpoint, which is at the end
    loop.run_and_write(lambda outcome: complete(Learnt(task, outcome, dict(chosen.values), tuple(tried))))
    if together.rank() == 0:
        if (course := loop.folder / FILE_NAME).exists():  # that of the encoder
            course.replace(plan.job.output / FILE_NAME)
        shutil.rmtree(folder, ignore_errors=True)


def _run(loop: Loop, point: Point) -> Outcome:
    try:
        return loop.run()
    except LossNotFinite as error:
        log.warning("%s diverged and is not chosen: %s", point.name, error)
        return Outcome(steps=loop.outcome.steps, seconds=loop.outcome.seconds)


def _make_loop(
    plan: TrainingPlan, machine: Machine, settings: EncoderSettings, task: Task, part: str = "", within: str = ""
) -> Loop:
    """Return the loop of a training, or of a part of it, which has a folder `within` that of the run."""
    folder, identity = plan.job.output / within / part, f"{plan.identity}, {part}" if part else plan.identity
    require_writable(folder)
    own, described = getattr(task, "loop", settings.loop), flattened(settings.model_dump(mode="json"))
    tracked_as = f"facetflow-{part}" if part else "facetflow"  # else parts would share a run of TensorBoard
    loop = Loop(task, own, machine, folder=folder, identity=identity, described=described, tracked_as=tracked_as)
    log.info("%d steps", loop.total_steps)
    torch.manual_seed(settings.loop.seed)
    return loop


def _read_tried(folder: Path, point: Point, identity: str) -> Tried | None:
    """Return the result of a point that was tried before this process started; None if it has not been tried."""
    file = folder / point.name / _TRIED
    record = together.from_first(read_json(file) if together.rank() == 0 and file.is_file() else None)
    return Tried(**record["tried"]) if record is not None and record["identity"] == identity else None


def _write_tried(folder: Path, point: Point, identity: str, outcome: Outcome) -> Tried:
    tried = Tried(
        dict(point.values),
        outcome.best_value if math.isfinite(outcome.best_value) else None,
        outcome.best_scores or {},
        outcome.steps,
        outcome.best_step,
        outcome.seconds,
    )
    if together.rank() == 0:
        write_json(folder / point.name / _TRIED, {"identity": identity, "tried": asdict(tried)})
    return Tried(**together.from_first(asdict(tried)))
