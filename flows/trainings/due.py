"""What is left to train and to evaluate: the wanted, without what is finished under the expected identity.

    encoder of the project ──> finished under the identity that the release gives it?   ── no ──> a training is due
                                   │ yes
                                   └──> its seeds evaluated and judged under theirs?    ── no ──> an evaluation is due

A first training, new rows, other settings, a kill, a failure: all this one subtraction, as for shards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flows.project import Project
from flows.trainings.evaluation_job import evaluation_job
from flows.trainings.finished_runs import shown_runs
from flows.trainings.identities import Contents, differences, evaluation_identity, key_of, training_identity
from training.encoders.settings import EncoderSettings
from training.evaluation.promotion import PROMOTION_FILE
from training.run_records import Identity, evaluated_as, failed_evaluation, trained_as
from training.runs import is_finished, newest, run_id, runs_named, seeds_of

Step = Literal["training", "evaluation"]
_IN_WORDS = {"store": "the store", "settings": "its settings", "seed": "its seed", "encoder": "the encoder"}


@dataclass(frozen=True, slots=True)
class Due:
    """A training or an evaluation that is due.

    Args:
        step: which of the two.
        encoder: settings of the encoder.
        identity: one word for what decides the result.
        reason: why it is due, as a clause.
        runs: ids of the runs to evaluate; none for a training.
    """

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
    yield Due("training", encoder, _key(project, encoder, expected), reason)


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
        yield Due("evaluation", encoder, _key(project, encoder, *identities), reasons[0], tuple(missing))


def _key(project: Project, encoder: EncoderSettings, *identities: Identity) -> str:
    """Return one word that is unique on a server, also among encoders and copies of a project with equal settings."""
    return key_of({"project": project.name, "encoder": encoder.name}, *identities)


def _in_words(parts: list[str]) -> str:
    """Return names of parts of an identity, such as "its settings, pairs and metrics"."""
    words = [_IN_WORDS.get(part, part) for part in parts]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
