"""Read access to a store; nothing here writes.

    plan, publishing, verifying ──> StoreReader <── Store          (writes and commits as well)
                                               <── StoreAhead      (shards in memory that will be ingested)

So the plan and the rules of publishing depend only on how a store is read, not on who writes to it.
"""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from features.core.faults import UnknownTable
from features.core.types import Fingerprint, Shard
from features.store import layout, reading
from features.store.damage import Damage, damaged_files, refuse_damaged
from features.store.delta import DataFile, Table
from features.store.provenance import Committed, Provenance, trace
from features.store.storage import Storage
from features.store.tables import TABLES


class StoreReader:
    """The tables of a feature store, at any of their versions; small and picklable.

    Args:
        storage: its objects.
        table_ids: table → id that it was made with; missing tables read as empty.
        project: name of the project that owns the store; None if the store does not record it.
    """

    def __init__(self, storage: Storage, table_ids: Mapping[str, str], project: str | None = None) -> None:
        self.storage = storage
        self.project = project
        self._ids = dict(table_ids)

    @property
    def location(self) -> str:
        """The folder or URL of the store."""
        return self.storage.location

    @property
    def id(self) -> str:
        """The id of this store, unchanged when its folder is moved; empty for one that is not there yet."""
        return self._ids.get("sentences", "")

    def read(
        self,
        table: str,
        version: int | None = None,
        shards: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        with_shard: bool = False,
        where: pl.Expr | None = None,
    ) -> pl.DataFrame:
        """Read rows, by shard and within a shard in the order they were written.

        Args:
            table: name of the table.
            version: version of the table; the newest by default.
            shards: only these shards; every one must be committed.
            columns: only these columns; all of the schema by default, and `stage` for `rejects`.
            with_shard: whether to add a last column `shard`, the shard of each row.
            where: only the rows for which this is true, an expression of the columns read; all by default.

        Raises:
            StoreError: when a table, version, shard or column is missing, or a file is missing or damaged.
        """
        frame = self.scan(table, version, shards, columns, with_shard=with_shard)
        with reading.decoding(table, self.location):
            return (frame if where is None else frame.filter(where)).collect()

    def scan(
        self,
        table: str,
        version: int | None = None,
        shards: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        with_shard: bool = False,
    ) -> pl.LazyFrame:
        """Return the rows of `read` as a lazy frame, for tables larger than memory.

        The frame stays at the version found now. A file with damaged content raises an error of polars when the frame
        is collected; one that is missing or truncated raises an error here.

        Raises:
            StoreError: when a table, version, shard or column is missing, or a file is missing or has another size.
        """
        exists = table in self._ids
        return reading.scan(self._table(table), version, shards, columns, with_shard=with_shard, exists=exists)

    def committed(self, table: str, version: int | None = None) -> dict[Shard, Committed]:
        """Return what is committed of every shard of a table, from the log alone; not for `rejects`."""
        if table == "rejects":
            raise UnknownTable("A shard may have rejects of several stages: ask rejected() instead of 'rejects'.")
        handle = self._table(table)
        if table not in self._ids:
            return {}  # not made yet: the next build makes it
        return {file.shard: Committed(file.fingerprint, file.rows, file.bytes) for file in handle.files(version)}

    def files(self, table: str, version: int | None = None) -> dict[Shard, DataFile]:
        """Return the file of every shard of a table, from the log alone; equal names hold equal rows.

        Not for `rejects`, where a shard may have several.
        """
        if table == "rejects":
            raise UnknownTable("A shard may have rejects of several stages: ask rejected() instead of 'rejects'.")
        return {file.shard: file for file in self._table(table).files(version)} if table in self._ids else {}

    def rejected(self, version: int | None = None) -> dict[tuple[str, Shard], Committed]:
        """Return the committed rejects of every stage and shard that has any, from the log alone."""
        if "rejects" not in self._ids:
            return {}
        files = self._table("rejects").files(version)
        return {(file.stage or "", file.shard): Committed(file.fingerprint, file.rows, file.bytes) for file in files}

    def versions(self) -> dict[str, int]:
        """Return the newest version of every table."""
        return {name: self._table(name).version() for name in TABLES if name in self._ids}

    def provenance(self, table: str, *, first: bool = False) -> dict[tuple[Shard, Fingerprint], Provenance]:
        """Return where every shard that was ever committed to a table comes from; reads the whole log.

        Args:
            table: name of the table.
            first: return the first commit of the shard in its present form, instead of the last.
        """
        handle = self._table(table)
        return trace(handle, first=first) if table in self._ids else {}

    def damaged(self, versions: Mapping[str, int] | None = None, *, deep: bool = False) -> list[Damage]:
        """Return committed files that are missing, or differ from what was written.

        Args:
            versions: table → version to check; the newest of every table by default.
            deep: read every byte; otherwise read only files whose modification time is later than their commit.

        Raises:
            StoreError: when the log of a table cannot be read.
        """
        at: Mapping[str, int | None] = dict.fromkeys(TABLES) if versions is None else versions
        return [
            damage
            for name, version in at.items()
            if name in self._ids
            for damage in damaged_files(self._table(name), self._table(name).files(version), deep=deep)
        ]

    def is_whole(self, stage: str, shard: Shard) -> bool:
        """Return whether the committed rows and rejects of one shard are byte for byte what was written."""
        tables = [self._table(stage), self._table("rejects")]
        files = [[file for file in table.files() if file.key in {(None, shard), (stage, shard)}] for table in tables]
        return not any(damaged_files(table, of, deep=True) for table, of in zip(tables, files, strict=True))

    def verify_files(self, versions: Mapping[str, int] | None = None) -> None:
        """Refuse a store with damaged files, reading every byte; for readers that must not train on wrong rows.

        Args:
            versions: table → version to check, as in a release; the newest of every table by default.

        Raises:
            StoreError: when a file is missing or not what was written; names the first.
        """
        refuse_damaged(self.location, self.damaged(versions, deep=True))

    def _table(self, name: str) -> Table:
        if name not in TABLES:
            raise UnknownTable(f"There is no table {name!r}; there are {', '.join(TABLES)}.")
        return layout.table_of(self.storage, name, self._ids.get(name))
