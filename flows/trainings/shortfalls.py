"""What the newest training of each encoder of a project lacks.

    training ──> evaluation ──> promotion
       │             │              └── refused: its scores do not hold against those of the current run
       │             └── failed, or not made
       └── failed

Works without Prefect: each step leaves its record in the folder of the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from features.core.errors import InputError
from flows.project import Project
from flows.trainings.finished_runs import shown_runs, unfinished_since
from training.encoders.settings import EncoderSettings
from training.evaluation.promotion import PROMOTION_FILE, current_run, was_refused
from training.evaluation.run import METRICS_FILE
from training.run_records import failed_evaluation
from training.runs import group_of, is_finished, newest, release_in_name, run_id, runs_named, seed_of, seeds_of
from training.writing import read_json

Step = Literal["training", "evaluation", "promotion"]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A step after a release that did not succeed, of a run or, if several seeds are meant, a training.

    `said` ends a sentence that begins with the run, `message` says why if that is known, `advice` names a command.
    """

    step: Step
    name: str
    run: str
    said: str
    message: str
    advice: str


def shortfalls(project: Project) -> list[Shortfall]:
    """Return what the newest training of each encoder of a project lacks."""
    return [
        lack
        for encoder in project.encoders
        for lack in (*_training(project.runs, encoder), *_after(project.runs, encoder.name))
    ]


def _training(runs: Path, encoder: EncoderSettings) -> Iterator[Shortfall]:
    for run, state in unfinished_since(runs, encoder.name)[-1:]:
        if state.state == "failed":
            advice = f"`{_train(encoder, run)}` tries again"
            yield Shortfall("training", encoder.name, run_id(runs, run), "failed", state.message, advice)


def _train(encoder: EncoderSettings, run: Path) -> str:
    further = seed_of(run) - encoder.loop.seed
    seeds = f" --seeds {further + 1}" if further > 0 else ""
    return f"facetflow train {encoder.name} --release {release_in_name(run)}{seeds}"


def _after(runs: Path, name: str) -> Iterator[Shortfall]:
    """Yield that of the newest finished training, whose evaluation or promotion is missing or failed."""
    finished = [run for run in runs_named(runs, name) if is_finished(run)]
    if not finished:
        return
    seeds = [run for run in seeds_of(newest(finished)) if is_finished(run)]
    current = current_run(runs, name)
    promote = "" if current is None else " --promote"
    failed = {run: message for run in seeds if (message := failed_evaluation(run))}
    for run, message in failed.items():
        failed_id = run_id(runs, run)
        advice = f"`facetflow evaluate {failed_id}{promote}` tries again"
        yield Shortfall("evaluation", name, failed_id, "could not be evaluated", message, advice)
    if missing := [run for run in seeds if run not in failed and not (run / METRICS_FILE).is_file()]:
        ids = [run_id(runs, run) for run in missing]
        which = ids[0] if len(missing) == 1 else name
        advice = f"`facetflow evaluate {which}{promote}` does it"
        yield Shortfall("evaluation", name, shown_runs(ids), "is not evaluated yet", "", advice)
    if current is None or group_of(current) == group_of(seeds[0].resolve()):
        return
    if refused := [run for run in seeds if was_refused(run) and run not in failed]:
        ids = [run_id(runs, run) for run in refused]
        advice = f"`facetflow compare {run_id(runs.resolve(), current)} {ids[0]}` shows more"
        yield Shortfall("promotion", name, shown_runs(ids), "was not promoted", _reasons(refused[0]), advice)


def _reasons(run: Path) -> str:
    try:
        return "; ".join(read_json(run / PROMOTION_FILE)["reasons"])
    except (InputError, KeyError, TypeError):  # deleted or written by hand since
        return ""
