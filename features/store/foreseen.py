"""The store as it will be once some shards have been ingested: a plan reads it, and nothing is written."""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from features.core.types import Fingerprint, Shard
from features.store.reader import Committed, StoreReader
from features.store.tables import SOURCES


class StoreAhead(StoreReader):
    """A store with additional shards of `sentences` and `pairs` that are only in memory.

    `unreadable` are committed rows that cannot be read, `fingerprints` what each shard is or will be committed under.
    """

    def __init__(
        self,
        store: StoreReader,
        rows: Mapping[str, Mapping[Shard, pl.DataFrame]],
        unreadable: Collection[tuple[str, Shard]] = (),
        fingerprints: Mapping[tuple[str, Shard], Fingerprint] | None = None,
    ) -> None:
        super().__init__(store.storage, store._ids)
        self._store = store
        self._rows = rows
        self._unreadable = set(unreadable)
        self._fingerprints = fingerprints or {}

    def committed(self, table: str, version: int | None = None) -> dict[Shard, Committed]:
        """Return what is or will be committed of every shard that is readable or in memory."""
        stored = self._store.committed(table, version)
        if version is not None or table not in SOURCES:
            return stored
        made = self._rows.get(table, {})
        unreadable = {shard for shard in stored if (table, shard) in self._unreadable} - made.keys()
        new = {
            shard: Committed(self._fingerprints[table, shard], rows.height, 0)
            for shard, rows in made.items()
            if shard not in stored
        }
        return {shard: committed for shard, committed in stored.items() if shard not in unreadable} | new

    def scan(
        self,
        table: str,
        version: int | None = None,
        shards: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        with_shard: bool = False,
    ) -> pl.LazyFrame:
        """Return the readable rows and those in memory; as `StoreReader.scan`."""
        if version is not None or table not in SOURCES:
            return self._store.scan(table, version, shards, columns, with_shard=with_shard)
        made = self._rows.get(table, {})
        wanted = self.committed(table).keys() if shards is None else set(shards)
        stored = self._store.scan(table, None, wanted - made.keys(), columns, with_shard=with_shard)
        further = [
            rows.lazy().select(list(columns or rows.columns)).with_columns(pl.lit(shard).alias("shard"))
            for shard, rows in sorted(made.items())
            if shard in wanted
        ]
        return pl.concat([stored, *(frame if with_shard else frame.drop("shard") for frame in further)])
