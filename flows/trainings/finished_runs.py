"""Which finished runs to evaluate, and with which suites; works without Prefect."""

from collections.abc import Sequence
from pathlib import Path

from features.errors import SettingsError
from flows import project
from training.evaluation.suites import suites_of
from training.kinds import read_encoder_job
from training.runs import TRAINING_JOB, find_encoder, is_finished, latest_encoder, run_id, runs_named, seeds_of


def runs_to_evaluate(settings: project.Project, names: Sequence[str]) -> list[Path]:
    """Return the finished runs behind names: the seeds of the newest training of an encoder, or one run.

    Args:
        settings: the project file.
        names: names of encoders, or ids of runs; by default all trained encoders of the project.

    Raises:
        ModelError: a name has no finished run.
    """
    if not names:
        begun = [encoder.name for encoder in settings.encoders]
        known = [name for name in begun if any(map(is_finished, runs_named(settings.runs, name)))]
        newest = [find_encoder(settings.runs, name) for name in known] or [latest_encoder(settings.runs)]
    else:
        newest = [find_encoder(settings.runs, name) for name in names]
    found: dict[Path, None] = {}
    for encoder, name in zip(newest, names or [""] * len(newest), strict=True):
        run = encoder.parent
        exactly = run_id(settings.runs, run) == name
        group = [run] if exactly else seeds_of(run)
        found |= dict.fromkeys(one for one in group if is_finished(one))
    return list(found)


def suites_to_score(settings: project.Project, run: Path, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the suites that score a run.

    Args:
        settings: the project file.
        run: folder of the run.
        asked: names of suites; if empty, all that its kind has.

    Raises:
        SettingsError: its kind has no such suite.
    """
    known = suites_of(read_encoder_job(run / TRAINING_JOB).settings.kind)
    if unknown := [suite for suite in asked if suite not in known]:
        raise SettingsError(
            f"The run {run_id(settings.runs, run)!r} has no suite {unknown[0]!r}: choose from {', '.join(known)}."
        )
    return tuple(suite for suite in known if suite in asked) or known
