"""One process at a time: a lock on a file, released when the process that holds it ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from features.core.faults import AnotherProcess, LockImpossible
from features.core.file_errors import explain

_PATIENCE = 2.0
"""Maximum seconds for which a process that only looks whether a lock is held (`is_held`) holds it."""
_POLL = 0.05


@contextmanager
def only_one(path: Path, refusal: str, holder: str | None = None) -> Iterator[None]:
    """Hold the lock of a file, which is created if missing, and stays when the lock is released.

    `refusal` is what the process that holds the lock is doing, such as "A build works on the store 'x'"; `holder` what
    the file says about this process, by default its process id.
    """
    with ExitStack() as stack:
        try:
            # Behind a link, any file would be emptied. Closing a buffered one would raise a full disk's error again.
            opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            lock = stack.enter_context(os.fdopen(opened, "a+b", buffering=0))
            deadline = time.monotonic() + _PATIENCE
            # Its last holder may have deleted it: others lock the file that has its name now.
            while not (held := _acquire(opened) and _is_at(path, opened)) and time.monotonic() < deadline:
                time.sleep(_POLL)
            if held:
                lock.truncate(0)
                lock.write((holder or str(os.getpid())).encode())
        except OSError as error:  # also a network file system without locks
            raise LockImpossible(f"The lock {str(path)!r} cannot be taken: {explain(error)}.") from error
        if not held:
            lock.seek(0)
            other = lock.read().decode(errors="replace").strip() or "unknown"
            raise AnotherProcess(f"{refusal} (process {other}): wait for it, or end it.")
        yield


def _is_at(path: Path, descriptor: int) -> bool:
    return path.exists() and os.path.samestat(path.stat(), os.fstat(descriptor))


def _acquire(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock of a file or folder; one that cannot be checked counts as not held."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return not _acquire(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)
    return False
