"""Trainings and evaluations that no build starts again, because they ended without a result too often."""

from collections.abc import Mapping
from typing import Any

from features.store.store import Store
from flows.project import Project
from flows.server.dead_runs import ATTEMPTS
from flows.trainings.encoder_inputs import run_of, unchanged_since, unread
from training.evaluation.promotion import PROMOTION_FILE
from training.runs import is_finished


def advice_on(project: Project, store: Store, flow: str, parameters: Mapping[str, Any]) -> str:
    """Return what the user is told of a flow that is left to them; empty if they have done it since.

    Args:
        project: the project.
        store: its store, with a release.
        flow: `train_encoder`, on the newest release, or `evaluate_encoder`.
        parameters: those of its runs.
    """
    if flow == "evaluate_encoder":
        run = str(parameters.get("name"))
        if not is_finished(project.runs / run) or (project.runs / run / PROMOTION_FILE).is_file():
            return ""
        what, command = run, f"facetflow evaluate {run} --promote"
    else:
        if not (missing := _untrained(project, store)):
            return ""
        what, command = f"release {parameters.get('release')}", f"facetflow train {' '.join(missing)}"
    return f"{flow} ({what}) has ended without a result {ATTEMPTS} times and is not started again: `{command}` does."


def _untrained(project: Project, store: Store) -> list[str]:
    """Return the names of the encoders that the newest release should have trained, and that are not finished."""
    newest = store.latest_release()
    return [
        encoder.name
        for encoder in project.encoders
        if not is_finished(run_of(project, encoder, newest.number, unread(project, encoder, store, newest)))
        and unchanged_since(project, store, newest, encoder) is None
    ]
