"""Who may write a store: its project, one build or clean-up at a time, and what the lease says about its holder."""

import os
import secrets
import socket
from contextlib import AbstractContextManager
from functools import cache
from typing import Literal

from features.core.faults import MissingKey, NoRelease
from features.core.file_errors import clear_errors
from features.store.runs import RunRecord
from features.store.store import Store
from flows.project import Project
from flows.terminal import say

SILENCE = 60.0
"""Seconds without a renewal after which a holder counts as silent."""
_LEASE = "build.lock"

Fate = Literal["running", "silent", "ended", "killed"]


def own_store(settings: Project, *, create: bool = False, adopt: bool = False) -> Store:
    """Return the store that a project may write, also another project's with `adopt`."""
    if not settings.corpora:
        raise MissingKey(
            f"The project {settings.name!r} has no corpora, and only trains on the store {str(settings.store)!r}, "
            "which another project builds and cleans up: do that there, or add a section [[corpora]] with "
            'dataset = "pairs" and files = { train = "…" }.'
        )
    store = Store.open(settings.store, create=create, project=settings.name)
    if not adopt:
        store.check_owner(settings.name)
    return store


def open_store(settings: Project, *, only_failed: bool, adopt: bool = False) -> Store:
    """Return the store that a project may build; created if missing, unless `only_failed`."""
    store = own_store(settings, create=not only_failed, adopt=adopt)
    if only_failed and not store.committed("sentences"):
        raise NoRelease(f"The store {store.location!r} is empty, so no shard has failed: run `facetflow build`.")
    return store


@cache
def this_process() -> str:
    """Return the name of this process: host, process id, and a draw: a container started again has the same of both."""
    return f"{socket.gethostname()}:{os.getpid()}-{secrets.token_hex(3)}"


def only_writer(store: Store) -> AbstractContextManager[None]:
    """Hold the lease of a store if nobody else does; it ends with the process, however that happens."""
    refusal = f"A build or a clean-up works on the store {store.location!r}"
    return store.storage.lease(_LEASE, this_process(), refusal, on_wait=say)


def fate(store: Store, record: RunRecord) -> Fate:
    """Return what became of a run that is recorded as running; nothing is written.

    Returns:
        `running`; `silent` if its process gave no sign of life for `SILENCE` seconds, as a killed one where the store
        is not a folder; `ended` if it ended in order, but could not record how; `killed` if it is gone.
    """
    with clear_errors(f"Reading {store.storage.url(_LEASE)!r}"):
        lease = store.storage.lease_of(_LEASE)
    if lease is None or lease.holder != record.process:
        return "killed"
    if lease.ended:
        return "ended"
    return "running" if lease.age < SILENCE else "silent"
