"""Temporary files and folders, and how to distinguish those of a dead process from those of a live one.

    made ── locked ── written ── renamed, or removed        the kernel releases the lock when the process is gone
              │
              └── killed here: nobody holds the lock, so the next process may remove what is left

The lock is an `flock`: no process id that another process may have by now, no age at which a slow writer counts as
dead. Network file systems pass it on to other machines; on one without locks, files are removed only by age.
"""

import fcntl
import glob
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path

SCRATCH = ".facetflow-"
"""Prefix of the names of all temporary folders that this program makes."""
_SCRATCH_NAME = re.compile(rf"{re.escape(SCRATCH)}[a-z]+-[a-z0-9_]{{8}}")


def hold(descriptor: int, path: Path) -> bool:
    """Lock a temporary file or folder that this process has just made, until the descriptor is closed.

    False if another process has just removed it, taking it for a dead process's: make another.
    """
    with suppress(OSError):  # a file system without locks: nobody can tell that we are dead, either
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def beside(path: Path) -> Path:
    """Return a new name next to a file or folder to write it under, and remove what killed processes left there."""
    start = f".{path.name[:50]}."
    remove_dead(path.parent.glob(f"{glob.escape(start)}{'[0-9a-f]' * 8}.tmp"))
    return path.with_name(f"{start}{secrets.token_hex(4)}.tmp")


@contextmanager
def held_file(path: Path) -> Iterator[BufferedWriter]:
    """Make a temporary file and hold its lock; at the end of the block it is removed unless it has been renamed."""
    while not hold((file := path.open("xb")).fileno(), path):
        file.close()
    try:
        with file:
            yield file
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def held_folder(path: Path) -> Iterator[None]:
    """Make a temporary folder and hold its lock; at the end of the block it is removed unless it has been renamed."""
    descriptor = None
    while descriptor is None:
        path.mkdir(parents=True)
        descriptor = _hold_folder(path)
    try:
        yield
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def scratch_folder(kind: str) -> tuple[Path, int]:
    """Make a folder for temporary files of this process.

    The descriptor protects it from removal while open, here or in a process that inherits it.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{kind}-"))
        descriptor = _hold_folder(path)
        if descriptor is not None:
            return path, descriptor


def _hold_folder(path: Path) -> int | None:
    """Return a descriptor that protects a new folder; None if another process has just removed it."""
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        if hold(descriptor, path):
            return descriptor
        os.close(descriptor)
    return None


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """Provide a `scratch_folder`, which is removed when the block ends."""
    path, descriptor = scratch_folder(kind)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def remove_dead_scratch() -> list[Path]:
    """Remove the temporary folders that killed processes of this user left; return them."""
    folders = Path(tempfile.gettempdir()).glob(f"{SCRATCH}*")
    return remove_dead(path for path in folders if _SCRATCH_NAME.fullmatch(path.name) and _is_mine(path))


def remove_dead(paths: Iterable[Path]) -> list[Path]:
    """Remove the temporary files and folders that no process holds, and return them; only these are locked in use."""
    return [path for path in paths if _remove_if_dead(path)]


def remove_oldest(files: Iterable[Path], at_most: float, keep: Collection[Path] = ()) -> None:
    """Remove the oldest files, except those to keep, until those left have at most so many bytes.

    A process that has one open can still read it.
    """
    taken = 0
    for file in sorted(files, key=lambda file: (file not in keep, -file.stat().st_mtime_ns)):
        taken += file.stat().st_size
        if taken > at_most and file not in keep:
            file.unlink(missing_ok=True)


def _remove_if_dead(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # already gone, a link, or another user's
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    except OSError:  # held by a live process, or on a file system without locks
        return False
    finally:
        os.close(descriptor)
    return not path.exists()


def _is_mine(path: Path) -> bool:
    with suppress(OSError):
        return path.lstat().st_uid == os.getuid()  # to open another's pipe would wait
    return False
