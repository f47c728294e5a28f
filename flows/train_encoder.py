"""The flow that trains encoders on a pinned release of the store."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
from prefect import flow

from features.core.errors import FacetflowError, PartlyDoneError
from features.core.faults import TrainingFailed
from features.core.leftovers import remove_dead_scratch, scratch
from features.ingest.leaks import LeakageGuard
from features.store.releases import Release
from features.store.store import Store
from flows import project
from flows.pages.run_artifacts import show_training
from flows.server.attempts import begin_due
from flows.server.outbox import Outbox, telling_the_server
from flows.terminal import conclude, say, warn
from flows.trainings.due import Contents, due, run_of, training_identity, unread
from flows.trainings.training_process import run_job
from training.data.releases import choose_rows
from training.encoders.settings import EncoderSettings
from training.jobs import TRAIN, Source, TrainingJob
from training.kinds import tables_of
from training.run_records import recorded
from training.runs import ENCODER, PER_SECOND, is_finished, run_id, training_of


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The encoder of a run; `was_done`: it had been finished before with the same settings and data."""

    name: str
    run: str
    folder: Path
    release: int
    seed: int
    was_done: bool

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values, with what its training reported."""
        course = training_of(self.folder)
        reported = {"steps", "best_step", "dev", "seconds"}
        described = asdict(self) | {"encoder": str(self.folder)}
        del described["folder"]
        return described | {key: course[key] for key in course if key in reported or key.endswith(PER_SECOND)}


@flow(name="train_encoder", persist_result=False)
def train_encoder(
    project_file: Path = Path("facetflow.toml"),
    release: int | None = None,
    names: Sequence[str] = (),
    seeds: int = 1,
    *,
    wanted: str | None = None,
) -> list[TrainedEncoder]:
    """Train encoders; an interrupted run continues from its checkpoint, a finished one is left alone.

    Args:
        project_file: the project file.
        release: number of the release to train on; by default the newest.
        names: names of the encoders; by default all of the project.
        seeds: number of trainings of each, with the seed of its settings and the seeds that follow.
        wanted: the identity that a refresh wants (`flows.trainings.due`): train on the newest release if that still
            gives the encoder this identity and nobody has finished it; what is due then follows.

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
        if not names and not settings.encoders:
            # The project does so on purpose, so nothing that follows a release may fail; the user is warned.
            warn(f"The project {settings.name!r} has no encoder: replace `encoders = []` by a section [[encoders]].")
        if wanted is None:
            encoders = [settings.encoder(name) for name in dict.fromkeys(names)] or list(settings.encoders)
        else:  # an encoder that waited may have left the project
            items = due(settings, Contents.of(store, pinned))
            encoders = [item.encoder for item in items if (item.step, item.identity) == ("training", wanted)]
            if not encoders:
                conclude("It is no longer due: it was done meanwhile, or a release or other settings have followed.")
        trained = train_all(settings, store, pinned, encoders, outbox, seeds=seeds)
        if wanted is not None:
            try:
                begin_due(settings, store)
            except FacetflowError as error:  # the encoder is trained
                warn(f"{error} The next refresh goes on from here.")
        return trained


def train_all(
    settings: project.Project,
    store: Store,
    pinned: Release,
    encoders: Sequence[EncoderSettings],
    outbox: Outbox,
    *,
    seeds: int = 1,
) -> list[TrainedEncoder]:
    """Train encoders on a release one after the other, and show each on the server; otherwise as `train_encoder`."""
    trainings = [
        encoder.model_copy(update={"loop": encoder.loop.model_copy(update={"seed": encoder.loop.seed + further})})
        for encoder in encoders
        for further in range(seeds)
    ]
    several = len(trainings) > 1
    remove_dead_scratch()  # a killed command may leave gigabytes
    contents = Contents.of(store, pinned)
    if not settings.corpora:
        _warn_of_leaks(settings, store, pinned, encoders)
    trained: list[TrainedEncoder] = []
    failures: list[tuple[str, FacetflowError]] = []
    with scratch("states") if several else nullcontext() as shared:
        for encoder in trainings:
            if several:
                say(f"Encoder {encoder.name!r}, seed {encoder.loop.seed}:")
            try:
                trained.append(_train(settings, store, pinned, contents, encoder, shared))
            except FacetflowError as error:
                failures.append((f"{encoder.name}, seed {encoder.loop.seed}", error))
                if several:
                    warn(f"failed: {error.with_code()}")
            else:
                outbox.show_all(show_training(settings, trained[-1].folder))
    if failures and not several:
        raise failures[0][1]
    if failures:
        named = "; ".join(f"{what}: {str(error).rstrip('.')}" for what, error in failures)
        message = f"{len(failures)} of {len(trainings)} trainings failed ({named})."
        raise (PartlyDoneError(message, trained) if trained else TrainingFailed(message)) from failures[0][1]
    return trained


def _warn_of_leaks(
    settings: project.Project, store: Store, pinned: Release, encoders: Sequence[EncoderSettings]
) -> None:
    """Warn of evaluation sentences to be trained on, of which the project that built the store knew nothing."""
    texts = store.read("sentences", pinned.versions["sentences"])
    leaking = texts.filter(LeakageGuard(settings.guard, settings.base).leaking(texts["text"]))["sentence_id"].implode()
    for encoder in encoders:
        has_pairs = "pairs" in tables_of(encoder)
        table, ids = ("pairs", ["sentence_a", "sentence_b"]) if has_pairs else ("labels", ["sentence"])
        if table not in pinned.versions:
            continue  # the training tells what the release lacks
        rows = store.read(table, pinned.versions[table], columns=["corpus", "split", *ids])
        rows = choose_rows(rows, corpus=encoder.corpora, split=encoder.splits[:1])
        if leaked := rows.filter(pl.any_horizontal(pl.col(ids).is_in(leaking))).height:
            warn(
                f"In release {pinned.number}, evaluation sentences are in {leaked:,} of {rows.height:,} training "
                f"{table} of {encoder.name!r}: scores on their sets may be better than on new sentences."
            )


def _train(
    settings: project.Project,
    store: Store,
    pinned: Release,
    contents: Contents,
    encoder: EncoderSettings,
    shared: Path | None,
) -> TrainedEncoder:
    seed = encoder.loop.seed
    without = unread(settings, encoder, contents)
    run = run_of(settings, encoder, pinned.number, without)
    job = TrainingJob[Source, EncoderSettings](
        source=Source(store=store.location, release=pinned.number, without=without),
        settings=encoder,
        output=run,
        base=settings.base,
        licences={corpus.name: corpus.record.licence for corpus in settings.corpora},
        ratings=settings.ratings_for(encoder),
        shared=shared,
    )
    with recorded(run, training_identity(settings, encoder, contents)):
        # A finished encoder is never replaced: a job that succeeds there has found it to be the same.
        was_done = is_finished(run)
        run_job(TRAIN, job)
    return TrainedEncoder(encoder.name, run_id(settings.runs, run), run / ENCODER, pinned.number, seed, was_done)
