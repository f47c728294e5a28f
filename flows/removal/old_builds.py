"""Pages, facts and logs of old builds, and their records in the store: which of them `facetflow gc` removes.

runs/builds/<run id>    of a build that published a release    kept: it documents how the release came to be
                        of the newest build                    kept: `facetflow status` names its page
                        of a running build                     kept
                        younger than the age                   kept
                        any other                              removed

store/runs/<id>.json    as above; with the last failure of a   kept: plans and `facetflow retry` ask for it
                        shard
"""

import re
import time
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from features.core.file_errors import clear_errors
from features.store.runs import RunRecord
from features.store.scope import ShardKey
from features.store.store import Store
from flows.pages.build_facts import read
from flows.pages.build_pages import newest_page
from flows.project import Project
from flows.removal.old_folders import OldFolder

_RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")


def find_old_builds(
    settings: Project, store: Store, older_than: timedelta, *, without: Collection[int] = ()
) -> list[OldFolder]:
    """Return the folders of builds that may be removed, oldest first.

    Args:
        settings: the project file.
        store: the store; the pages of builds that published its releases are kept.
        older_than: minimum age of the newest file in a removable folder.
        without: numbers of releases that count as removed.

    Raises:
        StoreError: a release or the folder of builds cannot be read.
    """
    if not settings.builds.is_dir():
        return []
    with clear_errors(f"Reading the pages of builds in {str(settings.builds)!r}"):
        builds = sorted(
            entry
            for entry in settings.builds.iterdir()
            if _RUN_ID.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink()
        )
        page = newest_page(settings)
        kept = _publishers(store, without)
        kept |= {build.name for build in builds[-1:]} | ({page.parent.name} if page else set())
        oldest = time.time() - older_than.total_seconds()
        found = []
        for build in builds:
            facts = None if build.name in kept else read(settings, build.name)
            if build.name in kept or (facts is not None and facts.state == "running"):
                continue
            old = OldFolder.of(build)
            if old.newest <= oldest:
                found.append(old)
    return found


def find_old_records(store: Store, older_than: timedelta, *, without: Collection[int] = ()) -> list[str]:
    """Return the ids of builds whose records may be removed, oldest first.

    Args:
        store: the store.
        older_than: minimum age of a removable record.
        without: numbers of releases that count as removed.

    Raises:
        StoreError: a record cannot be read.
    """
    publishers = _publishers(store, without)
    oldest = (datetime.now(UTC) - older_than).isoformat(timespec="seconds")
    records = store.runs()
    seen = _failed(records[0]) if records else set()
    found = []
    for record in records[1:]:
        has_last_failure = not _failed(record) <= seen
        seen |= _failed(record)
        if not has_last_failure and record.run_id not in publishers and (record.finished or record.started) <= oldest:
            found.append(record.run_id)
    return found[::-1]


def _failed(record: RunRecord) -> set[ShardKey]:
    return {(failed.stage, failed.shard) for failed in record.failed}


def _publishers(store: Store, without: Collection[int]) -> set[str]:
    return {release.run_id for release in store.releases() if release.number not in without}
