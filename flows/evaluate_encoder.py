"""The flow that evaluates an encoder on the pairs of its release and on human ratings."""

from pathlib import Path

from prefect import flow

from flows import project
from flows.training_process import run_job
from training.jobs import TRAINING_JOB, EvaluationJob, Source, TrainingJob, find_encoder, latest_encoder, read_job


@flow(name="evaluate_encoder", persist_result=False)
def evaluate_encoder(project_file: Path = Path("facetflow.toml"), name: str | None = None, split: str = "dev") -> Path:
    """Evaluate an encoder on the release that it learned from.

    Args:
        project_file: the project file; its [[evaluation]] names the human ratings.
        name: of the training run; the newest that is finished by default.
        split: the split whose positive pairs are compared.

    Returns:
        Folder with metrics.json and report.html.

    Raises:
        ModelError: there is no such run, or it has no encoder yet.
        RunError: the evaluation failed.
    """
    settings = project.load(project_file)
    encoder = latest_encoder(settings.runs) if name is None else find_encoder(settings.runs, name)
    trained = read_job(TrainingJob, encoder.parent / TRAINING_JOB)
    job = EvaluationJob(
        source=Source(store=settings.store, release=trained.source.release),
        encoder=encoder,
        output=encoder.parent,
        split=split,
        ratings=tuple(ratings.model_dump(mode="json") for ratings in settings.evaluation),
        base=settings.base,
    )
    run_job("training.evaluation.run", job)
    return job.output
