"""Removal of what killed processes left behind, by the next writer: a build or `facetflow gc`."""

import time
from contextlib import suppress
from pathlib import Path

from features.core.leftovers import remove_dead, remove_dead_scratch
from features.store.store import Store
from flows.project import Project
from flows.terminal import detail, say
from training.runs import CURRENT

_MINUTE = 60.0


def clean_up(project: Project, store: Store) -> list[str]:
    """Remove and return temporary files and folders whose process is gone, never those of a live one.

    They are in the locked store, in the folders of runs, and, of this user's private servers, Dask clusters, trainings
    and commands, in the system's folder for temporary files.
    """
    removed = []
    for name in (".*.tmp", "_tmp-*"):
        for folder in ("*", "builds/*", "*/*/seed-*", "*/*/seed-*/*"):
            removed += remove_dead(project.runs.glob(f"{folder}/{name}"))
        removed += remove_dead(project.runs.glob(name))
    removed += _unfinished_promotions(project.runs)
    removed += remove_dead_scratch()
    everything = [*store.remove_dead_temporary(), *map(str, removed)]
    if everything:
        what = "a temporary file or folder" if len(everything) == 1 else f"{len(everything)} temporary files or folders"
        say(f"Removed {what} that killed processes had left.")
    for path in everything:
        detail(f"removed: {path}")
    return everything


def _unfinished_promotions(runs: Path) -> list[Path]:
    """Remove the links of killed promotions; a link cannot be held, so one that is younger than a minute stays."""
    links = []
    for link in runs.glob(f"*/.{CURRENT}.*"):
        with suppress(FileNotFoundError):
            if link.is_symlink() and time.time() - link.lstat().st_mtime > _MINUTE:
                link.unlink()
                links.append(link)
    return links
