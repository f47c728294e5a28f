"""The flow that evaluates an encoder on the pairs of its release and on human ratings."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.runtime import deployment

from features.errors import FacetflowError, PartlyDoneError, RunError, StoreError
from features.metrics.own_files import load_files, read_metric_file
from features.store.store import Store
from flows import project
from flows.pages.run_artifacts import show_evaluation
from flows.server.outbox import telling_the_server
from flows.terminal import conclude
from flows.trainings.encoder_inputs import unscored
from flows.trainings.finished_runs import runs_to_evaluate
from flows.trainings.training_process import run_job
from training.evaluation.promotion import Verdict, compare_scores, current_run, on_same_pairs
from training.evaluation.promotion import promote as promote_run
from training.evaluation.run import METRICS_FILE, metrics_file
from training.jobs import EvaluationJob, Source
from training.kinds import read_encoder_job, release_of
from training.runs import ENCODER, TRAINING_JOB, encoder_name, run_id
from training.writing import read_json, write_json

PROMOTION_FILE = "promotion.json"
"""Next to the scores of a run: whether it was promoted, against which run, and why."""


@flow(name="evaluate_encoder", persist_result=False)
def evaluate_encoder(
    project_file: Path = Path("facetflow.toml"),
    name: str | Sequence[str] | None = None,
    split: str | None = None,
    *,
    suites: Sequence[str] = (),
    promote: bool = False,
) -> list[Path]:
    """Evaluate encoders on the releases that they were trained on.

    Args:
        project_file: the project file; its [[evaluation]] names the human ratings.
        name: names of one or several encoders, or ids of runs; by default all encoders of the project. For an encoder,
            all seeds of its newest training are evaluated.
        split: the split whose positive pairs are compared; by default the dev split of the training.
        suites: names of suites to score with (`suites_of`); by default all.
        promote: make an encoder the current one if its scores hold against those of the current one ([promotion]).

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
        jobs = [_job(settings, run, split, suites) for run in runs_to_evaluate(settings, names or ())]
        for job in _evaluated(jobs):
            if promote:
                _promote_if_it_holds(settings, job, unattended=deployment.id is not None)
            outbox.show_all(show_evaluation(settings, metrics_file(job.output, suites)))
        return [job.output for job in jobs]


def _evaluated(jobs: Sequence[EvaluationJob]) -> Iterator[EvaluationJob]:
    """Evaluate in one process, so that a shared start model embeds only once, and yield what was evaluated.

    Raises:
        PartlyDoneError: some evaluations failed; it holds the folders of the others, which have been yielded.
        RunError: all evaluations failed.
    """

    def written(job: EvaluationJob) -> int:
        file = metrics_file(job.output, job.suites)
        return file.stat().st_mtime_ns if file.exists() else 0

    before = [written(job) for job in jobs]
    done, failure = list[Path](), None
    try:
        run_job("training.evaluation.run", *jobs)
    except RunError as error:
        failure = error
    for job, time in zip(jobs, before, strict=True):
        if failure is None or written(job) != time:
            yield job
            done.append(job.output)
    if failure is not None:
        raise (PartlyDoneError(str(failure), done) if done else failure) from failure.__cause__


def _job(settings: project.Project, run: Path, split: str | None, suites: Sequence[str]) -> EvaluationJob:
    trained = read_encoder_job(run / TRAINING_JOB)
    try:
        store = Store.open(settings.store)
        without = unscored(settings, trained.settings, store, store.release(trained.source.release))
    except StoreError:  # the suites that read the store say what is wrong with it
        without = trained.source.without
    return EvaluationJob(
        source=Source(store=settings.store, release=trained.source.release, without=without),
        encoder=run / ENCODER,
        output=run,
        split=split or trained.settings.splits[1],
        suites=tuple(suites),
        ratings=tuple(each.model_dump(mode="json") for each in settings.evaluation if not each.has_classes),
        tasks=tuple(each.model_dump(mode="json") for each in settings.evaluation if each.has_classes),
        classifiers=settings.transfer.classifiers,
        folds=settings.transfer.folds,
        base=settings.base,
        project=settings.name,
        own_metrics=own_docstrings(settings),
    )


def _promote_if_it_holds(settings: project.Project, job: EvaluationJob, *, unattended: bool) -> None:
    """Make the evaluated run the current one, unless the current one is better beyond the limits.

    Args:
        settings: the project.
        job: the evaluation.
        unattended: whether a server began it: what was late then promotes no run of an older release.
    """
    run = job.output.resolve()
    name = encoder_name(run)
    before = current_run(settings.runs, name)
    if before == run:
        return
    verdict = Verdict(holds=True, reasons=("there was no current encoder",))
    if before is not None:
        newer, release = release_of(before) or 0, release_of(run) or 0
        if unattended and release < newer:
            reason = f"the current run was trained on release {newer}, this one on release {release}"
            verdict = Verdict(holds=False, reasons=(reason,))
        else:
            new = read_json(job.output / METRICS_FILE)
            verdict = compare_scores(new, _scores_on_the_same_pairs(before, new, job), settings.promotion)
    if verdict.holds:
        promote_run(run, name)
    known = run_id(settings.runs.resolve(), run)
    what = f"is now the current run of the encoder {name!r}" if verdict.holds else "was not promoted"
    write_json(
        job.output / PROMOTION_FILE,
        {
            "promoted": verdict.holds,
            "against": run_id(settings.runs.resolve(), before) if before is not None else None,
            "reasons": list(verdict.reasons),
        },
    )
    conclude(f"{known} {what}: {'; '.join(verdict.reasons)}.")


def _scores_on_the_same_pairs(before: Path, new: Any, job: EvaluationJob) -> Any:
    """Return the current encoder's scores, re-evaluated if they are for other pairs or sets of ratings."""
    known = before / METRICS_FILE
    if known.exists():
        scores = read_json(known)
        if on_same_pairs(new, scores):
            return scores
    again = job.model_copy(update={"encoder": before / ENCODER, "output": job.output / "current"})
    run_job("training.evaluation.run", again)
    return read_json(again.output / METRICS_FILE)


def own_docstrings(settings: project.Project) -> dict[str, str]:
    """Return the summaries of the project's own metrics; empty if their files no longer run.

    The values of the metrics are in the release: an evaluation does not run them.
    """
    try:
        own = load_files(read_metric_file(file) for file in settings.metrics.own)
    except FacetflowError:
        return {}
    return {metric.name: metric.summary for metric in own}
