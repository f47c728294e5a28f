"""One writer at a time: the lock that a build or a clean-up holds on a store."""

from collections.abc import Iterator
from contextlib import contextmanager

from features.locks import only_one
from features.store.store import Store


@contextmanager
def only_writer(store: Store) -> Iterator[None]:
    """Hold the store's lock; it goes with the process, however that ends.

    Raises:
        RunError: another process holds it.
    """
    with only_one(store.path / "build.lock", f"Another build works on the store {str(store.path)!r}"):
        yield
