"""Whether a store, with all its releases, holds what was written to it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from features.core.errors import StoreError
from features.core.faults import ReleaseCountWrong
from features.store.damage import Damage, damaged_files
from features.store.delta import DataFile, Table
from features.store.reader import StoreReader
from features.store.releases import Release


@dataclass(frozen=True, slots=True)
class Verification:
    """How many files were checked, their size according to the log, and what is wrong.

    `broken` are tables and releases whose log does not hold what it should, each as a sentence.
    """

    files: int
    bytes: int
    damaged: tuple[Damage, ...]
    broken: tuple[str, ...]

    @property
    def hurt(self) -> tuple[int, ...]:
        """Numbers of the releases that need a damaged file."""
        return tuple(sorted({number for damage in self.damaged for number in damage.releases}))


def verify(store: StoreReader, tables: Sequence[Table], releases: Sequence[Release], *, deep: bool) -> Verification:
    """Check every file that the newest versions and the releases name; `Store.verify` says the rest."""
    damaged: list[Damage] = []
    broken: list[str] = []
    counts: dict[tuple[str, int], Mapping[str, int]] = {}
    count = size = 0
    for table in tables:
        needed: dict[str, DataFile] = {}
        try:
            needed = {file.path: file for file in table.files()}
        except StoreError as error:
            broken.append(str(error))
        current = set(needed)
        pinned: dict[int, list[int]] = {}  # version → numbers of the releases that pin it
        for release in releases:
            if table.name in release.versions:
                pinned.setdefault(release.versions[table.name], []).append(release.number)
        releases_of: dict[str, list[int]] = {}
        unread = dict(pinned)
        try:
            for version, files in table.files_at(pinned):
                counts[table.name, version] = rows_by_stage(table.name, files)
                numbers = unread.pop(version)
                for file in files:
                    needed.setdefault(file.path, file)
                    releases_of.setdefault(file.path, []).extend(numbers)
        except StoreError as error:
            those = sorted(number for numbers in unread.values() for number in numbers)
            broken.append(f"Release {', '.join(map(str, those))} cannot be read: {error}")
        count += len(needed)
        size += sum(file.bytes for file in needed.values())
        damaged += [
            replace(damage, current=damage.path in current, releases=tuple(sorted(releases_of.get(damage.path, ()))))
            for damage in damaged_files(table, needed.values(), deep=deep)
        ]
    for release in releases:
        if counts.keys() >= set(release.versions.items()):  # else it cannot be read: reported by table
            try:
                check_counts(store.location, release, counts)
            except ReleaseCountWrong as error:
                broken.append(str(error))
    return Verification(count, size, tuple(damaged), tuple(broken))


def rows_by_stage(table: str, files: Iterable[DataFile]) -> Counter[str]:
    """Return the rows of files of a table by stage, which is the name of the table unless it is `rejects`."""
    rows: Counter[str] = Counter()
    for file in files:
        rows[file.stage or table] += file.rows
    return rows


def check_counts(location: str, release: Release, counts: Mapping[tuple[str, int], Mapping[str, int]]) -> None:
    """Refuse a release whose tables, according to their present log, do not hold the published numbers of rows.

    Args:
        location: the store, for the message.
        release: the release.
        counts: table and version → `rows_by_stage`, for all that it pins.

    Raises:
        ReleaseCountWrong: a table has not as many rows as the release says, or fewer rejects.
    """
    way_out = (
        f"restore the log, use another release, or give this one up: delete 'releases/{release.number:05d}.json' and "
        "build"
    )
    for table, rows in release.rows.items():
        version = release.versions[table]
        held = counts[table, version].get(table, 0)
        if held != rows:
            raise ReleaseCountWrong(
                f"Release {release.number} of {location!r} was published with {rows:,} rows of {table!r}, but "
                f"version {version} of the table holds {held:,}: its log is damaged; {way_out}."
            )
    rejected = counts["rejects", release.versions["rejects"]]
    for stage, rejects in release.rejects.items():
        # A stage that was given up may have more rejects than were counted, never fewer.
        if rejected.get(stage, 0) < rejects:
            raise ReleaseCountWrong(
                f"Release {release.number} of {location!r} was published with {rejects:,} rejects of {stage!r}, "
                f"but its version of the table holds {rejected.get(stage, 0):,}: the log of 'rejects' is damaged; "
                f"{way_out}."
            )
