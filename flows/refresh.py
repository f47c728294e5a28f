"""The flow that walks the whole plan: build, publish, train, evaluate, promote.

    build ──> release ──> due? ──> train ──> due? ──> evaluate ──> promote

Where a Prefect server has the deployments of the project (`facetflow up`, `facetflow deploy`), it begins trainings and
evaluations there, and whoever finishes one begins what follows; otherwise they are done here. After a kill, anywhere,
the next refresh goes on: what is due is computed from what is finished, and nothing else is remembered.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from features.core.errors import FacetflowError
from features.store.runs import RunRecord
from features.store.store import Store
from flows import project
from flows.build_features import build
from flows.evaluate_encoder import evaluate_all
from flows.server.attempts import begin_due
from flows.server.outbox import Outbox, telling_the_server
from flows.terminal import conclude, say, warn
from flows.train_encoder import TrainedEncoder, train_all
from flows.trainings.due import Contents, Due, Step, due, evaluation_job
from flows.trainings.finished_runs import shortfalls
from training.runs import run_id


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did: its build, the runs that were trained and evaluated here, by id, and why others failed.

    `served` is what a server does, also since an earlier refresh: encoders to train, runs to evaluate.
    """

    build: RunRecord | None  # None without corpora
    trained: tuple[str, ...] = ()
    evaluated: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


@flow(name="refresh", persist_result=False)
def refresh(
    project_file: Path = Path("facetflow.toml"), dask_address: str | None = None, *, deep: bool = False
) -> "State[Refreshed]":
    """Build, publish, train what is due, evaluate and promote; run again after anything, it goes on.

    Its parameters are those of `build_features`.

    Returns:
        Completed with what was done; Failed with it when the build published nothing, or a training or an evaluation
        failed.

    Raises:
        FacetflowError: the build could not be done, or what is due cannot be found out.
    """
    with telling_the_server() as outbox:
        record = build(outbox, project_file, dask_address, deep=deep) if project.load(project_file).corpora else None
        settings = project.load(project_file)
        store = Store.open(settings.store)
        if record is None:
            store.release()  # which nothing here would make
        items = begin_due(settings, store) if store.releases() else []
        if items is None:
            done = _follow(record, settings, store, outbox)
        else:
            done = Refreshed(record, served=tuple(item.subject for item in items))
    message = " ".join((*([record.message] if record else []), *done.failures))
    state = Failed if done.failures or (record and record.state != "done") else Completed
    return state(message=message, data=done)


def _follow(record: RunRecord | None, settings: project.Project, store: Store, outbox: Outbox) -> Refreshed:
    """Train, evaluate and promote what is due, in this process; what fails ends nothing else."""
    trained: list[TrainedEncoder] = []
    folders: list[Path] = []
    failures: list[str] = []
    try:
        if trainings := _due(settings, store, "training"):
            encoders = [item.encoder for item in trainings]
            trained = train_all(settings, store, store.release(), encoders, outbox)
    except FacetflowError as error:
        trained = _tell(error, failures)
    try:
        if evaluations := _due(settings, store, "evaluation"):
            jobs = [evaluation_job(settings, settings.runs / run) for item in evaluations for run in item.runs]
            folders = evaluate_all(settings, jobs, outbox, promote=True, unattended=True)
    except FacetflowError as error:
        folders = _tell(error, failures)
    if settings.encoders and not (trained or folders or failures):
        conclude("All encoders are trained, evaluated and judged.")
        for lack in shortfalls(settings):  # such as one that held, where the settings are those of before
            conclude(f"{lack}.")
    return Refreshed(
        record,
        trained=tuple(encoder.run for encoder in trained),
        evaluated=tuple(run_id(settings.runs, folder) for folder in folders),
        failures=tuple(failures),
    )


def _due(settings: project.Project, store: Store, step: Step) -> list[Due]:
    items = [item for item in due(settings, Contents.of(store, store.release())) if item.step == step]
    for item in items:
        say(f"The {step} of {item.subject} is due, because {item.reason}.")
    return items


def _tell(error: FacetflowError, failures: list[str]) -> list[Any]:
    """Warn of a failure, add it to the others, and return what succeeded nevertheless."""
    warn(f"failed: {error.with_code()}")
    failures.append(str(error))
    return getattr(error, "done", [])
