"""The job that evaluates the encoder of a run, as the project file asks for it."""

from collections.abc import Sequence
from pathlib import Path

from features.core.errors import StoreError
from features.store.store import Store
from flows.project import Project
from flows.trainings.identities import Contents, unscored
from training.jobs import EvaluationJob, Source
from training.kinds import read_encoder_job
from training.runs import ENCODER, TRAINING_JOB


def evaluation_job(project: Project, run: Path, split: str | None = None, suites: Sequence[str] = ()) -> EvaluationJob:
    """Return the job that evaluates a run on the release that it was trained on.

    Raises:
        SettingsError: the training job of the run cannot be read.
    """
    trained = read_encoder_job(run / TRAINING_JOB)
    try:
        store = Store.open(project.store)
        contents = Contents.of(store, store.release(trained.source.release))
        without = unscored(project, trained.settings, contents)
    except StoreError:  # the suites that read the store say what is wrong with it
        without = trained.source.without
    return EvaluationJob(
        source=Source(store=project.store, release=trained.source.release, without=without),
        encoder=run / ENCODER,
        output=run,
        split=split or trained.settings.splits[1],
        suites=tuple(suites),
        ratings=tuple(each.model_dump(mode="json") for each in project.evaluation if not each.has_classes),
        tasks=tuple(each.model_dump(mode="json") for each in project.evaluation if each.has_classes),
        classifiers=project.transfer.classifiers,
        folds=project.transfer.folds,
        base=project.base,
        project=project.name,
    )
