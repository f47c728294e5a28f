"""The flow that trains an encoder on a pinned release of the store."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from prefect import flow

from features.store.store import Store
from flows import project
from flows.announcing import intend
from flows.events import announce_pending, encoder_record
from flows.outbox import telling_the_server
from flows.run_artifacts import show_training
from flows.terminal import warn
from flows.training_process import run_job
from training.encoders.settings import EncoderSettings
from training.jobs import Source, TrainingJob
from training.kinds import KINDS
from training.runs import ENCODER, run_folder


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The encoder of a run.

    Args:
        folder: of the encoder.
        release: number of the release that it learnt from.
        was_done: it had been finished before, with the same settings and data, and nothing was done.
    """

    folder: Path
    release: int
    was_done: bool


@flow(name="train_encoder", persist_result=False)
def train_encoder(
    project_file: Path = Path("facetflow.toml"), release: int | None = None, name: str | None = None
) -> TrainedEncoder:
    """Train an encoder; a run that was interrupted goes on from its checkpoint, one that is finished is left alone.

    Args:
        project_file: the project file.
        release: number of the release to learn from; the newest by default.
        name: of the run and its folder; by default made from the release and the settings, so that the same training
            is the same run.

    Returns:
        The encoder.

    Raises:
        RunError: the training failed, or the run has an encoder of other settings or data.
        SettingsError: the name cannot be that of a run.
        StoreError: there is no such release.
    """
    with telling_the_server() as outbox:
        settings = project.load(project_file)
        encoder = _train(settings, release, name)
        outbox.show_all(show_training(settings, encoder.folder))
        return encoder


def _train(settings: project.Project, release: int | None, name: str | None) -> TrainedEncoder:
    store = Store.open(settings.store)
    pinned = store.latest_release() if release is None else store.release(release)
    job = TrainingJob[Source, EncoderSettings](
        source=Source(store=store.path, release=pinned.number),
        settings=settings.training,
        output=run_folder(settings.runs, _name(settings, pinned.number) if name is None else name),
        base=settings.base,
        licences={corpus.name: corpus.record.licence for corpus in settings.corpora},
    )
    # A finished encoder is never replaced: a job that succeeds where one is has found that it is the one.
    was_done = (job.output / ENCODER).is_dir()
    if not was_done:
        intend(encoder_record(job.output))
    run_job(KINDS[settings.training.kind].module, job)
    if unheard := announce_pending(settings, store):
        warn(unheard)
    return TrainedEncoder(job.output / ENCODER, pinned.number, was_done)


def _name(settings: project.Project, release: int) -> str:
    digest = hashlib.blake2b(settings.training.model_dump_json().encode(), digest_size=3).hexdigest()
    return f"release-{release:05d}-{digest}"
