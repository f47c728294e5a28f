"""Removable folders of old builds and old runs, with the space that they free."""

import os
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from features.core.file_errors import clear_errors
from training.run_records import unused


@dataclass(frozen=True, slots=True)
class OldFolder:
    """A folder that nothing needs.

    Args:
        path: path of the folder.
        bytes: size of the files in it.
        newest: when the newest of them was changed, seconds since 1970; for an empty folder, its own time.
    """

    path: Path
    bytes: int
    newest: float

    @classmethod
    def of(cls, path: Path) -> "OldFolder":
        """Inspect the files in a folder; links are not followed."""
        statuses = [Path(root, name).lstat() for root, _, names in os.walk(path) for name in names]
        newest = max((status.st_mtime for status in statuses), default=path.stat().st_mtime)
        return cls(path, sum(status.st_size for status in statuses), newest)


def remove(folders: Iterable[OldFolder], what: str) -> list[OldFolder]:
    """Remove folders, each under a temporary name: one that a kill left half removed is no training and no build.

    Args:
        folders: folders that nothing needs.
        what: what they belong to, for the error message.

    Returns:
        Those that were removed; one that somebody has just begun to read is left.

    Raises:
        StoreError: a folder cannot be removed.
    """
    removed = []
    for old in folders:
        with clear_errors(f"Removing {what} in {str(old.path)!r}"):
            # `flows.removal.clean_up` finishes what a kill leaves.
            going = old.path.with_name(f".{uuid.uuid4().hex}.tmp")
            with unused([old.path, *old.path.glob("seed-*")]) as free:
                if not free:
                    continue
                old.path.rename(going)
            shutil.rmtree(going)
            removed.append(old)
    return removed
