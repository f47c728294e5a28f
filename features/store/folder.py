"""Atomic and durable writes: a file appears whole or not at all, and survives a power cut once it is there.

    temporary name → write → fsync file → rename → fsync folder

Temporary files start with `_tmp-`, are never part of a table, and are removed by the next build when a worker died
before it could (`features.core.leftovers`).
"""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from features.core import leftovers
from features.core.durable import sync
from features.core.errors import StoreError
from features.core.file_errors import explain

TEMPORARY = "_tmp-"
"""Prefix of the names of files that are still being written."""


@contextlib.contextmanager
def clear_errors(action: str) -> Iterator[None]:
    """Turn a file system error into a `StoreError` that begins with the attempted action.

    Raises:
        StoreError: when the block raises OSError.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{action} failed: {explain(error)}.") from error


def write(folder: Path, name: str, content: bytes, *, replace: bool = True) -> Path:
    """Write a file durably and in one step.

    Args:
        folder: folder of the temporary file; on the same file system as the target.
        name: the file, relative to `folder`; missing parent folders are created.
        content: the whole content.
        replace: whether a file of that name may be replaced.

    Returns:
        The file.

    Raises:
        FileExistsError: when the file exists and may not be replaced.
        OSError: when the file system refuses; the temporary file is removed and the target untouched.
    """
    target = folder / name
    temporary = folder / f"{TEMPORARY}{uuid.uuid4().hex}"
    with leftovers.held_file(temporary) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        _publish(temporary, target, replace=replace)
    return target


def _publish(temporary: Path, target: Path, *, replace: bool) -> None:
    for last_attempt in (False, True):
        made = [parent for parent in target.parents if not parent.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if replace:
                temporary.replace(target)
            else:
                os.link(temporary, target)
            break
        except FileNotFoundError:
            # Garbage collection removes empty folders, and may have removed this one since it was made.
            if last_attempt or not temporary.exists():
                raise
    for folder in {target.parent, *(parent.parent for parent in made)}:
        sync(folder)
