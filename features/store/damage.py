"""Files that the log names but that are missing, or differ from what was written.

    missing    there is no file
    size       its number of bytes differs
    content    its sha256 is not the one in its name

Size and time are checked first, as rsync and git do: the content is read only if a file was changed after it was
committed. `deep` reads every byte, and so also finds silent disk corruption. To verify a store is to check the files
of its newest versions and of all its releases, and the rows that each release was published with.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from features.core.errors import StoreError
from features.core.faults import ReleaseCountWrong, StoreDamaged, UnknownTable
from features.core.file_errors import clear_errors, explain
from features.core.types import Shard
from features.store.delta import Table
from features.store.receipts import DataFile
from features.store.releases import Release
from features.store.storage import Entry

Problem = Literal["missing", "size", "content", "unreadable"]


@dataclass(frozen=True, slots=True)
class Damage:
    """A committed file that is missing, or differs from what was written.

    The stage is the one that made it, or that rejected its rows; the path is relative to the table's folder. `detail`
    is the problem in words, such as `has 512 bytes instead of 1034`. `current` is whether the newest version of the
    table names the file, `releases` the numbers of those that need it.
    """

    table: str
    stage: str
    shard: Shard
    path: str
    problem: Problem
    detail: str
    current: bool = True
    releases: tuple[int, ...] = ()

    def __str__(self) -> str:
        rejects = "the rejects of " if self.table == "rejects" else ""
        return f"{rejects}{self.stage} {self.shard}: {self.file!r} {self.detail}"

    @property
    def file(self) -> str:
        """The file, relative to the store's folder."""
        return f"tables/{self.table}/{self.path}"

    @property
    def key(self) -> tuple[str, Shard]:
        """The shard that has to be made again."""
        return (self.stage, self.shard)


def damaged_files(table: Table, files: Iterable[DataFile], *, deep: bool | None) -> list[Damage]:
    """Return those of a table's files that are damaged.

    The sizes of all are compared. `deep` reads all of them, False those that have changed since, None none.
    """
    listed = list(files)
    entries = zip(listed, table.stats(listed), strict=True)
    with clear_errors(f"Checking table {table.name!r} in {table.storage.location!r}"):
        flaws = table.storage.map(lambda pair: _flaw(table, *pair, deep=deep), entries)
    return [
        Damage(table.name, file.stage or table.name, file.shard, file.path, *flaw)
        for file, flaw in zip(listed, flaws, strict=True)
        if flaw
    ]


def refuse_damaged(store: str, damaged: Sequence[Damage]) -> None:
    """Raise a StoreError that names the first damaged file; do nothing if there is none."""
    if damaged:
        more = f" (and {len(damaged) - 1} more, see `facetflow verify --deep`)" if len(damaged) > 1 else ""
        raise StoreDamaged(
            f"The store {store!r} is damaged: {damaged[0]}{more}; `facetflow build --deep` rebuilds what "
            "can be rebuilt."
        )


def _flaw(table: Table, file: DataFile, entry: Entry | OSError, *, deep: bool | None) -> tuple[Problem, str] | None:
    name = table.file(file.path)
    try:
        if isinstance(entry, OSError):
            raise entry
        if entry.bytes != file.bytes:
            return "size", f"has {entry.bytes:,} bytes instead of {file.bytes:,}"
        if deep or (deep is not None and entry.modified > file.committed):
            digest = hashlib.sha256(table.storage.read(name)).hexdigest()
            if not digest.startswith(name.rpartition("/")[2].removesuffix(".parquet")):
                return "content", "is not what was written: its sha256 is not the one in its name"
    except FileNotFoundError:
        return "missing", "is missing"
    except table.storage.flaws as error:
        return "unreadable", f"cannot be read: {explain(error)}"
    return None


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


def verify(location: str, tables: Sequence[Table], releases: Sequence[Release], *, deep: bool) -> Verification:
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
        releases_of: dict[str, list[int]] = defaultdict(list)
        unread = pinned(table, releases)
        try:
            for version, files in table.files_at([*unread]):
                counts[table.name, version] = rows_by_stage(table.name, files)
                numbers = unread.pop(version)
                for file in files:
                    needed.setdefault(file.path, file)
                    releases_of[file.path].extend(numbers)
        except StoreError as error:
            hurt = sorted(number for numbers in unread.values() for number in numbers)
            broken.append(f"Release{'s' * (len(hurt) > 1)} {', '.join(map(str, hurt))} cannot be read: {error}")
        count += len(needed)
        size += sum(file.bytes for file in needed.values())
        damaged += [
            replace(damage, current=damage.path in current, releases=tuple(sorted(releases_of[damage.path])))
            for damage in damaged_files(table, needed.values(), deep=deep)
        ]
    for release in releases:
        pins = {(table.name, release.versions[table.name]) for table in tables if table.name in release.versions}
        if counts.keys() >= pins:  # else it cannot be read: reported by table
            try:
                check_counts(location, release, counts)
            except (ReleaseCountWrong, UnknownTable) as error:
                broken.append(str(error))
    return Verification(count, size, tuple(damaged), tuple(broken))


def pinned(table: Table, releases: Iterable[Release]) -> dict[int, list[int]]:
    """Return the versions of a table that releases need, with the numbers of these."""
    versions: dict[int, list[int]] = defaultdict(list)
    for release in releases:
        if table.name in release.versions:
            versions[release.versions[table.name]].append(release.number)
    return versions


def rows_by_stage(table: str, files: Iterable[DataFile]) -> Counter[str]:
    """Return the rows of files of a table by stage, which is the name of the table unless it is `rejects`."""
    rows: Counter[str] = Counter()
    for file in files:
        rows[file.stage or table] += file.rows
    return rows


def check_counts(location: str, release: Release, counts: Mapping[tuple[str, int], Mapping[str, int]]) -> None:
    """Refuse a release of which a table has not the published number of rows, or fewer rejects, by its present log.

    Also one with a table that is none of the store's: of a stage that another version of facetflow has.
    `location` is the store, for the message; `counts` has the `rows_by_stage` of each table and version that it pins.
    """
    if unknown := sorted(table for table, version in release.versions.items() if (table, version) not in counts):
        raise UnknownTable(
            f"Release {release.number} of {location!r} has a table {unknown[0]!r}, which this version of facetflow "
            f"does not know: use that which published it, {release.code_version}."
        )
    way_out = (
        f"restore the log, use another release, or give this one up: delete 'releases/{release.number:05d}.json' and "
        "build"
    )
    for table, rows in release.rows.items():
        version = release.versions[table]
        present = counts[table, version].get(table, 0)
        if present != rows:
            raise ReleaseCountWrong(
                f"Release {release.number} of {location!r} was published with {rows:,} rows of {table!r}, but "
                f"version {version} of the table holds {present:,}: its log is damaged; {way_out}."
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
