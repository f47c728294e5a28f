"""The flow that evaluates an encoder on the pairs of its release and on human ratings."""

from collections.abc import Sequence
from pathlib import Path

from prefect import flow

from features.core.errors import FacetflowError, PartlyDoneError, RunError
from features.metrics.own import OwnMetrics
from features.stages.metrics import METRIC_STAGE
from features.store.store import Store
from flows import project
from flows.pages.run_artifacts import show_evaluation
from flows.server.outbox import Outbox, telling_the_server
from flows.terminal import conclude, warn
from flows.trainings.due import Contents, due, evaluation_identity, evaluation_job
from flows.trainings.finished_runs import left_behind, runs_to_evaluate
from flows.trainings.promoting import promote_best
from flows.trainings.training_process import run_job
from training.evaluation.run import metrics_file
from training.jobs import EvaluationJob
from training.run_records import in_use, record_evaluation, record_failed_evaluation, trained_as
from training.runs import encoder_name, run_id


@flow(name="evaluate_encoder", persist_result=False)
def evaluate_encoder(
    project_file: Path = Path("facetflow.toml"),
    name: str | Sequence[str] | None = None,
    split: str | None = None,
    *,
    suites: Sequence[str] = (),
    promote: bool = False,
    wanted: str | None = None,
) -> list[Path]:
    """Evaluate encoders on the releases that they were trained on.

    Args:
        project_file: the project file; its [[evaluation]] names the human ratings.
        name: names of one or several encoders, or ids of runs; by default all encoders of the project. For an encoder,
            the finished seeds of its newest finished training are evaluated, with the project's settings if it has one.
        split: the split whose positive pairs are compared; by default the dev split of the training.
        suites: names of suites to score with (`suites_of`); by default all.
        promote: make the best of the evaluated runs of an encoder the current one if its scores hold against those of
            the one that is current now ([promotion]).
        wanted: the identity that a refresh wants (`flows.trainings.due`): evaluate and promote if it is still due.

    Returns:
        Folders with metrics.json and report.html.

    Raises:
        ModelError: there is no such run, or it has no encoder yet.
        PartlyDoneError: some evaluations failed; it holds the folders of the others, which were scored and promoted.
        RunError: all evaluations failed.
        SettingsError: no encoder has such a suite.
    """
    with telling_the_server() as outbox:
        settings = project.load(project_file)
        names = [name] if isinstance(name, str) else name
        if wanted is not None:
            store = Store.open(settings.store)
            items = due(settings, Contents.of(store, store.release()))
            if not any((item.step, item.identity) == ("evaluation", wanted) for item in items):
                conclude("It is no longer due: it was done meanwhile, or a training or other settings have followed.")
                return []
        for sentence in left_behind(settings, names or ()):
            warn(sentence)
        runs = runs_to_evaluate(settings, names or ())
        jobs = [evaluation_job(settings, run, split, suites) for run in runs]
        return evaluate_all(settings, jobs, outbox, promote=promote, unattended=wanted is not None)


def evaluate_all(
    settings: project.Project, jobs: Sequence[EvaluationJob], outbox: Outbox, *, promote: bool, unattended: bool
) -> list[Path]:
    """Evaluate encoders, judge them (`promote`), and show them on the server; otherwise as `evaluate_encoder`."""
    own = own_docstrings(settings)
    jobs = [job.model_copy(update={"own_metrics": own}) for job in jobs]
    with in_use(*(job.output for job in jobs)):
        # Now, since an evaluation set may change while it is scored on: then another evaluation is due.
        identities = {
            job.output: evaluation_identity(trained_as(job.output), run_id(settings.runs, job.output), job)
            for job in jobs
        }
        done, failure = _evaluated(jobs)
        by_encoder: dict[str, list[EvaluationJob]] = {}
        for job in done:
            by_encoder.setdefault(encoder_name(job.output.resolve()), []).append(job)
        unjudged: Exception | None = None
        for of_encoder in by_encoder.values():
            try:
                if promote:
                    promote_best(settings, of_encoder, [job.output for job in jobs], unattended=unattended)
            except Exception as error:  # noqa: BLE001 (the other encoders are judged, then it is raised)
                for job in of_encoder:
                    record_failed_evaluation(job.output, error)
                unjudged = unjudged or error
                continue
            for job in of_encoder:
                if not job.suites:  # evaluations by some suites are made by hand, beside the whole one
                    record_evaluation(job.output, identities[job.output])
    if unjudged is not None:
        raise unjudged
    for job in done:
        outbox.show_all(show_evaluation(settings, metrics_file(job.output, job.suites)))
    folders = [job.output for job in done]
    if failure is not None:
        raise (PartlyDoneError(str(failure), folders) if done else failure) from failure.__cause__
    return folders


def _evaluated(jobs: Sequence[EvaluationJob]) -> tuple[list[EvaluationJob], RunError | None]:
    """Evaluate in one process, so that a shared start model embeds only once."""

    def written(job: EvaluationJob) -> int:
        file = metrics_file(job.output, job.suites)
        return file.stat().st_mtime_ns if file.exists() else 0

    before = [written(job) for job in jobs]
    try:
        run_job("training.evaluation.run", *jobs)
    except RunError as error:
        done = [job for job, time in zip(jobs, before, strict=True) if written(job) != time]
        for job in jobs:
            if job not in done and not job.suites:
                record_failed_evaluation(job.output, error)
        return done, error
    return list(jobs), None


def own_docstrings(settings: project.Project) -> dict[str, str]:
    """Return the summaries of the project's own metrics; empty if their files no longer run.

    The values of the metrics are in the release: an evaluation does not run them.
    """
    try:
        own = OwnMetrics.read(settings.section(METRIC_STAGE).own).load()
    except FacetflowError:
        return {}
    return {metric.name: metric.summary for metric in own}
