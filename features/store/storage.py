"""Where a store keeps its objects: the one place that opens, renames, locks and lists what lies below a store.

    Store, Table, releases, runs, gc ──> Storage ──┬── FolderStorage     a folder, which all workers see
    polars, delta-rs ──────────────────> url()     └── ObjectStorage     S3 and the like (`object_storage`)

Objects have names with `/` between the parts, such as `releases/00001.json`. One is there whole or not at all, and
survives a power cut once it is there. Methods raise OSError as files do, such as `FileNotFoundError`.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from features.core import durable, leftovers
from features.core.locks import is_held, only_one

HEARTBEAT = 5.0
"""Seconds between renewals of a lease by its holder."""
_PAUSES = (0.1, 0.5, 2.5, 10.0)
"""Seconds before a listing that broke off is asked for again."""
_Of = TypeVar("_Of")
_To = TypeVar("_To")


@dataclass(frozen=True, slots=True)
class Entry:
    """An object: its name, its size, when it was written, in milliseconds since 1970, and its tag, if it has one."""

    name: str
    bytes: int
    modified: int
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """What a lease says about whoever took it last: its name, and the seconds since it gave a sign of life.

    `ended` is whether it gave the lease back; False also for one that was killed.
    """

    holder: str
    age: float
    ended: bool


def relist(ask: Callable[[], _To]) -> _To:
    """Call a function that lists objects, and again where the listing broke off.

    obstore and deltalake repeat every request but this one once its answer has begun.
    """
    for pause in _PAUSES:
        try:
            return ask()
        except Exception as error:
            if "list response body" not in str(error):
                raise
        time.sleep(pause)
    return ask()


@contextmanager
def beating(renew: Callable[[], object]) -> Iterator[None]:
    """Renew a lease every `HEARTBEAT` seconds until the block ends; one that fails with an OSError is tried again."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(HEARTBEAT):
            with suppress(OSError):
                renew()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class Storage(ABC):
    """The objects of one store; small and picklable."""

    location: str
    options: Mapping[str, str] | None = None
    """What polars and delta-rs need besides `url`, such as an endpoint."""
    readers = 4
    """Objects that are asked for at once: hashing releases the GIL, and more gain nothing on one disk."""
    flaws: type[OSError] = OSError
    """Errors that tell of an object; others, such as of a network, say nothing about it."""

    def map(self, function: Callable[[_Of], _To], values: Iterable[_Of]) -> list[_To]:
        """Apply a function that waits for the storage to values, several at once; return its results in their order."""
        with ThreadPoolExecutor(self.readers) as pool:
            return list(pool.map(function, values))

    @abstractmethod
    def names(self, folder: str = "") -> list[str]:
        """Return the names of objects and folders directly in a folder, sorted; none if there is no such folder."""

    @abstractmethod
    def stat(self, name: str) -> Entry:
        """Describe an object."""

    def stats(self, folder: str, names: Sequence[str]) -> list[Entry | OSError]:
        """Describe objects below a folder, or return the flaw of one that cannot be; other errors are raised."""

        def described(name: str) -> Entry | OSError:
            try:
                return self.stat(name)
            except self.flaws as error:
                return error

        return self.map(described, names)

    def last(self, folder: str, matches: Callable[[str], object]) -> Entry | None:
        """Describe the object in a folder whose name, of those that match, comes last; None if there is none."""
        names = [name for name in self.names(folder) if matches(name)]
        return self.stat(f"{folder}/{names[-1]}") if names else None

    def look_once(self) -> None:
        """Cache `last` and `stat`, to read a store once: never to write, to wait or to read it again."""
        vars(self).update(last=cache(self.last), stat=cache(self.stat))

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return the content of an object."""

    @abstractmethod
    def put(self, name: str, content: bytes | Path) -> None:
        """Store an object, from bytes or a local file, in place of an earlier one of that name."""

    @abstractmethod
    def put_if_absent(self, name: str, content: bytes) -> None:
        """Store an object; raise FileExistsError if somebody else has taken its name, perhaps a moment ago."""

    @abstractmethod
    def delete(self, *names: str) -> None:
        """Remove objects for good; those that do not exist are passed over."""

    def remove_unfinished(self, older_than: timedelta, *, dry_run: bool) -> list[Entry]:
        """Remove what writers that are gone left half written, never what a live one is writing; return it."""
        return []  # most storages have an object whole or not at all; what was half uploaded, a bucket's rules expire

    @abstractmethod
    def lease(
        self, name: str, holder: str, refusal: str, on_wait: Callable[[str], object] = lambda _: None
    ) -> AbstractContextManager[None]:
        """Hold an object that one process at a time can hold, until the block or the process ends.

        Others are told about this process, the holder, and of what it does: "A build works on the store 'x'". Where it
        takes a while to see whether another holder lives, `on_wait` is called once with a sentence about it.

        Raises:
            RunError: another process holds it, or it cannot be written.
        """

    @abstractmethod
    def lease_of(self, name: str) -> Lease | None:
        """Return what a lease says; None if it was never taken, cannot be read, or its holder is known to be gone."""

    @abstractmethod
    def local(self, name: str) -> Path:
        """Return a file of this machine with the content of an object; a copy where the store is elsewhere."""

    @abstractmethod
    def url(self, name: str = "") -> str:
        """Return where polars and delta-rs find an object or folder, and how messages name it."""

    def settle(self, name: str) -> None:  # noqa: B027 - most storages have nothing to do
        """Make an object durable that delta-rs has written."""


class FolderStorage(Storage):
    """A store in a folder, on a file system that all its readers and writers share.

    Writes are those of `features.core.durable`. A lease is an `flock` on a file that names its holder, and whose time
    the holder renews: the kernel releases it when the process ends, however that happens.
    """

    def __init__(self, location: str) -> None:
        self.location = location

    def names(self, folder: str = "") -> list[str]:
        try:
            names = sorted(path.name for path in self._path(folder).iterdir())
        except FileNotFoundError:
            return []
        return [name for name in names if not name.startswith(durable.TEMPORARY)]

    def stat(self, name: str) -> Entry:
        status = self._path(name).stat()
        return Entry(name, status.st_size, status.st_mtime_ns // 1_000_000)

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    def put(self, name: str, content: bytes | Path) -> None:
        durable.write_whole(self._path(), name, content)

    def put_if_absent(self, name: str, content: bytes) -> None:
        durable.write_whole(self._path(), name, content, replace=False)

    def delete(self, *names: str) -> None:
        folders = set()
        for name in names:
            path = self._path(name)
            path.unlink(missing_ok=True)
            folder = path.parent
            # One that a worker has just made is made again (`durable.write_whole`).
            with suppress(OSError):
                while folder != self._path():
                    folder.rmdir()
                    folder = folder.parent
            folders.add(folder)
        for folder in folders:
            with suppress(FileNotFoundError):
                durable.sync(folder)

    def remove_unfinished(self, older_than: timedelta, *, dry_run: bool) -> list[Entry]:
        removed = []
        for path in sorted(self._path().glob(f"{durable.TEMPORARY}*")):
            with suppress(FileNotFoundError):  # those of a running build live for milliseconds
                entry = self.stat(path.name)
                if abs(time.time() - entry.modified / 1000) < older_than.total_seconds():  # clocks may go back
                    continue
                if not is_held(path):
                    if not dry_run and not leftovers.remove_dead([path]):
                        path.unlink()  # raises what keeps it
                    removed.append(entry)
        return removed

    @contextmanager
    def lease(
        self, name: str, holder: str, refusal: str, on_wait: Callable[[str], object] = lambda _: None
    ) -> Iterator[None]:
        path = self._path(name)
        with only_one(path, refusal, holder):
            try:
                with beating(partial(os.utime, path)):
                    yield
            finally:
                with suppress(OSError), path.open("ab") as lock:
                    lock.write(_ENDED.encode())

    def lease_of(self, name: str) -> Lease | None:
        path = self._path(name)
        try:
            text, age = path.read_text(encoding="utf-8").strip(), time.time() - path.stat().st_mtime
        except OSError:
            return None
        lease = Lease(text.removesuffix(_ENDED), age, text.endswith(_ENDED))
        return lease if lease.ended or is_held(path) else None

    def local(self, name: str) -> Path:
        return self._path(name)

    def url(self, name: str = "") -> str:
        return str(self._path(name))

    def settle(self, name: str) -> None:
        durable.sync(self._path(name))
        durable.sync(self._path(name).parent)

    def _path(self, name: str = "") -> Path:
        return Path(self.location, name)


_ENDED = " ended"
"""What follows the holder's name after an orderly end; on a full disk it still fits into the file's block."""
