"""Whether a store, with all its releases, holds what was written to it."""

from collections import Counter
from collections.abc import Sequence
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
        for version, numbers in pinned.items():
            try:
                for file in table.files(version):
                    needed.setdefault(file.path, file)
                    releases_of.setdefault(file.path, []).extend(numbers)
            except StoreError as error:
                broken.append(f"Release {', '.join(map(str, numbers))} cannot be read: {error}")
        count += len(needed)
        size += sum(file.bytes for file in needed.values())
        damaged += [
            replace(damage, current=damage.path in current, releases=tuple(sorted(releases_of.get(damage.path, ()))))
            for damage in damaged_files(table, needed.values(), deep=deep)
        ]
    for release in releases:
        try:
            check_counts(store, release)
        except ReleaseCountWrong as error:
            broken.append(str(error))
        except StoreError:  # cannot be read: reported by table
            continue
    return Verification(count, size, tuple(damaged), tuple(broken))


def check_counts(store: StoreReader, release: Release) -> None:
    """Refuse a release whose tables, according to their present log, do not hold the published numbers of rows.

    Raises:
        ReleaseCountWrong: a table has not as many rows as the release says, or fewer rejects.
        StoreError: a table cannot be read at the version that the release pins.
    """
    way_out = (
        f"restore the log, use another release, or give this one up: delete 'releases/{release.number:05d}.json' and "
        "build"
    )
    for table, rows in release.rows.items():
        version = release.versions[table]
        held = sum(shard.rows for shard in store.committed(table, version).values())
        if held != rows:
            raise ReleaseCountWrong(
                f"Release {release.number} of {store.location!r} was published with {rows:,} rows of {table!r}, but "
                f"version {version} of the table holds {held:,}: its log is damaged; {way_out}."
            )
    rejected: Counter[str] = Counter()
    for (stage, _), shard in store.rejected(release.versions["rejects"]).items():
        rejected[stage] += shard.rows
    for stage, rejects in release.rejects.items():
        # A stage that was given up may have more rejects than were counted, never fewer.
        if rejected[stage] < rejects:
            raise ReleaseCountWrong(
                f"Release {release.number} of {store.location!r} was published with {rejects:,} rejects of {stage!r}, "
                f"but its version of the table holds {rejected[stage]:,}: the log of 'rejects' is damaged; {way_out}."
            )
