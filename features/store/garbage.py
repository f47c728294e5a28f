"""Garbage collection: files that no current version and no release needs, once they are old enough.

deltalake's vacuum decides what is stale (`full` finds files that were never committed, `keep_versions` spares those of
releases), and we delete. Its own deletion would add two versions to the table without changing anything, and leave
empty folders and temporary files behind.
"""

import contextlib
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from features.core import leftovers
from features.store import folder
from features.store.delta import Table


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was, or would be, removed: paths relative to the store, and their size in bytes."""

    files: tuple[str, ...]
    bytes: int


def collect(
    root: Path, table: Table, keep_versions: Collection[int], older_than: timedelta, *, dry_run: bool
) -> Garbage:
    """Remove stale files of one table.

    Args:
        root: the store's folder, which the reported paths are relative to.
        table: the table.
        keep_versions: versions that stay readable, besides the newest.
        older_than: minimum age; files written or removed from the table more recently stay, because a reader or a
            worker may still need them.
        dry_run: whether to report only.
    """
    oldest = time.time() - older_than.total_seconds()
    stale = [table.path / name for name in table.stale_files(keep_versions, older_than)]
    temporary = set(table.path.glob(f"{folder.TEMPORARY}*"))
    stale += temporary
    removed: list[str] = []
    size = 0
    with folder.clear_errors(f"Removing files of table {table.name!r}"):
        for file in sorted(stale):
            try:
                status = file.stat()
                # A worker may since have written the same content again without having committed it yet.
                if status.st_mtime > oldest or (file in temporary and leftovers.is_held(file)):
                    continue
                if not dry_run:
                    file.unlink()
            except FileNotFoundError:
                continue
            removed.append(file.relative_to(root).as_posix())
            size += status.st_size
        if not dry_run:
            _remove_empty_folders(table.path)
    return Garbage(tuple(removed), size)


def collect_loose(root: Path, older_than: timedelta, *, dry_run: bool) -> Garbage:
    """Remove temporary files and folders that a killed process left in the store's folder `root`."""
    oldest = time.time() - older_than.total_seconds()
    removed: list[str] = []
    size = 0
    with folder.clear_errors(f"Removing temporary files of {str(root)!r}"):
        for entry in sorted(temporary_entries(root)):
            try:
                if entry.stat().st_mtime > oldest or leftovers.is_held(entry):
                    continue
                sizes = {file: file.stat().st_size for file in (entry, *entry.rglob("*")) if file.is_file()}
                if not dry_run and entry.is_dir():
                    shutil.rmtree(entry)
                elif not dry_run:
                    entry.unlink()
            except FileNotFoundError:  # those of a running build live for milliseconds
                continue
            removed += [file.relative_to(root).as_posix() for file in sizes]
            size += sum(sizes.values())
    return Garbage(tuple(removed), size)


def temporary_entries(root: Path) -> Iterator[Path]:
    """Yield the temporary files and folders of a store, except those in its tables."""
    for path in (root, root / "releases", root / "runs"):
        yield from path.glob(f"{folder.TEMPORARY}*")


def remove_dead_temporary(root: Path) -> list[Path]:
    """Remove the temporary files and folders of dead processes, however recent; return them.

    Args:
        root: the store's folder.
    """
    return leftovers.remove_dead(
        [*temporary_entries(root), *root.glob(f"tables/*/{folder.TEMPORARY}*"), *root.glob("graphs/.*.tmp")]
    )


def _remove_empty_folders(path: Path) -> None:
    for partition in sorted(path.rglob("*=*"), key=lambda found: len(found.parts), reverse=True):
        # Non-empty folders stay; one that a worker has just made is made again (`folder.write`).
        with contextlib.suppress(OSError):
            partition.rmdir()
