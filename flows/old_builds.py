"""Pages, facts and logs of old builds: which of them `facetflow gc` removes.

runs/builds/<run id>    of a build that published a release    stays: it says how the release came to be
                        of the newest build                    stays: `facetflow status` names its page
                        of a build that runs                   stays
                        younger than the age                   stays
                        any other                              goes
"""

import os
import re
import shutil
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from features.store import folder
from features.store.store import Store
from flows.build_facts import read
from flows.build_pages import newest_page
from flows.project import Project

_RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class OldBuild:
    """What an old build left to look at.

    Args:
        path: folder of the page, the facts and the logs.
        bytes: size of the files in it.
    """

    path: Path
    bytes: int


def find_old_builds(settings: Project, store: Store, older_than: timedelta) -> list[OldBuild]:
    """Return the folders of builds that may go, oldest first.

    Args:
        settings: the project file.
        store: whose releases keep the pages of the builds that published them.
        older_than: age of the newest file in a folder from which on it may go.

    Raises:
        StoreError: a release cannot be read, or the folder of builds cannot be.
    """
    if not settings.builds.is_dir():
        return []
    with folder.clear_errors(f"Reading the pages of builds in {str(settings.builds)!r}"):
        builds = sorted(
            entry
            for entry in settings.builds.iterdir()
            if _RUN_ID.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink()
        )
        page = newest_page(settings)
        kept = {release.run_id for release in store.releases()}
        kept |= {build.name for build in builds[-1:]} | ({page.parent.name} if page else set())
        oldest = time.time() - older_than.total_seconds()
        found = []
        for build in builds:
            facts = None if build.name in kept else read(settings, build.name)
            if build.name in kept or (facts is not None and facts.state == "running"):
                continue
            statuses = [Path(root, name).stat() for root, _, names in os.walk(build) for name in names]
            if max((status.st_mtime for status in statuses), default=build.stat().st_mtime) <= oldest:
                found.append(OldBuild(build, sum(status.st_size for status in statuses)))
    return found


def remove_builds(builds: list[OldBuild]) -> None:
    """Remove the folders of builds.

    Raises:
        StoreError: one cannot be removed.
    """
    for build in builds:
        with folder.clear_errors(f"Removing the page and the logs of a build in {str(build.path)!r}"):
            shutil.rmtree(build.path)
