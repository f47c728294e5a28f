"""What a project no longer needs: found, then deleted, in an order in which a kill leaves nothing broken.

The next writer, a build or `facetflow gc`, first removes what killed processes left behind.

trainings ──> releases that no training reads ──> files that no release needs ──> builds without a release

training    of the newest release, or finished last; of the current run;          kept
            named in the project file (a backbone, a teacher), running, read
release     the newest; one that a training of the project, begun or finished,    kept: scores can be computed again
            reads
build       published a release that is kept; the newest; running                 kept: pages, facts and logs
record      as its build; with the last failure of a shard                        kept: plans and `retry` ask for it

What is younger than an age is kept too: of a folder counts its newest file, of a release when another became the newest
(a training may be about to read it). Nothing is known of other projects that read the store.
"""

import os
import re
import shutil
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from features.core.errors import FacetflowError
from features.core.file_errors import clear_errors
from features.core.leftovers import remove_dead, remove_dead_scratch
from features.core.wording import counted
from features.store.releases import release_name
from features.store.runs import RunRecord, record_name
from features.store.scope import ShardKey
from features.store.store import Garbage, Store
from flows.pages.build_facts import newest_page, read_facts
from flows.project import Project
from flows.terminal import detail, say, warn
from training.evaluation.promotion import current_runs, gone_runs
from training.run_records import is_in_use, state_of, unused
from training.runs import LAYERS, MAP, SEARCH, all_runs, encoder_name, group_of, is_finished, newest, release_of

_RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")


def clean_up(project: Project, store: Store) -> list[str]:
    """Remove and return temporary files and folders whose process is gone, never those of a live one.

    They are in the locked store, in the folders of runs, and, of this user's private servers, Dask clusters, trainings
    and commands, in the system's folder for temporary files.
    """
    removed = []
    for name in (".*.tmp", "_tmp-*"):
        for folder in (".", "*", "builds/*", "*/*/seed-*", "*/*/seed-*/*"):
            removed += remove_dead(project.runs.glob(f"{folder}/{name}"))
    finished = filter(is_finished, all_runs(project.runs))  # killed before they removed what they had resumed from
    removed += remove_dead(run / part for run in finished for part in ("checkpoint.pt", SEARCH, MAP, LAYERS))
    removed += remove_dead_scratch()
    everything = [*store.remove_dead_temporary(), *map(str, removed)]
    if everything:
        what = "a temporary file or folder" if len(everything) == 1 else f"{len(everything)} temporary files or folders"
        say(f"Removed {what} that killed processes had left.")
    for path in everything:
        detail(f"removed: {path}")
    return everything


OldFolders = Mapping[Path, int]
"""Folder that nothing needs → bytes of its files."""


def remove(folders: OldFolders, what: str) -> OldFolders:
    """Remove and return folders, but not one that somebody has just begun to read; `what` is for errors."""
    removed = {}
    for folder, size in folders.items():
        with clear_errors(f"Removing {what} in {str(folder)!r}"):
            # `clean_up` finishes what a kill leaves.
            going = folder.with_name(f".{uuid.uuid4().hex}.tmp")
            with unused(folder.glob("seed-*")) as free:
                if not free:
                    continue
                folder.rename(going)
            shutil.rmtree(going)
            removed[folder] = size
    return removed


def find_old_runs(settings: Project, older_than: timedelta) -> OldFolders:
    """Return the trainings that may be removed, each with all its seeds, in order of their ids."""
    with clear_errors(f"Reading the runs in {str(settings.runs)!r}"):
        gone = [run.link.resolve() for run in gone_runs(settings.runs).values()]  # it may be restored beside its seeds
        current = {group_of(run).resolve() for run in (*current_runs(settings.runs).values(), *gone)}
        named = _paths_in(settings.model_dump(mode="json"), settings.base)
        current |= {each for path in named for each in (path, *path.parents)}
        old = []
        for _, of_encoder in groupby(all_runs(settings.runs), encoder_name):
            runs = list(of_encoder)
            groups = {group: list(seeds) for group, seeds in groupby(runs, group_of)}
            finished = [run for run in runs if is_finished(run)]
            kept = {group_of(run) for run in (runs[-1], *([newest(finished)] if finished else []))}
            for group in sorted(groups.keys() - kept):
                seeds = groups[group]
                busy = any(state_of(run).state == "running" or is_in_use(run) for run in seeds)
                if group.resolve() not in current and not busy:
                    old.append(group)
        return _old_enough(old, older_than)


def find_old_releases(
    settings: Project, store: Store, older_than: timedelta, *, without: Collection[Path] = ()
) -> list[int]:
    """Return the numbers of the releases that may be removed, oldest first; trainings in `without` count as removed."""
    gone = {group.resolve() for group in without}
    runs = all_runs(settings.runs, linked=True)
    used = {release_of(run) for run in runs if group_of(run).resolve() not in gone}
    oldest = _time_before(older_than)
    return [
        release.number
        for release, following in pairwise(store.releases())
        if release.number not in used and following.created <= oldest
    ]


def find_old_builds(
    settings: Project, store: Store, older_than: timedelta, *, without: Collection[int] = ()
) -> OldFolders:
    """Return the folders of builds that may be removed, oldest first; releases in `without` count as removed."""
    if not settings.builds.is_dir():
        return {}
    with clear_errors(f"Reading the pages of builds in {str(settings.builds)!r}"):
        builds = sorted(
            entry
            for entry in settings.builds.iterdir()
            if _RUN_ID.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink()
        )
        page = newest_page(settings)
        kept = _publishers(store, without) | {build.name for build in builds[-1:]}
        kept |= {page.parent.name} if page else set()
        replaced = [build for build in builds if build.name not in kept]
        states = {build: facts.state for build in replaced if (facts := read_facts(settings, build.name))}
        return _old_enough([build for build in replaced if states.get(build) != "running"], older_than)


def find_old_records(store: Store, older_than: timedelta, *, without: Collection[int] = ()) -> list[str]:
    """Return the ids of builds whose records may be removed, oldest first; releases in `without` count as removed."""
    publishers, oldest = _publishers(store, without), _time_before(older_than)
    records = store.runs()
    seen = _failed(records[0]) if records else set()
    old = []
    for record in records[1:]:
        has_last_failure = not _failed(record) <= seen
        seen |= _failed(record)
        if not has_last_failure and record.run_id not in publishers and (record.finished or record.started) <= oldest:
            old.append(record.run_id)
    return old[::-1]


def _old_enough(folders: Iterable[Path], older_than: timedelta) -> OldFolders:
    """Return the folders whose newest file is older; links are not followed."""
    old, oldest = {}, time.time() - older_than.total_seconds()
    for folder in folders:
        statuses = [Path(root, name).lstat() for root, _, names in os.walk(folder) for name in names]
        if max((status.st_mtime for status in statuses), default=folder.stat().st_mtime) <= oldest:
            old[folder] = sum(status.st_size for status in statuses)
    return old


def _time_before(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="seconds")


def _failed(record: RunRecord) -> set[ShardKey]:
    return {(failed.stage, failed.shard) for failed in record.failed}


def _publishers(store: Store, without: Collection[int]) -> set[str]:
    return {release.run_id for release in store.releases() if release.number not in without}


def _paths_in(given: Any, base: Path) -> Iterator[Path]:
    """Yield all values of a project file as paths: a backbone, a teacher or any other file may belong to a run."""
    if isinstance(given, Mapping):
        given = given.values()
    if isinstance(given, str):
        with suppress(RuntimeError, ValueError):  # an unknown user, a loop of links, or characters that no path has
            yield (base / Path(given).expanduser()).resolve()
    elif isinstance(given, Iterable):
        for value in given:
            yield from _paths_in(value, base)


@dataclass(frozen=True, slots=True)
class Extent:
    """What may be deleted from some age on: also replaced trainings, and releases that no training reads."""

    older_than: timedelta
    trainings: bool = False
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Obsolete:
    """What can be deleted, or was: trainings with all seeds, releases by number, records by the ids of builds."""

    trainings: OldFolders
    releases: tuple[int, ...]
    garbage: Garbage
    builds: OldFolders
    records: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of all files, but for those of releases and records, which are small."""
        return self.garbage.bytes + sum(self.builds.values()) + sum(self.trainings.values())

    def paths(self) -> Iterator[str]:
        """Yield all paths: files of the store relative to it, the others whole."""
        yield from self.garbage.files
        for number in self.releases:
            yield release_name(number)
        for run_id in self.records:
            yield record_name(run_id)
        yield from map(str, (*self.builds, *self.trainings))


def find_obsolete(settings: Project, store: Store, extent: Extent, *, delete: bool = False) -> Obsolete:
    """Find what is no longer needed, and delete each kind of it before the next is found, or nothing."""
    age = extent.older_than
    trainings = find_old_runs(settings, age) if extent.trainings else {}
    if delete:
        trainings = remove(trainings, "an old training")
    # One that is trained again where a removed one was reads its release.
    gone = () if delete else trainings
    releases = find_old_releases(settings, store, age, without=gone) if extent.releases else []
    for number in releases if delete else ():
        store.remove_release(number)
    garbage = store.collect_garbage(age, without=releases, dry_run=not delete)
    builds = find_old_builds(settings, store, age, without=releases)
    records = find_old_records(store, age, without=releases)
    if delete:
        remove(builds, "the page and the logs of a build")
        for run_id in records:
            store.remove_run(run_id)
    return Obsolete(trainings, tuple(releases), garbage, builds, tuple(records))


def delete_obsolete(settings: Project, store: Store, extent: Extent) -> Obsolete:
    """Delete what is no longer needed, and return it; only for the holder of the store's lock."""
    find_obsolete(settings, store, extent)  # its errors, such as of a damaged log, come before anything is deleted
    # Reading the tables took a while, in which a training may have begun: all is looked up where it is deleted.
    return find_obsolete(settings, store, extent, delete=True)


def delete_by_age(settings: Project, store: Store) -> None:
    """Delete what `[retention]` of the project says from a locked store; no build fails if that cannot be done."""
    retention = settings.retention
    if retention.days is None:
        return
    days = f"{retention.days:g} day{'s' * (retention.days != 1)}"
    extent = Extent(timedelta(days=retention.days), trainings=retention.trainings, releases=retention.releases)
    try:
        obsolete = delete_obsolete(settings, store, extent)
    except FacetflowError as error:
        warn(f"Older than {days}, and not deleted: {error} The next build tries again.")
        return
    if any((obsolete.trainings, obsolete.releases, obsolete.garbage.files, obsolete.builds, obsolete.records)):
        say(f"Deleted what is older than {days}: {in_words(obsolete, extent)}.")


def in_words(obsolete: Obsolete, extent: Extent) -> str:
    """Return what is obsolete, such as "3 files of the store and the pages and logs of 2 builds, 5.1 MB"."""
    parts = [counted(len(obsolete.garbage.files), "file") + " of the store"]
    parts += [counted(len(obsolete.releases), "release")] if extent.releases else []
    if obsolete.records:
        parts.append(f"the record{'s' * (len(obsolete.records) != 1)} of {counted(len(obsolete.records), 'build')}")
    parts.append(f"the page{'s' * (len(obsolete.builds) != 1)} and logs of {counted(len(obsolete.builds), 'build')}")
    parts += [counted(len(obsolete.trainings), "training")] if extent.trainings else []
    return f"{', '.join(parts[:-1])} and {parts[-1]}, {obsolete.bytes / 1e6:.1f} MB"
