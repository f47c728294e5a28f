"""Which finished runs to evaluate, with which suites, and what the newest training of each encoder lacks.

    training ──> evaluation ──> promotion
       │             │              └── refused: its scores do not hold against those of the current run
       │             └── failed, or not made
       └── failed

Works without Prefect: each step leaves its record in the folder of the run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from features.core.errors import FacetflowError
from features.core.faults import EncoderUnfinished, UnknownName
from flows import project
from training.encoders.settings import EncoderSettings
from training.evaluation.promotion import PROMOTION_FILE, current_run, refusal
from training.evaluation.suites import suites_of
from training.kinds import read_encoder_job
from training.run_records import RunState, evaluation_of, state_of
from training.runs import (
    ENCODER,
    METRICS_FILE,
    TRAINING_JOB,
    encoder_name,
    find_encoder,
    group_of,
    is_finished,
    latest_encoder,
    newest,
    no_training,
    release_of,
    run_id,
    runs_named,
    seed_of,
    seeds_of,
    settings_digest,
)

_IN_WORDS = {"failed": "failed", "running": "is still running", "interrupted": "was interrupted"}


def runs_to_evaluate(settings: project.Project, names: Sequence[str]) -> list[Path]:
    """Return the finished runs behind names: the seeds of an encoder's newest finished training, or one run.

    If the project file went back to settings that were trained before, that training is meant, not the newest.
    """
    encoders = {name: _find(settings, name) for name in names or _trained(settings)}
    runs: dict[Path, None] = {}
    for name, encoder in (encoders or {"": latest_encoder(settings.runs)}).items():
        run = encoder.parent
        alone = runs_named(settings.runs, name) == [run]  # by its id, or by a link such as `syntax/current`
        seeds = [run] if alone else seeds_of(run)
        runs |= dict.fromkeys(seed for seed in seeds if is_finished(seed))
    return list(runs)


def left_behind(settings: project.Project, names: Sequence[str]) -> list[str]:
    """Return a sentence for each name whose newest training is not finished, so that it means older runs."""
    sentences = []
    for name in dict.fromkeys(names or _trained(settings)):
        meant = runs_to_evaluate(settings, [name])
        groups = {group_of(run) for run in meant}
        unfinished = [
            f"{'' if group_of(run) in groups else 'the newer '}{run_id(settings.runs, run)} {_IN_WORDS[state.state]}"
            for run, state in unfinished_since(settings.runs, name)
        ]
        if unfinished:
            ids = [run_id(settings.runs, run) for run in meant]
            sentences.append(
                f"{name!r} means {shown_runs(ids)} here, because {' and '.join(unfinished)} (see `facetflow runs "
                f"{encoder_name(meant[0])}`)."
            )
    return sentences


def unfinished_since(runs: Path, name: str) -> list[tuple[Path, RunState]]:
    """Return the unfinished runs behind a name, the newest last, since or beside the last finished one."""
    begun = runs_named(runs, name)
    finished = [run for run in begun if is_finished(run)]
    last = newest(finished) if finished else None
    unfinished = [(run, state_of(run)) for run in begun if run not in finished]
    if last is not None:
        since = _time(last, state_of(last))
        unfinished = [
            (run, state)
            for run, state in unfinished
            if state.state == "running" or group_of(run) == group_of(last) or _time(run, state) >= since
        ]
    return sorted(unfinished, key=lambda pair: _time(*pair))


def shown_runs(ids: Sequence[str]) -> str:
    """Return how one or more seeds of a training are called: by their id, or that of the training and their number."""
    return ids[0] if len(ids) == 1 else f"{ids[0].rpartition('/')[0]} ({len(ids)} seeds)"


def not_evaluated(settings: project.Project, name: str, runs: Sequence[Path]) -> str:
    """Return a sentence on runs behind a name that lack a complete evaluation, with an older run that has one."""
    ids = [run_id(settings.runs, run) for run in runs]
    meant = "" if ids == [name] else f", which means {shown_runs(ids)},"
    of_name = runs_named(settings.runs, encoder_name(runs[0]))
    older = [run for run in of_name if is_finished(run) and (run / METRICS_FILE).is_file()]
    instead = f", or compare {run_id(settings.runs, newest(older))}, which was evaluated" if older else ""
    named = sorted({suite for run in runs for file in run.glob("metrics-*.json") for suite in file.stem.split("-")[1:]})
    alone = f"was evaluated by {' and '.join(named)} alone (--suite), and only complete evaluations are compared"
    lacks = alone if named else "has not been evaluated yet"
    return f"{name!r}{meant} {lacks}: run `facetflow evaluate {name}` first{instead}."


def check_suites(settings: project.Project, run: Path, asked: Sequence[str]) -> None:
    """Check that the kind of a run has the suites asked for."""
    suites = suites_of(read_encoder_job(run / TRAINING_JOB).settings.kind)
    if unknown := [suite for suite in asked if suite not in suites]:
        raise UnknownName(
            f"The run {run_id(settings.runs, run)!r} has no suite {unknown[0]!r}: choose from {', '.join(suites)}."
        )


def _trained(settings: project.Project) -> list[str]:
    """Return the names of the encoders of the project that have a finished run."""
    begun = [encoder.name for encoder in settings.encoders]
    return [name for name in begun if any(map(is_finished, runs_named(settings.runs, name)))]


def _find(settings: project.Project, name: str) -> Path:
    begun = runs_named(settings.runs, name)
    if finished := [run for run in begun if is_finished(run)]:
        return _newest(settings, finished) / ENCODER
    if not begun and any(encoder.name == name for encoder in settings.encoders):
        raise no_training(settings.runs, name)
    if begun:
        run, state = unfinished_since(settings.runs, name)[-1]
        last_id = run_id(settings.runs, run)
        if state.state == "running":
            raise EncoderUnfinished(f"{name!r} has no finished encoder yet: {last_id} is still running; wait for it.")
        if state.state == "failed":
            raise EncoderUnfinished(
                f"{name!r} has no finished encoder: {last_id} failed ({state.message.rstrip('.')}). `facetflow train "
                f"{encoder_name(run)} --release {release_of(run)}` tries again."
            )
    return find_encoder(settings.runs, name)


def _newest(settings: project.Project, finished: Sequence[Path]) -> Path:
    """Return the newest of finished runs, of those with the settings of the project file if it has some."""
    wanted = {encoder.name: settings_digest(encoder) for encoder in settings.encoders}
    return newest([run for run in finished if wanted.get(encoder_name(run)) == _digest(run)] or finished)


def _digest(run: Path) -> str:
    try:
        return settings_digest(read_encoder_job(run / TRAINING_JOB).settings)
    except FacetflowError:  # its encoder is whole nevertheless
        return ""


def _time(run: Path, state: RunState) -> float:
    """Return the time of the state of a run, in seconds; when it was begun where that is not recorded."""
    if state.at:
        return datetime.fromisoformat(state.at).timestamp()
    job = run / TRAINING_JOB
    return job.stat().st_mtime if job.is_file() else 0.0


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A step after a release that did not succeed, of a run or, if several seeds are meant, a training.

    `said` ends a sentence that begins with the run, `message` says why if that is known, `advice` names a command.
    """

    step: Literal["training", "evaluation", "promotion"]
    name: str
    run: str
    said: str
    message: str
    advice: str

    def __str__(self) -> str:
        why = f": {first.rstrip('.')}" if (first := self.message.partition("\n")[0]) else ""
        return f"Newest training {self.run} {self.said}{why} ({self.advice})"


def shortfalls(settings: project.Project) -> list[Shortfall]:
    """Return what the newest training of each encoder of a project lacks."""
    return [
        lack
        for encoder in settings.encoders
        for lack in (*_training(settings.runs, encoder), *_after(settings, encoder.name))
    ]


def _training(runs: Path, encoder: EncoderSettings) -> Iterator[Shortfall]:
    wanted = {settings_digest(encoder), ""}  # of settings that the project has left, nothing is lacking
    unfinished = [(run, state) for run, state in unfinished_since(runs, encoder.name) if _digest(run) in wanted]
    for run, state in unfinished[-1:]:
        if state.state != "running":
            further = seed_of(run) - encoder.loop.seed
            seeds = f" --seeds {further + 1}" if further > 0 else ""
            advice = f"`facetflow train {encoder.name} --release {release_of(run)}{seeds}` tries again"
            yield Shortfall("training", encoder.name, run_id(runs, run), _IN_WORDS[state.state], state.message, advice)


def _after(settings: project.Project, name: str) -> Iterator[Shortfall]:
    """Yield that of the newest finished training, whose evaluation or promotion is missing or failed."""
    runs = settings.runs
    finished = [run for run in runs_named(runs, name) if is_finished(run)]
    if not finished:
        return
    seeds = [run for run in seeds_of(_newest(settings, finished)) if is_finished(run)]
    current = current_run(runs, name)
    promote = "" if current is None else " --promote"
    failed = {run: message for run in seeds if (message := evaluation_of(run).message)}
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
    if refused := [run for run in seeds if run not in failed and refusal(run) is not None]:
        ids = [run_id(runs, run) for run in refused]
        advice = f"`facetflow compare {run_id(runs.resolve(), current)} {ids[0]}` shows more"
        yield Shortfall("promotion", name, shown_runs(ids), "was not promoted", refusal(refused[0]) or "", advice)
    elif judged := [run_id(runs, run) for run in seeds if run not in failed and (run / PROMOTION_FILE).is_file()]:
        since, advice = run_id(runs.resolve(), current), f"`facetflow evaluate {judged[0]} --promote` judges it again"
        yield Shortfall("promotion", name, shown_runs(judged), "held, but another run is current", since, advice)
