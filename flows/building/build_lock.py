"""One writer at a time: the lock that a build or a clean-up holds on a store, and what it says about its holder.

The kernel releases the lock when the process ends, however that happens. For `facetflow status`, which must not touch
the lock, the file names the process that holds it, and its time is renewed while that process lives.
"""

import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import psutil

from features.core.locks import only_one
from features.store.runs import RunRecord
from features.store.store import Store

HEARTBEAT = 5.0
"""Seconds between renewals of the lock file's time by its holder."""
SILENCE = 60.0
"""Seconds without a renewal after which a holder counts as silent."""
_FILE = "build.lock"

_ENDED = " ended"
"""What follows the holder's name after an orderly end; on a full disk it still fits into the file's block."""

Fate = Literal["running", "silent", "ended", "killed"]


def this_process() -> str:
    """Return the name of this process: host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


@contextmanager
def only_writer(store: Store) -> Iterator[None]:
    """Hold the store's lock; it is released when the process ends, however that happens.

    Raises:
        RunError: another process holds it, or the store's folder cannot be written.
    """
    path = store.path / _FILE
    with only_one(path, f"A build or a clean-up works on the store {str(store.path)!r}", this_process()):
        done = threading.Event()
        beating = threading.Thread(target=_beat, args=(path, done), daemon=True)
        beating.start()
        try:
            yield
        finally:
            done.set()
            beating.join()
            with suppress(OSError), path.open("ab") as lock:
                lock.write(_ENDED.encode())


def fate(store: Store, record: RunRecord) -> Fate:
    """Return what became of a run that is recorded as running; nothing is written or locked.

    Returns:
        `running`; `silent` if its process gave no sign of life for `SILENCE` seconds; `ended` if it ended in order, but
        could not record how; `killed` if it is gone.
    """
    path = store.path / _FILE
    try:
        holder, age = path.read_text(encoding="utf-8").strip(), time.time() - path.stat().st_mtime
    except OSError:
        return "killed"
    if record.process and holder == record.process + _ENDED:
        return "ended"
    host, _, number = holder.rpartition(":")
    if not holder or holder != record.process:
        return "killed"
    began = _began(int(number)) if host == socket.gethostname() else -math.inf
    if began is None:
        return "killed"
    if age < SILENCE:
        return "running"
    # Its number may be another process's by now, as after a restart of the machine; records have whole seconds.
    return "killed" if began > datetime.fromisoformat(record.started).timestamp() + 1 else "silent"


def _beat(path: Path, done: threading.Event) -> None:
    while not done.wait(HEARTBEAT):
        with suppress(OSError):
            os.utime(path)


def _began(process: int) -> float | None:
    """Return when a process of this machine began, in seconds since the epoch; None if there is none."""
    if not psutil.pid_exists(process):
        return None
    try:
        return float(psutil.Process(process).create_time())
    except psutil.Error:  # another user's, where those are hidden
        return -math.inf
