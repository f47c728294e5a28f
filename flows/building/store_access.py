"""Who may write a store: its project, one build or clean-up at a time, and what the lease says about its holder."""

import math
import os
import socket
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal

import psutil

from features.core.faults import NoRelease
from features.store.runs import RunRecord
from features.store.store import Store
from flows.project import Project
from flows.terminal import say

SILENCE = 60.0
"""Seconds without a renewal after which a holder counts as silent."""
_LEASE = "build.lock"

Fate = Literal["running", "silent", "ended", "killed"]


def open_store(settings: Project, *, only_failed: bool, adopt: bool = False) -> Store:
    """Return the store of a project, also another project's with `adopt`; created if missing, unless `only_failed`."""
    store = Store.open(settings.store, create=not only_failed, project=settings.name)
    if not adopt:
        store.check_owner(settings.name)
    if only_failed and not store.committed("sentences"):
        raise NoRelease(f"The store {store.location!r} is empty, so no shard has failed: run `facetflow build`.")
    return store


def this_process() -> str:
    """Return the name of this process: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def only_writer(store: Store) -> AbstractContextManager[None]:
    """Hold the lease of a store if nobody else does; it ends with the process, however that happens."""
    refusal = f"A build or a clean-up works on the store {store.location!r}"
    return store.storage.lease(_LEASE, this_process(), refusal, on_wait=say)


def fate(store: Store, record: RunRecord) -> Fate:
    """Return what became of a run that is recorded as running; nothing is written or locked.

    Returns:
        `running`; `silent` if its process gave no sign of life for `SILENCE` seconds; `ended` if it ended in order, but
        could not record how; `killed` if it is gone.
    """
    lease = store.storage.lease_of(_LEASE)
    if lease is None or not record.process or lease.holder != record.process:
        return "killed"
    if lease.ended:
        return "ended"
    host, _, number = lease.holder.rpartition(":")
    began = _began(int(number)) if host == socket.gethostname() else -math.inf
    if began is None:
        return "killed"
    if lease.age < SILENCE:
        return "running"
    # Its number may be another process's by now, as after a restart of the machine; records have whole seconds.
    return "killed" if began > datetime.fromisoformat(record.started).timestamp() + 1 else "silent"


def _began(process: int) -> float | None:
    """Return when a process of this machine began, in seconds since the epoch; None if there is none."""
    if not psutil.pid_exists(process):
        return None
    try:
        return float(psutil.Process(process).create_time())
    except psutil.Error:  # another user's, where those are hidden
        return -math.inf
