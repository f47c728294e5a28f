"""What is left to train and to evaluate: the wanted, without what is finished under the expected identity.

    encoder of the project ──> finished under the identity that the release gives it?   ── no ──> a training is due
                                   │ yes
                                   └──> its seeds evaluated and judged under theirs?    ── no ──> an evaluation is due

A first training, new rows, other settings, a kill, a failure: all this one subtraction, as for shards.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from features.core.errors import StoreError
from features.store.store import Store
from flows.project import Project
from flows.trainings.finished_runs import shown_runs
from flows.trainings.identities import Contents, differences, evaluation_identity, key_of, training_identity, unscored
from training.encoders.settings import EncoderSettings
from training.evaluation.promotion import PROMOTION_FILE
from training.jobs import EvaluationJob, Source
from training.kinds import read_encoder_job
from training.run_records import evaluated_as, failed_evaluation, trained_as
from training.runs import ENCODER, TRAINING_JOB, is_finished, newest, run_id, runs_named, seeds_of

Step = Literal["training", "evaluation"]
_IN_WORDS = {"store": "the store", "settings": "its settings", "seed": "its seed", "encoder": "the encoder"}


@dataclass(frozen=True, slots=True)
class Due:
    """A training or an evaluation of runs, by id, that is due under an identity, and why, as a clause."""

    step: Step
    encoder: EncoderSettings
    identity: str
    reason: str
    runs: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What is trained or evaluated: the name of the encoder, or ids of its runs."""
        return shown_runs(self.runs) if self.runs else self.encoder.name


def due(project: Project, contents: Contents) -> list[Due]:
    """Return the trainings and evaluations that are due on a release, in the order of the encoders."""
    return [item for encoder in project.encoders for item in _due(project, encoder, contents)]


def _due(project: Project, encoder: EncoderSettings, contents: Contents) -> Iterator[Due]:
    expected = training_identity(project, encoder, contents)
    finished = [run for run in runs_named(project.runs, encoder.name) if is_finished(run)]
    done = [run for run in finished if trained_as(run) == expected]
    if done:
        yield from _evaluations(project, encoder, newest(done))
        return
    reason = "it has no finished training"
    if finished:
        last = newest(finished)
        parts = _in_words(differences(trained_as(last), expected)) if trained_as(last) else "what it was trained on"
        reason = f"{parts} changed since {run_id(project.runs, last)}"
    yield Due("training", encoder, key_of(project, encoder, expected), reason)


def evaluation_job(project: Project, run: Path, split: str | None = None, suites: Sequence[str] = ()) -> EvaluationJob:
    """Return the job that evaluates a run on the release that it was trained on, by default by all suites."""
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


def _evaluations(project: Project, encoder: EncoderSettings, run: Path) -> Iterator[Due]:
    """Yield the evaluation of the finished seeds of a training that are not judged by what they are scored on now."""
    missing, identities, reasons = [], [], []
    for seed in seeds_of(run):
        if not is_finished(seed):
            continue
        name = run_id(project.runs, seed)
        expected = evaluation_identity(trained_as(seed), name, evaluation_job(project, seed))
        before = evaluated_as(seed)
        if before == expected and (seed / PROMOTION_FILE).is_file():
            continue
        missing.append(name)
        identities.append(expected)
        if failed_evaluation(seed):
            reasons.append("its evaluation failed")
        elif before and before != expected:
            reasons.append(f"{_in_words(differences(before, expected))} changed since it was evaluated")
        else:
            reasons.append("it is not judged yet" if before else "it is not evaluated yet")
    if missing:
        yield Due("evaluation", encoder, key_of(project, encoder, *identities), reasons[0], tuple(missing))


def _in_words(parts: list[str]) -> str:
    """Return names of parts of an identity, such as "its settings, pairs and metrics"."""
    words = [_IN_WORDS.get(part, part) for part in parts]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
