"""One Delta table of the store: its files by shard, and the one transaction that replaces some of them.

All knowledge about deltalake is confined to this module. What we found out about it (1.6.6):

- A transaction with `RemoveAction` and `AddAction` in mode `append` is atomic, but the library checks little: it
  removes paths that are not in the table and adds files that do not exist, so `replace` only names files it has seen.
- A wrong size in an `AddAction` makes polars panic. The transaction does not widen a table: `add_columns` comes first.
- Two transactions that only add do not conflict with each other, so a shard could be added twice. With no retries of
  the library's own (`max_commit_retries=0`) every concurrent commit does conflict; we read the table again and retry.
- Opening a table reads every commit since the last checkpoint, about 1 ms each, in an object storage a request each: a
  checkpoint every 20 instead of 100, and a process keeps what it has opened, since a version never changes.
- Expired log files would be cleaned up after 30 days, and with them the versions that releases pin: switched off. `gc`
  removes checkpoints instead (`spare_checkpoints`); commits stay, since they say where shards come from.
- A checkpoint names each file that was ever removed, for as long as the table is told to remember that.
- `vacuum(keep_versions=...)` and opening read a version anew, 50 ms each: for many, `files_at` reads the log once.
- Log and checkpoints are written without fsync: we sync them. Nothing opens a table whose last checkpoint is empty.
- Without a version, a table is opened by `_last_checkpoint`; in a copy made during a build, that may name a checkpoint
  that was not copied, so every table is opened by the number of its version.
"""

import contextlib
import itertools
import json
import math
import random
import re
import time
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

import polars as pl
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from features.core.errors import StoreError
from features.core.faults import StoreDamaged, StoreUnreachable, WrittenByAnother
from features.core.file_errors import clear_errors, explain
from features.core.leftovers import scratch
from features.core.types import Fingerprint, Shard
from features.schemas import Columns
from features.store.receipts import DataFile
from features.store.storage import Entry, Storage, relist

_CONFIGURATION: dict[str, str | None] = {
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 30 days",
    "delta.checkpointInterval": "20",
}
_CHECKPOINT = ".checkpoint.parquet"
_COMMIT = re.compile(r"\d+\.json")
_OURS = re.compile(r"(stage=[^/]+/)?shard=[^/]+/fingerprint=[^/]+/[0-9a-f]{20}\.parquet")
"""Files as `features.store.writing` names them: deltalake also lists what lies behind links to folders elsewhere."""
_ATTEMPTS = 20
_AT_ONCE = 64
"""Entries of the log that are in memory at once; one has some hundred bytes for each shard of its commit."""
OWN_COLUMN = pl.Float64
"""Type of the columns that a project adds to an extensible table."""
_METADATA = "facetflow"
_TABLES_KEPT = 32
"""Opened versions that a process keeps: of each table the newest and that of a release."""


@dataclass(frozen=True)
class Table:
    """One Delta table; holds no open file, so it may be pickled and used from any process.

    Its columns are those without the partitions; a project may add columns of numbers to an extensible table. One that
    was deleted and made again counts its versions from 0, and a release would read other rows under the same version:
    such a table is refused, by the id that it was made with.
    """

    name: str
    storage: Storage
    columns: Columns
    partitions: tuple[str, ...]
    table_id: str | None = None
    extensible: bool = False

    def file(self, path: str) -> str:
        """Return the name in the store of a file that the log names."""
        return f"{self._folder}/{path}"

    def stats(self, files: Iterable[DataFile]) -> list[Entry | OSError]:
        """Describe files as they are in the store, or return the flaw of one that cannot be."""
        with self._clear_errors("Checking"):
            return self.storage.stats(self._folder, [self.file(file.path) for file in files])

    def create(self) -> str:
        """Make the table unless another process has, and return its id.

        deltalake may make a table twice, with two ids. So it makes one where nobody looks, and the first entry of its
        log enters the store, where a name is given once.
        """
        frame = pl.DataFrame(schema={**self.columns, **dict.fromkeys(self.partitions, pl.String)})
        with self._clear_errors("Making"), scratch("table") as folder:
            made = DeltaTable.create(
                str(folder),
                Schema.from_arrow(frame.to_arrow().schema),
                partition_by=list(self.partitions),
                name=self.name,
                configuration=_CONFIGURATION,
            )
            with contextlib.suppress(FileExistsError):
                self.storage.put_if_absent(self.file(_log(0)), (folder / _log(0)).read_bytes())
                return str(made.metadata().id)
        return str(self.open().metadata().id)

    def open(self, version: int | None = None) -> DeltaTable:
        """Open the table at a version, or at its newest; what this process has opened before is not read again."""
        if version is not None and version < 0:
            raise StoreDamaged(f"Version {version!r} of table {self.name!r} in {self._shown!r} cannot exist.")
        with self._clear_errors("Reading", version):
            entry = self._entry(version)
            table = _opened(*self._address, version) if entry is None else _kept(*self._address, entry)
            table_id = str(table.metadata().id)
        if self.table_id not in (None, table_id):
            raise StoreDamaged(
                f"Table {self.name!r} in {self._shown!r} is not the one that the store was made with; restore it, "
                "or build a new store."
            )
        return table

    def version(self) -> int:
        """Return the newest version, from the file names in the log: every commit is a file named by its number."""
        with self._clear_errors("Reading"):
            entry = self._entry(None)
        return _version(entry) if entry else self.open().version()

    def files(self, version: int | None = None, shards: Collection[str] | None = None) -> list[DataFile]:
        """Return the table's files at a version, of some shards or of all, by stage and shard; no file is opened."""
        return self._files(self.open(version), shards)

    def files_at(self, versions: Collection[int]) -> Iterator[tuple[int, Collection[DataFile]]]:
        """Yield versions, ascending, with the files at each: as `files`, but each entry of the log is read once.

        The files are those of a version only until the next one is asked for.
        """
        if not versions:
            return
        first, *later = sorted(set(versions))
        files = {file.path: file for file in self.files(first)}
        yield first, files.values()
        logs = [self.file(_log(version)) for version in range(first + 1, max(later, default=first) + 1)]
        for at in range(0, len(logs), _AT_ONCE):
            with self._clear_errors("Reading"):
                entries = self.storage.map(self.storage.read, logs[at : at + _AT_ONCE])
            for version, entry in enumerate(entries, start=first + 1 + at):
                try:
                    _replay(entry, files)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise StoreDamaged(
                        f"Entry {version} of the log of table {self.name!r} in {self._shown!r} is damaged; restore "
                        "the table, or build a new store."
                    ) from error
                if version in later:
                    yield version, files.values()

    def spare_checkpoints(self, versions: Collection[int]) -> list[str]:
        """Return the checkpoints, relative to the table's folder, from which neither `versions` nor the newest is read.

        Without one, a version is read from an earlier checkpoint and the commits since.
        """
        with self._clear_errors("Reading"):
            names = self.storage.names(f"{self._folder}/_delta_log")
        checkpoints = [name for name in names if name.endswith(_CHECKPOINT)]
        # One is read for its own version, too.
        needed = {bisect_right(checkpoints, f"{version:020d}{_CHECKPOINT}") - 1 for version in versions}
        needed.add(len(checkpoints) - 1)
        return [f"_delta_log/{name}" for at, name in enumerate(checkpoints) if at not in needed]

    def history(self) -> list[tuple[int, Mapping[str, Any]]]:
        """Return version and metadata of every commit, newest first; those of other programs have no metadata."""
        table = self.open()
        with self._clear_errors("Reading"):
            return [(int(commit["version"]), commit.get(_METADATA, {})) for commit in relist(table.history)]

    def columns_at(self, version: int | None = None) -> Columns:
        """Return the columns at a version, without the partitions; rows that were written before a column lack it."""
        if not self.extensible:
            return self.columns
        own = [name for name in _names(self.open(version)) if name not in {*self.columns, *self.partitions}]
        return {**self.columns, **dict.fromkeys(own, OWN_COLUMN)}

    def add_columns(self, columns: Columns) -> None:
        """Add those columns that the table lacks, in a transaction that changes no row: older rows have nulls there."""
        present = _names(self.open())
        if new := {name: dtype for name, dtype in columns.items() if name not in present}:
            try:
                with self._clear_errors("Adding columns to"):
                    # Its own: unlike a transaction, this changes what is opened.
                    table = _opened(*self._address, self.version())
                    table.alter.add_columns(Schema.from_arrow(pl.DataFrame(schema=new).to_arrow().schema).fields)
            except StoreError:  # perhaps only the answer got lost
                if not new.keys() <= {*_names(self.open())}:
                    raise
            self._settle(self.version())

    def stale_files(self, older_than: timedelta) -> list[str]:
        """Return files of ours, relative to the table's folder, that the newest version does not name.

        Those that were removed from the table, or written and never committed, more recently are not listed; a removal
        is remembered for 30 days.
        """
        table = self.open()
        with self._clear_errors("Reading"):
            hours = math.ceil(older_than.total_seconds() / 3600)
            stale = relist(partial(table.vacuum, hours, dry_run=True, enforce_retention_duration=False, full=True))
        return [path for path in stale if _OURS.fullmatch(path)]

    def replace(self, new: Sequence[DataFile], emptied: Sequence[tuple[str | None, Shard]], metadata: Any) -> int:
        """Replace the content of shards with new files, which have been verified; return the version that holds them.

        This is one transaction. Files that the table already has are left alone, so a repeated call changes nothing and
        commits nothing. Shards whose keys are `emptied` lose their files and get none; metadata are JSON values.
        """
        keys = {file.key for file in new} | set(emptied)
        wanted = {file.path for file in new}
        for attempt in range(_ATTEMPTS):
            table = self.open()
            version = table.version()
            present = self._files(table)
            paths = {file.path for file in present}
            now = time.time_ns() // 1_000_000
            added = [
                AddAction(file.path, file.bytes, file.partition, now, True, json.dumps({"numRecords": file.rows}))  # noqa: FBT003
                for file in new
                if file.path not in paths
            ]
            removed = [
                RemoveAction(file.path, True, now, file.bytes, file.partition)  # noqa: FBT003
                for file in present
                if file.key in keys and file.path not in wanted
            ]
            if not added and not removed:
                return version
            write = partial(
                table.create_write_transaction,
                [*removed, *added],
                "append",
                table.schema(),
                partition_by=list(self.partitions),
                commit_properties=CommitProperties({_METADATA: metadata}, max_commit_retries=0),
            )
            with self._clear_errors("Committing to"), contextlib.suppress(CommitFailedError):
                relist(write)  # done, but not listed, it is refused the second time, and found at the next attempt
                self._settle(version + 1)
                return version + 1
            # S3 refuses (409) while another writes, too. Two committers must not stay in step.
            time.sleep(random.uniform(0, 0.05 * (attempt + 1)))  # noqa: S311
        raise WrittenByAnother(
            f"Table {self.name!r} in {self._shown!r} refused a commit {_ATTEMPTS} times, as it does while another "
            "process writes to it; let only one flow write to a store at a time, then run again."
        )

    def _settle(self, version: int) -> None:
        with clear_errors(f"Saving the log of table {self.name!r} in {self._shown!r}"):
            with contextlib.suppress(FileNotFoundError):  # most versions have none
                self.storage.settle(self.file(f"_delta_log/{version:020d}{_CHECKPOINT}"))
            self.storage.settle(self.file(_log(version)))

    def _entry(self, version: int | None) -> Entry | None:
        """Describe the entry of the log that made a version, or the newest one; None if it is not there."""
        if version is None:
            return self.storage.last(self.file("_delta_log"), _COMMIT.fullmatch)
        with contextlib.suppress(FileNotFoundError):
            return self.storage.stat(self.file(_log(version)))
        return None

    @property
    def _folder(self) -> str:
        return f"tables/{self.name}"

    @property
    def _address(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        return self.storage.url(self._folder), tuple((self.storage.options or {}).items())

    @property
    def _shown(self) -> str:
        return self.storage.url(self._folder)

    def _files(self, table: DeltaTable, shards: Collection[str] | None = None) -> list[DataFile]:
        with self._clear_errors("Reading"):
            frame = pl.DataFrame(table.get_add_actions(flatten=True))
        if shards is not None:
            frame = frame.filter(pl.col("partition.shard").is_in([*shards]))
        files = [
            DataFile(
                path=row["path"],
                bytes=row["size_bytes"],
                rows=row["num_records"],
                shard=Shard(row["partition.shard"]),
                fingerprint=Fingerprint(row["partition.fingerprint"]),
                stage=row.get("partition.stage"),
                committed=row["modification_time"],
            )
            for row in frame.iter_rows(named=True)
        ]
        files.sort(key=lambda file: (file.stage or "", file.shard))
        for file, following in itertools.pairwise(files):
            if file.key == following.key:
                raise StoreDamaged(
                    f"Table {self.name!r} in {self._shown!r} holds shard {file.shard!r} twice ({file.path!r} and "
                    f"{following.path!r}); another program wrote to it, so build the store again."
                )
        return files

    @contextlib.contextmanager
    def _clear_errors(self, action: str, version: int | None = None) -> Iterator[None]:
        what = f"{action} table {self.name!r} in {self._shown!r}" + ("" if version is None else f" at {version=}")
        try:
            yield
        except TableNotFoundError as error:
            raise StoreDamaged(
                f"{what} failed: there is no table; it was deleted or moved, so restore it or build a new store."
            ) from error
        except DeltaError as error:
            reason = explain(error, "restore the table, or build a new store")
            raise StoreUnreachable(f"{what} failed: {reason}.") from error
        except OSError as error:  # no table can be restored against a network or expired credentials
            raise StoreUnreachable(f"{what} failed: {explain(error)}.") from error


@lru_cache(maxsize=_TABLES_KEPT)
def _kept(url: str, options: tuple[tuple[str, str], ...], entry: Entry) -> DeltaTable:
    """Open the version that an entry of the log made; a table that was deleted and made again has other entries."""
    return _opened(url, options, _version(entry))


def _opened(url: str, options: tuple[tuple[str, str], ...], version: int | None) -> DeltaTable:
    return relist(lambda: DeltaTable(url, version=version, storage_options=dict(options)))


def _version(entry: Entry) -> int:
    return int(entry.name.rpartition("/")[2].removesuffix(".json"))


def _log(version: int) -> str:
    return f"_delta_log/{version:020d}.json"


def _replay(entry: bytes, files: dict[str, DataFile]) -> None:
    """Apply an entry of the log, a JSON object a line, to the files of the version before it."""
    for line in entry.splitlines():
        action = json.loads(line)
        if "remove" in action:
            files.pop(action["remove"]["path"], None)
        if add := action.get("add"):
            values = add["partitionValues"]
            files[add["path"]] = DataFile(
                path=add["path"],
                bytes=add["size"],
                rows=json.loads(add["stats"])["numRecords"],
                shard=Shard(values["shard"]),
                fingerprint=Fingerprint(values["fingerprint"]),
                stage=values.get("stage"),
                committed=add["modificationTime"],
            )


def _names(table: DeltaTable) -> list[str]:
    return [field.name for field in table.schema().fields]
