"""What an encoder reads of a release, and whether that changed: unchanged input needs no new training.

release 1    metrics  pairs-00000 a1…  pairs-00001 b2…        the corpora of the encoder use only pairs-00000:
release 2    metrics  pairs-00000 a1…  pairs-00001 c3…        for this encoder the two are the same
"""

from datetime import datetime
from pathlib import Path

from features.core.errors import InputError, StoreError
from features.core.types import Fingerprint, Shard
from features.store.releases import Release
from features.store.scope import Wanted
from features.store.store import Store
from features.store.uses import uses_of
from flows.project import Project
from training.encoders.settings import EncoderSettings
from training.evaluation_sets import rating_digest, read_rating_sets
from training.kinds import tables_of
from training.runs import ENCODER, TRAINING_FILE, is_finished, run_folder, settings_digest

Input = frozenset[tuple[str, Shard, Fingerprint]]
"""Table, shard and fingerprint of all that an encoder reads."""


def unchanged_since(project: Project, store: Store, release: Release, encoder: EncoderSettings) -> Path | None:
    """Return the newest finished run that was trained in the same way on the same input of another release.

    Args:
        project: the project whose runs are searched.
        store: its store.
        release: the release that the encoder could be trained on now.
        encoder: the encoder, with its seed.

    Returns:
        Folder of the run, None if there is none.
    """
    now = None
    ratings = _ratings_digest(project, encoder)
    others = [other for other in store.releases() if other.number != release.number]
    for other in sorted(others, key=lambda other: -other.number):
        if not any((project.runs / encoder.name).glob(f"{other.number:05d}-*")):
            continue  # never trained on: what it holds need not be read
        try:
            without = unread(project, encoder, store, other)
        except StoreError:  # it can no longer be read
            continue
        run = _run_of(project, encoder, other.number, ratings, without)
        if is_finished(run) and not is_older(run, other):
            now = input_of(store, release, encoder) if now is None else now
            if input_of(store, other, encoder) == now:
                return run
    return None


def is_older(run: Path, release: Release) -> bool:
    """Return whether a run was finished before a release was published.

    Then it is not of this release or a later one, whatever its number is: there was another store before.
    """
    return (run / ENCODER / TRAINING_FILE).stat().st_mtime < datetime.fromisoformat(release.created).timestamp()


def unread(project: Project, encoder: EncoderSettings, store: Store, release: Release) -> tuple[str, ...]:
    """Return the corpora that an encoder could be trained on, and is not because the project no longer names them.

    Args:
        project: the project file.
        encoder: the encoder; one that names its corpora reads just these.
        store: the store.
        release: the release.

    Returns:
        Their names, sorted.
    """
    if encoder.corpora:
        return ()
    of_pairs, of_texts = _stored(store, release)
    read = of_pairs if "pairs" in tables_of(encoder) else of_texts
    return tuple(sorted(read - {corpus.name for corpus in project.corpora}))


def unscored(project: Project, encoder: EncoderSettings, store: Store, release: Release) -> tuple[str, ...]:
    """Return the corpora that an encoder is not evaluated on, because neither it nor the project names them, sorted.

    Args:
        project: the project file.
        encoder: the encoder.
        store: the store.
        release: the release.
    """
    named = {*encoder.corpora, *(corpus.name for corpus in project.corpora)}
    return tuple(sorted(frozenset[str]().union(*_stored(store, release)) - named))


def _stored(store: Store, release: Release) -> tuple[frozenset[str], frozenset[str]]:
    """Return the corpora of pairs and those of texts with labels."""
    uses = uses_of(store, release.versions)
    of_pairs = frozenset[str]().union(*uses.pairs.values())
    return of_pairs, frozenset[str]().union(*uses.sentences.values()) - of_pairs


def run_of(project: Project, encoder: EncoderSettings, release: int, without: tuple[str, ...] = ()) -> Path:
    """Return the folder of an encoder's run, which also depends on the ratings that choose its model.

    Args:
        project: the project of the run.
        encoder: the encoder, with its seed.
        release: number of the release that it is trained on.
        without: corpora of the release that it does not read (`unread`).
    """
    return _run_of(project, encoder, release, _ratings_digest(project, encoder), without)


def _run_of(project: Project, encoder: EncoderSettings, release: int, ratings: str, without: tuple[str, ...]) -> Path:
    digest = settings_digest(encoder, ratings, without)
    return run_folder(project.runs, encoder.name, release, digest, encoder.loop.seed)


def _ratings_digest(project: Project, encoder: EncoderSettings) -> str:
    """Return the digest of the ratings that choose the model of an encoder; empty if none do or none can be read."""
    chosen = [known for known in project.evaluation if encoder.by_ratings and known.name == encoder.choose_by]
    try:
        rated = read_rating_sets([known.model_dump(mode="json") for known in chosen], project.base)
    except InputError:  # the training reports what is wrong with them
        return ""
    return "".join(map(rating_digest, rated))


def input_of(store: Store, release: Release, encoder: EncoderSettings) -> Input | None:
    """Return what an encoder reads of a release, None if that can no longer be read.

    Args:
        store: the store.
        release: versions of its tables.
        encoder: settings that name the tables and corpora.
    """
    tables = [table for table in tables_of(encoder) if table in release.versions]
    reader = Wanted(tuple(tables), encoder.corpora)
    try:
        uses = uses_of(store, release.versions)
        users = {**uses.sentences, **uses.pairs}
        return frozenset(
            (table, shard, known.fingerprint)
            for table in tables
            for shard, known in store.committed(table, release.versions[table]).items()
            # If it is unknown who uses a shard, a change of it counts.
            if shard not in users or reader.reads(users[shard])
        )
    except StoreError:
        return None
