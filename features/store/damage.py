"""Files that the log names but that are missing, or differ from what was written.

    missing    there is no file
    size       its number of bytes differs
    content    its sha256 is not the one in its name

Size and time are checked first, as rsync and git do: the content is read only if a file was changed after it was
committed. `deep` reads every byte, and so also finds silent disk corruption.
"""

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from features.core.faults import StoreDamaged
from features.core.file_errors import explain
from features.core.types import Shard
from features.store.delta import DataFile, Table

Problem = Literal["missing", "size", "content", "unreadable"]

_READERS = 4  # hashing releases the GIL; more readers gain nothing on one disk


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


def damaged_files(table: Table, files: Iterable[DataFile], *, deep: bool) -> list[Damage]:
    """Return those of a table's files, as its log names them, that are damaged; `deep` reads every byte."""
    listed = list(files)
    with ThreadPoolExecutor(_READERS) as readers:
        flaws = list(readers.map(lambda file: _flaw(table, file, deep=deep), listed))
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


def _flaw(table: Table, file: DataFile, *, deep: bool) -> tuple[Problem, str] | None:
    name = table.file(file.path)
    try:
        entry = table.storage.stat(name)
        if entry.bytes != file.bytes:
            return "size", f"has {entry.bytes:,} bytes instead of {file.bytes:,}"
        if deep or entry.modified > file.committed:
            digest = hashlib.sha256(table.storage.read(name)).hexdigest()
            if not digest.startswith(name.rpartition("/")[2].removesuffix(".parquet")):
                return "content", "is not what was written: its sha256 is not the one in its name"
    except FileNotFoundError:
        return "missing", "is missing"
    except OSError as error:
        return "unreadable", f"cannot be read: {explain(error)}"
    return None
