"""Pages, facts and logs of old builds: which of them `facetflow gc` removes.

runs/builds/<run id>    of a build that published a release    kept: it documents how the release came to be
                        of the newest build                    kept: `facetflow status` names its page
                        of a running build                     kept
                        younger than the age                   kept
                        any other                              removed
"""

import re
import time
from datetime import timedelta

from features.store import folder
from features.store.store import Store
from flows.build_facts import read
from flows.build_pages import newest_page
from flows.old_folders import OldFolder
from flows.project import Project

_RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")


def find_old_builds(settings: Project, store: Store, older_than: timedelta) -> list[OldFolder]:
    """Return the folders of builds that may be removed, oldest first.

    Args:
        settings: the project file.
        store: the store; the pages of builds that published its releases are kept.
        older_than: minimum age of the newest file in a removable folder.

    Raises:
        StoreError: a release or the folder of builds cannot be read.
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
            old = OldFolder.of(build)
            if old.newest <= oldest:
                found.append(old)
    return found
