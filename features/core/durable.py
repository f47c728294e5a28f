"""Files that are whole or absent and survive a power cut, and the digests that tell whether they did.

    temporary name → write → fsync file → rename → fsync folder

Temporary files start with `_tmp-`, and are removed by the next writer when their process died before it could
(`features.core.leftovers`).
"""

import errno
import hashlib
import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from features.core import leftovers

TEMPORARY = "_tmp-"
"""Prefix of the names of files that are still being written."""


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to disk: a rename survives once its folder is there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync folders, such as some shares
            raise
    finally:
        os.close(descriptor)


def sync_all(folder: Path) -> None:
    """Force all files below a folder to disk, and their names, so that a rename of it publishes whole files only."""
    for path in (*folder.rglob("*"), folder):
        if path.suffix == ".safetensors":  # the library makes them for their owner alone
            with suppress(OSError):  # a file system without modes
                path.chmod(folder.stat().st_mode & 0o666)
        sync(path)


def file_sha256(path: Path) -> str:
    """Return the digest of a file's bytes, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(folder: Path, name: str, content: bytes | Path, *, replace: bool = True) -> None:
    """Write a file, from its content or a file that has it, durably and in one step.

    It is named relative to `folder`, in which the temporary file is; missing folders between are created.

    Raises:
        FileExistsError: when the file exists and may not be replaced.
        OSError: when the file system refuses; the temporary file is removed and the target untouched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{TEMPORARY}{uuid.uuid4().hex}"
    with leftovers.held_file(temporary) as file:
        if isinstance(content, Path):
            with content.open("rb") as source:
                shutil.copyfileobj(source, file)
        else:
            file.write(content)
        file.flush()
        os.fsync(file.fileno())
        _publish(temporary, folder / name, replace=replace)


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
            if last_attempt:
                raise
    for folder in {target.parent, *(parent.parent for parent in made)}:
        sync(folder)
