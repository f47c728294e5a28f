"""A folder that keeps its promises: a file appears whole or not at all, and survives a power cut once it is there.

    temporary name → write → fsync file → rename → fsync folder

Temporary files start with `_tmp-`, are never part of a table, and are removed by the garbage collection when a worker
died before it could.
"""

import contextlib
import errno
import hashlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from features.errors import StoreError, system_number

TEMPORARY = "_tmp-"
"""What the name of every file begins with that is still being written."""

_WHAT_TO_DO = {
    errno.ENOSPC: "the disk is full; free some space and run again, nothing that is committed was touched",
    errno.EDQUOT: "the disk quota is used up; free some space and run again, nothing that is committed was touched",
    errno.EFBIG: "the file is larger than this system allows; raise the limit, or make smaller shards",
    errno.EROFS: "the file system is read-only; build into another folder, or mount it writable",
    errno.EACCES: "no permission; correct the folder's permissions, or choose another folder",
    errno.EPERM: "no permission; correct the folder's permissions, or choose another folder",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.ENOENT: "it does not exist; check the path",
}


def explain(error: Exception, otherwise: str = "correct that and run again") -> str:
    """Return what is wrong and what to do about it, as the end of a sentence.

    Args:
        error: of the file system, or of a Rust library that met one.
        otherwise: what to do about an error that is not of the usual ones.
    """
    number = system_number(error)
    if number in _WHAT_TO_DO:
        return _WHAT_TO_DO[number]
    # A Rust error goes on with its causes, and a DeltaError with a stack trace.
    return f"{str(error).partition(chr(10))[0].strip().rstrip('.;')}; {otherwise}"


@contextlib.contextmanager
def clear_errors(action: str) -> Iterator[None]:
    """Turn an error of the file system into a `StoreError` that begins with what was tried.

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
        folder: where the temporary file lies; on the same file system as the target.
        name: the file, relative to `folder`; folders on the way are made.
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
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _publish(temporary, target, replace=replace)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def sync(path: Path) -> None:
    """Force a file or a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: Path) -> str:
    """Return the digest of a file's bytes, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
            # The garbage collection removes empty folders, and may have removed this one since it was made.
            if last_attempt or not temporary.exists():
                raise
    for folder in {target.parent, *(parent.parent for parent in made)}:
        sync(folder)
