"""Files that survive a power cut, and the digests that tell whether they did."""

import hashlib
import os
from pathlib import Path


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to disk: a rename survives once its folder is there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Force every file of a folder, then its directories, to disk, so that a rename publishes whole files only."""
    for path in [*folder.rglob("*"), folder]:
        sync(path)


def file_sha256(path: Path) -> str:
    """Return the digest of a file's bytes, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
