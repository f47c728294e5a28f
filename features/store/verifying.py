"""Whether the files that the log names are there, and are what was written.

    missing    there is no file
    size       it has another number of bytes
    content    its sha256 is not the one that it is named by

Size and time are looked at first, as rsync and git do: the content is read where a file was changed after it was
committed. `deep` reads every byte, and so finds what a disk forgets without a trace.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from features.errors import StoreError
from features.file_errors import explain
from features.store import folder
from features.store.delta import DataFile, Table
from features.store.releases import Release
from features.types import Shard

if TYPE_CHECKING:
    from features.store.store import Store

Problem = Literal["missing", "size", "content", "unreadable"]

_READERS = 4  # hashing lets other threads run; a disk gains nothing from more


@dataclass(frozen=True, slots=True)
class Damage:
    """A committed file that is not there, or is not what was written.

    Args:
        table: its table.
        stage: the stage that made it: the table, or the one that rejected the rows.
        shard: its shard.
        path: of the file, relative to the table's folder.
        problem: what is wrong with it.
        detail: the same in words, such as `has 512 bytes instead of 1034`.
        current: whether the newest version of the table names it.
        releases: numbers of the releases that need it.
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


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, and what is wrong.

    Args:
        files: files that were looked at.
        bytes: their size, as the log has it.
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


def damaged_files(table: Table, files: Iterable[DataFile], *, deep: bool) -> list[Damage]:
    """Return those of a table's files that are damaged.

    Args:
        table: the table.
        files: as its log names them.
        deep: whether every byte is read.
    """
    listed = list(files)
    with ThreadPoolExecutor(_READERS) as readers:
        flaws = list(readers.map(lambda file: _flaw(table, file, deep=deep), listed))
    return [
        Damage(
            table=table.name,
            stage=file.stage or table.name,
            shard=file.shard,
            path=file.path,
            problem=flaw[0],
            detail=flaw[1],
        )
        for file, flaw in zip(listed, flaws, strict=True)
        if flaw
    ]


def verify(store: "Store", tables: Sequence[Table], releases: Sequence[Release], *, deep: bool) -> Verification:
    """Look at every file that the newest versions and the releases name; `Store.verify` says the rest."""
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


def _wrong_counts(store: "Store", release: Release) -> str | None:
    """Return what is wrong with the counts of a release that can be read."""
    try:
        check_counts(store, release)
    except ReleaseCountError as error:
        return str(error)
    except StoreError:  # cannot be read: said by table
        return None
    return None


class ReleaseCountError(StoreError):
    """A release holds other numbers of rows than were published."""


def check_counts(store: "Store", release: Release) -> None:
    """Refuse a release whose tables, as their log has them now, hold other numbers of rows than were published.

    Raises:
        ReleaseCountError: a table has other rows than the release says, or fewer rejects.
        StoreError: a table cannot be read at the version that the release pins.
    """
    for table, rows in release.rows.items():
        version = release.versions[table]
        found = sum(known.rows for known in store.committed(table, version).values())
        if found != rows:
            raise ReleaseCountError(
                f"Release {release.number} of {str(store.path)!r} was published with {rows:,} rows of {table!r}, and "
                f"version {version} of the table holds {found:,}: its log is damaged; {_way_out(release.number)}."
            )
    held: dict[str, int] = {}
    for (stage, _), known in store.rejected(release.versions["rejects"]).items():
        held[stage] = held.get(stage, 0) + known.rows
    for stage, rejects in release.rejects.items():
        # Of a stage that was given up there may be more than were counted, never less.
        if held.get(stage, 0) < rejects:
            raise ReleaseCountError(
                f"Release {release.number} of {str(store.path)!r} was published with {rejects:,} rejects of {stage!r}, "
                f"and its version of the table holds {held.get(stage, 0):,}: the log of 'rejects' is damaged; "
                f"{_way_out(release.number)}."
            )


def refuse_damaged(store: "Store", damaged: Sequence[Damage]) -> None:
    """Raise a StoreError that names the first of some damaged files; do nothing where there is none."""
    if damaged:
        more = f" (and {len(damaged) - 1} more, see `facetflow verify --deep`)" if len(damaged) > 1 else ""
        raise StoreError(
            f"The store {str(store.path)!r} is damaged: {damaged[0]}{more}; `facetflow build --deep` makes again what "
            "can be made again."
        )


def _flaw(table: Table, file: DataFile, *, deep: bool) -> tuple[Problem, str] | None:
    path = table.path / file.path
    try:
        status = path.stat()
        if status.st_size != file.bytes:
            return "size", f"has {status.st_size:,} bytes instead of {file.bytes:,}"
        touched = status.st_mtime_ns // 1_000_000 > file.committed
        # A file is named by the first digits of its digest.
        if (deep or touched) and not folder.sha256(path).startswith(path.stem):
            return "content", "is not what was written: its sha256 is not the one in its name"
    except FileNotFoundError:
        return "missing", "is missing"
    except OSError as error:
        return "unreadable", f"cannot be read: {explain(error)}"
    return None


def _way_out(number: int) -> str:
    return f"restore the log, use another release, or give this one up: delete 'releases/{number:05d}.json' and build"
