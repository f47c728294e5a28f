"""The flow that trains encoders on a pinned release of the store."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from prefect import flow

from features.core.errors import FacetflowError, PartlyDoneError, RunError
from features.core.leftovers import remove_dead_scratch, scratch
from features.store.releases import Release
from features.store.store import Store
from flows import project
from flows.pages.run_artifacts import show_training
from flows.server.announcing import intend
from flows.server.events import announce_pending, encoder_record
from flows.server.outbox import Outbox, telling_the_server
from flows.terminal import conclude, say, warn
from flows.trainings.encoder_inputs import run_of, unchanged_since, unread
from flows.trainings.training_process import run_job
from training.encoders.settings import EncoderSettings
from training.jobs import Source, TrainingJob
from training.kinds import KINDS
from training.run_records import recorded
from training.runs import ENCODER, is_finished, run_id


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The encoder of a run.

    Args:
        name: name of the encoder.
        run: id of the run.
        folder: folder of the encoder.
        release: number of the release that it was trained on.
        seed: seed of its training loop.
        was_done: whether it had been finished before with the same settings and data, so that nothing was done.
    """

    name: str
    run: str
    folder: Path
    release: int
    seed: int
    was_done: bool


@flow(name="train_encoder", persist_result=False)
def train_encoder(
    project_file: Path = Path("facetflow.toml"),
    release: int | None = None,
    names: Sequence[str] = (),
    seeds: int = 1,
    *,
    only_changed: bool = False,
) -> list[TrainedEncoder]:
    """Train encoders; an interrupted run continues from its checkpoint, a finished one is left alone.

    Args:
        project_file: the project file.
        release: number of the release to train on; by default the newest.
        names: names of the encoders; by default all of the project.
        seeds: number of trainings of each, with the seed of its settings and the seeds that follow.
        only_changed: skip encoders that were trained on exactly the same input in an earlier release, and train on the
            newest release where the given one has been followed by others.

    Returns:
        The encoders. If one cannot be trained, the others still are.

    Raises:
        PartlyDoneError: some trainings failed; it holds the encoders of the others.
        RunError: all trainings failed.
        SettingsError: the project has no such encoder.
        StoreError: there is no such release.
    """
    with telling_the_server() as outbox:
        settings = project.load(project_file)
        store = Store.open(settings.store)
        pinned = store.release(release)
        trainings = [
            encoder.model_copy(update={"loop": encoder.loop.model_copy(update={"seed": encoder.loop.seed + further})})
            for encoder in chosen_encoders(settings, names)
            for further in range(seeds)
        ]
        if only_changed:
            pinned = _newest(store, pinned)
            trainings = list(_changed(settings, store, pinned, trainings))
        remove_dead_scratch()  # a killed command may leave gigabytes
        with scratch("states") if len(trainings) > 1 else nullcontext() as shared:
            return _train_all(settings, store, pinned, trainings, outbox, shared)


def chosen_encoders(settings: project.Project, names: Sequence[str]) -> list[EncoderSettings]:
    """Return the encoders with some names, by default all.

    Raises:
        SettingsError: the project has no such encoder, or none at all.
    """
    if not names and not settings.encoders:
        # The project does so on purpose, so nothing that follows a release may fail; the user is warned.
        warn(f"The project {settings.name!r} has no encoder: add a section [[encoders]] to train one.")
    return [settings.encoder(name) for name in dict.fromkeys(names)] if names else list(settings.encoders)


def _newest(store: Store, pinned: Release) -> Release:
    """Return the newest release, and report it where it is not the given one.

    Trainings wait for each other: if they take longer than the time between two releases, those on releases that have
    been followed by others would never end.
    """
    newest = store.latest_release()
    if newest.number != pinned.number:
        conclude(f"Release {pinned.number} has been followed by release {newest.number}: that one is trained on.")
    return newest


def _changed(
    settings: project.Project, store: Store, pinned: Release, trainings: Sequence[EncoderSettings]
) -> Iterator[EncoderSettings]:
    """Yield the encoders that were not trained on the same input yet, and report that the others are left alone."""
    for encoder in trainings:
        run = unchanged_since(settings, store, pinned, encoder)
        if run is None:
            yield encoder
        else:
            conclude(
                f"Encoder {encoder.name!r} is left alone: nothing that it reads has changed in release {pinned.number} "
                f"since {run_id(settings.runs, run)}."
            )


def _train_all(
    settings: project.Project,
    store: Store,
    pinned: Release,
    trainings: Sequence[EncoderSettings],
    outbox: Outbox,
    shared: Path | None,
) -> list[TrainedEncoder]:
    trained: list[TrainedEncoder] = []
    failures: list[tuple[str, FacetflowError]] = []
    for encoder in trainings:
        if len(trainings) > 1:
            say(f"Encoder {encoder.name!r}, seed {encoder.loop.seed}:")
        try:
            trained.append(_train(settings, store, pinned, encoder, shared))
        except FacetflowError as error:
            failures.append((f"{encoder.name}, seed {encoder.loop.seed}", error))
            if len(trainings) > 1:
                warn(f"failed: {error}")
        else:
            outbox.show_all(show_training(settings, trained[-1].folder))
        if unheard := announce_pending(settings, store):
            warn(unheard)
    if failures and len(trainings) == 1:
        raise failures[0][1]
    if failures:
        named = "; ".join(f"{what}: {str(error).rstrip('.')}" for what, error in failures)
        said = f"{len(failures)} of {len(trainings)} trainings failed ({named})."
        raise (PartlyDoneError(said, trained) if trained else RunError(said)) from failures[0][1]
    return trained


def _train(
    settings: project.Project, store: Store, pinned: Release, encoder: EncoderSettings, shared: Path | None
) -> TrainedEncoder:
    seed = encoder.loop.seed
    without = unread(settings, encoder, store, pinned)
    run = run_of(settings, encoder, pinned.number, without)
    job = TrainingJob[Source, EncoderSettings](
        source=Source(store=Path(store.location), release=pinned.number, without=without),
        settings=encoder,
        output=run,
        base=settings.base,
        licences={corpus.name: corpus.record.licence for corpus in settings.corpora},
        ratings=tuple(
            found.model_dump(mode="json")
            for found in settings.evaluation
            if encoder.by_ratings and found.name == encoder.choose_by
        ),
        shared=shared,
    )
    with recorded(run):
        # A finished encoder is never replaced: a job that succeeds there has found it to be the same.
        was_done = is_finished(run)
        if not was_done:
            intend(encoder_record(run))
        run_job(KINDS[encoder.kind].module, job)
    return TrainedEncoder(encoder.name, run_id(settings.runs, run), run / ENCODER, pinned.number, seed, was_done)
