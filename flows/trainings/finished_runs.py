"""Which finished runs to evaluate, and with which suites; works without Prefect."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from features.core.faults import EncoderUnfinished, UnknownName
from flows import project
from training.evaluation.suites import suites_of
from training.kinds import read_encoder_job
from training.run_records import RunState, state_of
from training.runs import (
    ENCODER,
    TRAINING_FILE,
    TRAINING_JOB,
    encoder_name,
    find_encoder,
    group_of,
    is_finished,
    latest_encoder,
    newest,
    no_training,
    release_in_name,
    run_id,
    runs_named,
    seeds_of,
)

_IN_WORDS = {"failed": "failed", "running": "is still running", "interrupted": "was interrupted"}


def runs_to_evaluate(settings: project.Project, names: Sequence[str]) -> list[Path]:
    """Return the finished runs behind names: the seeds of the newest finished training of an encoder, or one run."""
    encoders = {name: _find(settings, name) for name in names or _trained(settings)}
    runs: dict[Path, None] = {}
    for name, encoder in (encoders or {"": latest_encoder(settings.runs)}).items():
        run = encoder.parent
        seeds = [run] if run_id(settings.runs, run) == name else seeds_of(run)
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
        since = int((last / ENCODER / TRAINING_FILE).stat().st_mtime)  # states have no fractions of seconds
        unfinished = [
            (run, state)
            for run, state in unfinished
            if state.state == "running" or group_of(run) == group_of(last) or _time(run, state) >= since
        ]
    return sorted(unfinished, key=lambda pair: _time(*pair))


def shown_runs(ids: Sequence[str]) -> str:
    """Return how one or more seeds of a training are called: by their id, or that of the training and their number."""
    return ids[0] if len(ids) == 1 else f"{ids[0].rpartition('/')[0]} ({len(ids)} seeds)"


def suites_to_score(settings: project.Project, run: Path, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the suites that score a run: those asked for, or all that its kind has."""
    suites = suites_of(read_encoder_job(run / TRAINING_JOB).settings.kind)
    if unknown := [suite for suite in asked if suite not in suites]:
        raise UnknownName(
            f"The run {run_id(settings.runs, run)!r} has no suite {unknown[0]!r}: choose from {', '.join(suites)}."
        )
    return tuple(suite for suite in suites if suite in asked) or suites


def _trained(settings: project.Project) -> list[str]:
    """Return the names of the encoders of the project that have a finished run."""
    begun = [encoder.name for encoder in settings.encoders]
    return [name for name in begun if any(map(is_finished, runs_named(settings.runs, name)))]


def _find(settings: project.Project, name: str) -> Path:
    """Return the encoder that a name means."""
    begun = runs_named(settings.runs, name)
    if not begun and any(encoder.name == name for encoder in settings.encoders):
        raise no_training(settings.runs, name)
    if begun and not any(map(is_finished, begun)):
        run, state = unfinished_since(settings.runs, name)[-1]
        last_id = run_id(settings.runs, run)
        if state.state == "running":
            raise EncoderUnfinished(f"{name!r} has no finished encoder yet: {last_id} is still running; wait for it.")
        if state.state == "failed":
            raise EncoderUnfinished(
                f"{name!r} has no finished encoder: {last_id} failed ({state.message.rstrip('.')}). `facetflow train "
                f"{encoder_name(run)} --release {release_in_name(run)}` tries again."
            )
    return find_encoder(settings.runs, name)


def _time(run: Path, state: RunState) -> float:
    """Return the time of the state of a run, in seconds; when it was begun where that is not recorded."""
    if state.at:
        return datetime.fromisoformat(state.at).timestamp()
    job = run / TRAINING_JOB
    return job.stat().st_mtime if job.is_file() else 0.0
