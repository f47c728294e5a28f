"""What a project no longer needs: found, then deleted, in an order in which a kill leaves nothing broken.

trainings ──> releases that no training reads ──> files that no release needs ──> builds without a release
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from features.core.counting import counted
from features.core.errors import FacetflowError
from features.store.releases import release_name
from features.store.runs import record_name
from features.store.store import Garbage, Store
from flows.project import Project
from flows.removal.obsolete import (
    OldFolder,
    find_old_builds,
    find_old_records,
    find_old_releases,
    find_old_runs,
    remove,
)
from flows.terminal import say, warn


@dataclass(frozen=True, slots=True)
class Extent:
    """What may be deleted from some age on: also replaced trainings, and releases that no training reads."""

    older_than: timedelta
    trainings: bool = False
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Obsolete:
    """What can be deleted, or was: trainings with all seeds, releases by number, records by the ids of builds."""

    trainings: tuple[OldFolder, ...]
    releases: tuple[int, ...]
    garbage: Garbage
    builds: tuple[OldFolder, ...]
    records: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of all files, but for those of releases and records, which are small."""
        return self.garbage.bytes + sum(old.bytes for old in (*self.builds, *self.trainings))

    def paths(self, store: Store) -> Iterator[str]:
        """Yield all paths: files of the store relative to it, the others whole."""
        yield from self.garbage.files
        for number in self.releases:
            yield release_name(number)
        for run_id in self.records:
            yield record_name(run_id)
        for old in (*self.builds, *self.trainings):
            yield str(old.path)


def find_obsolete(settings: Project, store: Store, extent: Extent) -> Obsolete:
    """Find what is no longer needed, and delete nothing."""
    age = extent.older_than
    old_trainings = tuple(find_old_runs(settings, age)) if extent.trainings else ()
    gone = [old.path for old in old_trainings]
    old_releases = tuple(find_old_releases(settings, store, age, without=gone)) if extent.releases else ()
    return Obsolete(
        old_trainings,
        old_releases,
        store.collect_garbage(age, without=old_releases, dry_run=True),
        tuple(find_old_builds(settings, store, age, without=old_releases)),
        tuple(find_old_records(store, age, without=old_releases)),
    )


def delete_obsolete(settings: Project, store: Store, extent: Extent) -> Obsolete:
    """Delete what `find_obsolete` finds, and return it; only for the holder of the store's lock."""
    found, age = find_obsolete(settings, store, extent), extent.older_than
    # Reading the tables took a while, in which a training may have begun: looked up again where it is deleted.
    again = {old.path for old in find_old_runs(settings, age)} if extent.trainings else set()
    old_trainings = tuple(old for old in found.trainings if old.path in again)
    old_trainings = tuple(remove(old_trainings, "an old training"))
    unread = find_old_releases(settings, store, age) if extent.releases else []
    old_releases = tuple(number for number in found.releases if number in unread)
    for number in old_releases:
        store.remove_release(number)
    garbage = store.collect_garbage(age)
    builds, records = tuple(find_old_builds(settings, store, age)), tuple(find_old_records(store, age))
    remove(builds, "the page and the logs of a build")
    for run_id in records:
        store.remove_run(run_id)
    return Obsolete(old_trainings, old_releases, garbage, builds, records)


def delete_by_age(settings: Project, store: Store) -> None:
    """Delete what `[retention]` of the project says from a locked store; no build fails if that cannot be done."""
    retention = settings.retention
    if retention.days is None:
        return
    extent = Extent(timedelta(days=retention.days), trainings=retention.trainings, releases=retention.releases)
    try:
        found = delete_obsolete(settings, store, extent)
    except FacetflowError as error:
        warn(f"Older than {retention.days:g} days, and not deleted: {error} The next build tries again.")
        return
    if found.trainings or found.releases or found.garbage.files or found.builds or found.records:
        say(f"Deleted what is older than {retention.days:g} days: {in_words(found, extent)}.")


def in_words(found: Obsolete, extent: Extent) -> str:
    """Return what was found, such as "3 files of the store and the pages and logs of 2 builds, 5.1 MB"."""
    parts = [counted(len(found.garbage.files), "file") + " of the store"]
    parts += [counted(len(found.releases), "release")] if extent.releases else []
    if found.records:
        parts.append(f"the record{'s' * (len(found.records) != 1)} of {counted(len(found.records), 'build')}")
    parts += [
        "the page and logs of 1 build"
        if len(found.builds) == 1
        else f"the pages and logs of {len(found.builds)} builds"
    ]
    parts += [counted(len(found.trainings), "training")] if extent.trainings else []
    return f"{', '.join(parts[:-1])} and {parts[-1]}, {found.bytes / 1e6:.1f} MB"
