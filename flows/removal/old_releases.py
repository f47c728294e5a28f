"""Releases that nothing uses any more: which of them `facetflow gc --releases` removes.

releases/00007.json    the newest one                            kept: builds and trainings continue from it
         00006.json    was the newest until recently (the age)   kept: a training may be about to read it
         00005.json    a training, finished or begun, reads it   kept: its scores can be computed again
         00004.json    any other                                 removed, with the files that only it needs

The trainings are those in the project's folder of runs: nothing is known of other projects that read the store.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from features.store.store import Store
from flows.project import Project
from training.kinds import release_of
from training.runs import all_runs, group_of


def find_old_releases(
    settings: Project, store: Store, older_than: timedelta, *, without: Collection[Path] = ()
) -> list[int]:
    """Return the numbers of the releases that may be removed, oldest first.

    Raises:
        StoreError: a release cannot be read.
    """
    gone = {group.resolve() for group in without}
    runs = all_runs(settings.runs, linked=True)
    used = {release_of(run) for run in runs if group_of(run).resolve() not in gone}
    oldest = (datetime.now(UTC) - older_than).isoformat(timespec="seconds")
    return [
        release.number
        for release, following in pairwise(store.releases())
        if release.number not in used and following.created <= oldest
    ]
