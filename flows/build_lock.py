"""One writer at a time: the lock that a build or a clean-up holds on a store."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from features.errors import RunError
from features.store.store import Store


@contextmanager
def only_writer(store: Store) -> Iterator[None]:
    """Hold the store's lock; it goes with the process, however that ends.

    Raises:
        RunError: another process holds it.
    """
    with (store.path / "build.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise RunError(
                f"Another build works on the store {str(store.path)!r} (process {lock.read().strip() or 'unknown'}): "
                "wait for it, or end it."
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
