"""Whether a store, with all its releases, holds what was written to it."""

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
    """What was checked, and what is wrong.

    Args:
        files: number of files checked.
        bytes: their size, according to the log.
        damaged: files that are not what was written.
        broken: tables and releases whose log does not hold what it should, each as a sentence.
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
    looked_at = size = 0
    for table in tables:
        current: set[str] = set()
        needed: dict[str, DataFile] = {}
        releases_of: dict[str, list[int]] = {}
        try:
            needed = {file.path: file for file in table.files()}
            current = set(needed)
        except StoreError as error:
            broken.append(str(error))
        for version, numbers in _pinned(table, releases).items():
            try:
                for file in table.files(version):
                    needed.setdefault(file.path, file)
                    releases_of.setdefault(file.path, []).extend(numbers)
            except StoreError as error:
                broken.append(f"Release {', '.join(map(str, numbers))} cannot be read: {error}")
        looked_at += len(needed)
        size += sum(file.bytes for file in needed.values())
        damaged += [
            replace(
                damage,
                current=damage.path in current,
                releases=tuple(sorted(releases_of.get(damage.path, ()))),
            )
            for damage in damaged_files(table, needed.values(), deep=deep)
        ]
    broken += [sentence for release in releases if (sentence := _wrong_counts(store, release)) is not None]
    return Verification(looked_at, size, tuple(damaged), tuple(broken))


def _pinned(table: Table, releases: Sequence[Release]) -> dict[int, list[int]]:
    """Return version → numbers of the releases that pin it."""
    found: dict[int, list[int]] = {}
    for release in releases:
        if table.name in release.versions:
            found.setdefault(release.versions[table.name], []).append(release.number)
    return found


def _wrong_counts(store: StoreReader, release: Release) -> str | None:
    """Return what is wrong with the counts of a release that can be read."""
    try:
        check_counts(store, release)
    except ReleaseCountWrong as error:
        return str(error)
    except StoreError:  # cannot be read: reported by table
        return None
    return None


def check_counts(store: StoreReader, release: Release) -> None:
    """Refuse a release whose tables, according to their present log, do not hold the published numbers of rows.

    Raises:
        ReleaseCountWrong: a table has not as many rows as the release says, or fewer rejects.
        StoreError: a table cannot be read at the version that the release pins.
    """
    for table, rows in release.rows.items():
        version = release.versions[table]
        found = sum(known.rows for known in store.committed(table, version).values())
        if found != rows:
            raise ReleaseCountWrong(
                f"Release {release.number} of {str(store.path)!r} was published with {rows:,} rows of {table!r}, but "
                f"version {version} of the table holds {found:,}: its log is damaged; {_way_out(release.number)}."
            )
    held: dict[str, int] = {}
    for (stage, _), known in store.rejected(release.versions["rejects"]).items():
        held[stage] = held.get(stage, 0) + known.rows
    for stage, rejects in release.rejects.items():
        # A stage that was given up may have more rejects than were counted, never fewer.
        if held.get(stage, 0) < rejects:
            raise ReleaseCountWrong(
                f"Release {release.number} of {str(store.path)!r} was published with {rejects:,} rejects of {stage!r}, "
                f"but its version of the table holds {held.get(stage, 0):,}: the log of 'rejects' is damaged; "
                f"{_way_out(release.number)}."
            )


def _way_out(number: int) -> str:
    return f"restore the log, use another release, or give this one up: delete 'releases/{number:05d}.json' and build"
