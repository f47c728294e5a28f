"""Garbage collection: files that no current version and no release needs, once they are old enough.

deltalake's vacuum decides what is stale (`full` finds files that were never committed, `keep_versions` spares those of
releases), and we delete. Its own deletion would add two versions to the table without changing anything, and leave
empty folders behind.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from features.core.file_errors import clear_errors
from features.store.delta import Table
from features.store.storage import Entry


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was, or would be, removed: names in the store, and their size in bytes."""

    files: tuple[str, ...]
    bytes: int


def collect(table: Table, keep_versions: Collection[int], older_than: timedelta, *, dry_run: bool) -> list[Entry]:
    """Remove stale files of one table; return them.

    Args:
        table: the table.
        keep_versions: versions that stay readable, besides the newest.
        older_than: minimum age; files written or removed from the table more recently stay, because a reader or a
            worker may still need them.
        dry_run: whether to report only.
    """
    oldest = time.time() - older_than.total_seconds()
    removed: list[Entry] = []
    with clear_errors(f"Removing files of table {table.name!r}"):
        for path in sorted(table.stale_files(keep_versions, older_than)):
            with suppress(FileNotFoundError):
                entry = table.storage.stat(table.file(path))
                # A worker may since have written the same content again without having committed it yet.
                if entry.modified / 1000 <= oldest:
                    removed.append(entry)
        if not dry_run:
            table.storage.delete(*(entry.name for entry in removed))
    return removed
