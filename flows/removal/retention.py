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
from flows.removal.old_builds import find_old_builds, find_old_records
from flows.removal.old_folders import OldFolder, remove
from flows.removal.old_releases import find_old_releases
from flows.removal.old_runs import find_old_runs
from flows.terminal import say, warn


@dataclass(frozen=True, slots=True)
class Extent:
    """What may be deleted.

    Args:
        older_than: minimum age.
        trainings: whether trainings that newer ones have replaced may be.
        releases: whether releases that no training reads may be.
    """

    older_than: timedelta
    trainings: bool = False
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Obsolete:
    """What can be deleted, or was.

    Args:
        trainings: folders of trainings, each with all its seeds.
        releases: numbers of releases.
        garbage: files of the store that no other release needs.
        builds: folders with the pages and logs of builds.
        records: ids of builds whose records in the store can go.
    """

    trainings: tuple[OldFolder, ...]
    releases: tuple[int, ...]
    garbage: Garbage
    builds: tuple[OldFolder, ...]
    records: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to delete."""
        return not (self.trainings or self.releases or self.garbage.files or self.builds or self.records)

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
    """Find what is no longer needed, and delete nothing.

    Args:
        settings: the project file.
        store: its store.
        extent: what may be deleted.

    Raises:
        StoreError: something cannot be read, or a release does not hold what was published.
    """
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
    """Delete what `find_obsolete` finds, and return it; only for the holder of the store's lock.

    Raises:
        StoreError: as for `find_obsolete`, before anything is deleted; or something cannot be deleted.
    """
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
    """Delete what `[retention]` of the project says; no build fails if that cannot be done.

    Args:
        settings: the project file.
        store: its store, locked for this process.
    """
    retention = settings.retention
    if retention.days is None:
        return
    extent = Extent(timedelta(days=retention.days), trainings=retention.trainings, releases=retention.releases)
    try:
        found = delete_obsolete(settings, store, extent)
    except FacetflowError as error:
        warn(f"Older than {retention.days:g} days, and not deleted: {error} The next build tries again.")
        return
    if not found.is_empty:
        say(f"Deleted what is older than {retention.days:g} days: {in_words(found, extent)}.")


def in_words(found: Obsolete, extent: Extent) -> str:
    """Return what was found, such as "3 files of the store and the pages and logs of 2 builds, 5.1 MB".

    Args:
        found: what was found.
        extent: what was looked for.
    """
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
