"""Runs that are being read: nothing deletes them meanwhile.

    evaluate, explain, predict, …    a shared lock on the folder of the run       ──┐
    gc --runs, [retention]           an exclusive lock while they take it away    ──┴── never both

The locks are those of the kernel (`flock`) on the folders themselves: a process that is killed leaves nothing behind.
On a file system without locks nothing is protected.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from features.core.faults import RunGone
from training.runs import ENCODER


@contextmanager
def in_use(*folders: Path) -> Iterator[None]:
    """Keep runs from being deleted.

    Args:
        folders: folders of runs, or of the encoders in them.

    Raises:
        ModelError: one of them has just been deleted.
    """
    with ExitStack() as held:
        for folder in folders:
            run = folder.parent if folder.name == ENCODER else folder
            try:
                descriptor = _open(run, held)
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_SH)  # whoever deletes it holds the lock for a moment only
                there = os.path.samestat(os.fstat(descriptor), run.stat())
            except FileNotFoundError:
                there = False
            except OSError:  # it cannot be read: whoever does so says why
                continue
            if not there:
                raise RunGone(f"{str(run)!r} has just been deleted by `facetflow gc` or [retention]: use another run.")
        yield


@contextmanager
def unused(folders: Iterable[Path]) -> Iterator[bool]:
    """Keep others from beginning to read runs.

    Args:
        folders: folders of runs.

    Yields:
        Whether nobody reads any of them.
    """
    with ExitStack() as held:
        for folder in folders:
            try:
                fcntl.flock(_open(folder, held), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:  # a file system without locks
                continue
        yield True


def is_in_use(run: Path) -> bool:
    """Return whether a process reads a run.

    Args:
        run: its folder.
    """
    with unused([run]) as free:
        return not free


def _open(folder: Path, held: ExitStack) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, descriptor)
    return descriptor
