"""What an encoder reads of a release, and whether that changed: what has not changed need not be learnt again.

release 1    metrics  pairs-00000 a1…  pairs-00001 b2…        the corpora of the encoder use pairs-00000 alone:
release 2    metrics  pairs-00000 a1…  pairs-00001 c3…        for this encoder the two are the same
"""

from pathlib import Path

from features.errors import StoreError
from features.store.releases import Release
from features.store.scope import Wanted
from features.store.store import Store
from features.store.uses import uses_of
from features.types import Fingerprint, Shard
from flows.project import Project
from training.encoders.settings import EncoderSettings
from training.kinds import tables_of
from training.runs import is_finished, run_folder, settings_digest

Input = frozenset[tuple[str, Shard, Fingerprint]]
"""Table, shard and fingerprint of all that an encoder reads."""


def unchanged_since(project: Project, store: Store, release: Release, encoder: EncoderSettings) -> Path | None:
    """Return the newest finished run that has learnt the same from the same input in another release.

    Args:
        project: whose runs are looked at.
        store: its store.
        release: the one that an encoder may learn from now.
        encoder: the encoder, with its seed.

    Returns:
        Folder of the run, None where there is none.
    """
    now = None
    others = [other for other in store.releases() if other.number != release.number]
    for other in sorted(others, key=lambda other: -other.number):
        run = run_folder(project.runs, encoder.name, other.number, settings_digest(encoder), encoder.loop.seed)
        if is_finished(run):
            now = input_of(store, release, encoder) if now is None else now
            if input_of(store, other, encoder) == now:
                return run
    return None


def input_of(store: Store, release: Release, encoder: EncoderSettings) -> Input | None:
    """Return what an encoder reads of a release, None where that cannot be read any more.

    Args:
        store: the store.
        release: versions of its tables.
        encoder: says which tables, and which corpora.
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
            # Where nobody knows who uses a shard, a change of it is one.
            if shard not in users or reader.reads(users[shard])
        )
    except StoreError:
        return None
