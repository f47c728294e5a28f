"""Read access to a store; nothing here writes.

    plan, publishing, differences ─> StoreReader <── Store          (writes and commits as well)
                                               <── StoreAhead      (shards in memory that will be ingested)

So the plan and the rules of publishing depend only on how a store is read, not on who writes to it.
"""

import errno
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from features.core.faults import TableFileDamaged, UnknownShard, UnknownTable
from features.core.file_errors import clear_errors, first_line, system_number
from features.core.types import Fingerprint, Shard
from features.schemas import Columns
from features.stages.registry import SOURCES, TABLES
from features.stages.stage import Recipe
from features.store import layout
from features.store.damage import Damage, damaged_files, refuse_damaged
from features.store.delta import Table
from features.store.fingerprints import identity_of
from features.store.receipts import DataFile
from features.store.scope import ShardKey, Uses
from features.store.storage import Storage

_FILE = "__file"


@contextmanager
def decoding(table: str, store: str) -> Iterator[None]:
    """Turn errors that polars raises while decoding files of a table into a `StoreError`; `store` is its location."""
    with clear_errors(f"Reading table {table!r} in {store!r}"):
        try:
            yield
        # polars panics on some damaged files, and a panic is not an Exception.
        except (pl.exceptions.PolarsError, FileNotFoundError, pl.exceptions.PanicException) as error:
            if (number := system_number(error)) in {errno.ENOMEM, errno.EMFILE}:  # says nothing of the file
                raise OSError(number, str(error)) from error
            raise TableFileDamaged(
                f"A file of table {table!r} in {store!r} is damaged: {first_line(error).rstrip('.')}; "
                "`facetflow build --deep` makes it again."
            ) from error


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a committed shard comes from: the version of its table in which it appeared, the run, the recipe.

    `versions` are those of all tables just before that commit, which determine what the shard was made from.
    """

    version: int
    run_id: str
    recipe: Recipe | None
    versions: Mapping[str, int]


class StoreReader:
    """The tables of a feature store, at any of their versions; small and picklable.

    `table_ids` are the ids that the tables were made with; missing tables read as empty. A store may record the project
    that owns it.
    """

    def __init__(self, storage: Storage, table_ids: Mapping[str, str], project: str | None = None) -> None:
        self.storage = storage
        self.project = project
        self._ids = dict(table_ids)
        self._uses: tuple[Mapping[str, Mapping[Shard, DataFile]], Uses] | None = None

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
        """
        frame = self.scan(table, version, shards, columns, with_shard=with_shard)
        with decoding(table, self.location):
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
        """
        handle, exists = self._table(table), table in self._ids
        schema = dict(handle.columns_at(version) if exists else handle.columns)
        if "stage" in handle.partitions:
            schema["stage"] = pl.String
        wanted = list(columns) if columns is not None else list(schema)
        if unknown := [name for name in wanted if name not in schema]:
            raise UnknownTable(f"Table {table!r} has no column {unknown[0]!r}; it has {', '.join(schema)}.")
        frame = self._rows(handle, version, shards, schema | {"shard": pl.String})
        return frame.select([*wanted, "shard"] if with_shard else wanted)

    def _rows(self, table: Table, version: int | None, shards: Collection[str] | None, schema: Columns) -> pl.LazyFrame:
        """Return the rows of some shards, which must be committed, or of all, with at least these columns."""
        if table.name not in self._ids:
            return _rows_of(table, [], schema)
        files = table.files(version, shards)
        # A shard without rejects has no file in that table.
        if "stage" not in table.partitions and (missing := set(shards or ()) - {file.shard for file in files}):
            raise UnknownShard(f"Shard {min(missing)!r} is not committed to table {table.name!r} of {self.location!r}.")
        return _rows_of(table, files, schema)

    def committed(self, table: str, version: int | None = None) -> dict[Shard, DataFile]:
        """Return the file of every shard of a table, from the log alone; equal names hold equal rows.

        Not for `rejects`, where a shard may have several.
        """
        if table == "rejects":
            raise UnknownTable("A shard may have rejects of several stages: ask rejected() instead of 'rejects'.")
        handle = self._table(table)
        return {file.shard: file for file in handle.files(version)} if table in self._ids else {}

    def rejected(self, version: int | None = None) -> dict[ShardKey, DataFile]:
        """Return the committed rejects of every stage and shard that has any, from the log alone."""
        files = self._table("rejects").files(version) if "rejects" in self._ids else ()
        return {(file.stage or "", file.shard): file for file in files}

    def reject_codes(self, counted: Iterable[ShardKey], version: int | None = None) -> dict[tuple[str, str], int]:
        """Return the rejected rows of some shards by stage and code, those with most first."""
        with decoding("rejects", self.location):
            rows = (
                self.scan("rejects", version, columns=["stage", "code"], with_shard=True)
                .filter(pl.concat_str("stage", pl.lit("/"), "shard").is_in(["/".join(key) for key in counted]))
                .group_by("stage", "code")
                .len("rows")
                .sort("rows", "code", descending=[True, False])
                .collect()
            )
        return {(stage, code): count for stage, code, count in rows.iter_rows()}

    def versions(self) -> dict[str, int]:
        """Return the newest version of every table."""
        tables = self._tables()
        newest = self.storage.map(Table.version, tables)
        return {table.name: version for table, version in zip(tables, newest, strict=True)}

    def provenance(self, table: str, *, first: bool = False) -> dict[tuple[Shard, Fingerprint], Provenance]:
        """Return where every shard that was ever committed to a table comes from; reads the whole log.

        That is its last commit, or with `first` the first one of the shard in its present form.
        """
        handle = self._table(table)
        commits = handle.history() if table in self._ids else []
        origins: dict[tuple[Shard, Fingerprint], Provenance] = {}
        for version, metadata in reversed(commits) if first else commits:
            for shard, fingerprint in metadata.get("shards", {}).items():
                recipe = metadata.get("recipes", {}).get(identity_of(fingerprint))
                origin = Provenance(
                    version=version,
                    run_id=metadata.get("run_id", ""),
                    recipe=Recipe.from_dict(recipe) if recipe else None,
                    versions=metadata.get("versions", {}),
                )
                origins.setdefault((Shard(shard), Fingerprint(fingerprint)), origin)
        return origins

    def marks(self, table: str) -> dict[Shard, list[tuple[int, Fingerprint | None]]]:
        """Return the versions of a table that changed a shard, newest first, with its fingerprint, None without one."""
        marks: dict[Shard, list[tuple[int, Fingerprint | None]]] = {}
        for version, metadata in self._table(table).history() if table in self._ids else ():
            withdrawn = dict.fromkeys(metadata.get("withdrawn", {}).get(table, ()))
            for shard, mark in {**withdrawn, **metadata.get("shards", {})}.items():
                marks.setdefault(Shard(shard), []).append((version, mark))
        return marks

    def uses(self, versions: Mapping[str, int] | None = None) -> Uses:
        """Return which corpora use which shard at versions of the tables, or the newest; reads five columns, once."""
        at = versions or {}
        files = {name: self.committed(name, at.get(name)) for name in SOURCES}
        if self._uses and self._uses[0] == files:
            return self._uses[1]
        pairs = self.scan("pairs", at.get("pairs"), columns=("corpus", "shard_a", "shard_b"), with_shard=True)
        # Each side by itself: both together are nearly as many as there are pairs.
        sides = [pairs.select("shard", "corpus", source=side).unique() for side in ("shard_a", "shard_b")]
        with decoding("pairs", self.location):
            of_pairs = pl.concat(sides).unique().collect()
        labels = self.scan("labels", at.get("labels"), columns=("corpus", "sentence_shard"))
        with decoding("labels", self.location):
            of_labels = labels.unique().collect()
        of_sentences = [of_pairs.select("corpus", shard="source"), of_labels.select("corpus", shard="sentence_shard")]
        sources = of_pairs.group_by("shard").agg(pl.col("source").unique().sort())
        uses = Uses(
            dict.fromkeys(files["sentences"], frozenset()) | _corpora_of(pl.concat(of_sentences)),
            dict.fromkeys(files["pairs"], frozenset()) | _corpora_of(of_pairs),
            {shard: tuple(shards) for shard, shards in sources.iter_rows()},
        )
        self._uses = (files, uses)
        return uses

    def damaged(self, versions: Mapping[str, int] | None = None, *, deep: bool = False) -> list[Damage]:
        """Return committed files, at the newest versions by default, that are missing or not what was written.

        Every byte is read if `deep`; otherwise only files whose modification time is later than their commit.
        """
        at: Mapping[str, int | None] = dict.fromkeys(TABLES) if versions is None else versions
        tables = [table for table in self._tables() if table.name in at]
        files = self.storage.map(lambda table: table.files(at[table.name]), tables)
        of_tables = zip(tables, files, strict=True)
        return [damage for table, listed in of_tables for damage in damaged_files(table, listed, deep=deep)]

    def is_whole(self, stage: str, shard: Shard) -> bool:
        """Return whether the committed rows and rejects of one shard are byte for byte what was written."""
        tables = [self._table(stage), self._table("rejects")]
        files = [[file for file in table.files(None, [shard]) if file.stage in {None, stage}] for table in tables]
        return not any(damaged_files(table, of_shard, deep=True) for table, of_shard in zip(tables, files, strict=True))

    def verify_files(self, versions: Mapping[str, int] | None = None) -> None:
        """Raise a StoreError if one of the `damaged` files is, reading every byte: nobody may train on wrong rows."""
        refuse_damaged(self.location, self.damaged(versions, deep=True))

    def _table(self, name: str) -> Table:
        if name not in TABLES:
            raise UnknownTable(f"There is no table {name!r}; there are {', '.join(TABLES)}.")
        return layout.table_of(self.storage, name, self._ids.get(name))

    def _tables(self) -> list[Table]:
        """Return the tables that exist."""
        return [self._table(name) for name in TABLES if name in self._ids]


def _corpora_of(rows: pl.DataFrame) -> dict[Shard, frozenset[str]]:
    return {shard: frozenset(corpora) for shard, corpora in rows.group_by("shard").agg("corpus").iter_rows()}


def _rows_of(table: Table, listed: Sequence[DataFile], schema: Columns) -> pl.LazyFrame:
    """Return the rows of files of a table, with their partitions; a column gained after a file is null there."""
    _check_sizes(table, listed)
    files = {table.storage.url(table.file(file.path)): file for file in listed}
    if not files:
        return pl.LazyFrame(schema=schema)
    written = {name: dtype for name, dtype in schema.items() if name not in {"shard", "stage"}}
    columns: dict[str, Any] = {"schema": written, "missing_columns": "insert", "extra_columns": "ignore"}
    # Take the partition of a file from the log, not from its path: a folder above the store may look like one.
    columns["storage_options"] = dict(table.storage.options) if table.storage.options else None
    frame = pl.scan_parquet(list(files), glob=False, hive_partitioning=False, include_file_paths=_FILE, **columns)
    partitions: dict[str, dict[str, str]] = {"shard": {path: file.shard for path, file in files.items()}}
    if "stage" in schema:
        partitions["stage"] = {path: file.stage or "" for path, file in files.items()}
    return frame.with_columns(
        pl.col(_FILE).replace_strict(values, return_dtype=pl.String).alias(name) for name, values in partitions.items()
    )


def _check_sizes(table: Table, files: Sequence[DataFile]) -> None:
    # A truncated file makes polars panic in a thread of its own, with a traceback on the terminal.
    for damage in damaged_files(table, files, deep=None):
        raise TableFileDamaged(
            f"The file {table.storage.url(damage.file)!r} of table {table.name!r} {damage.detail}; `facetflow build` "
            "makes it again."
        )


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
        self._made = rows
        self._unreadable = set(unreadable)
        self._fingerprints = fingerprints or {}

    def committed(self, table: str, version: int | None = None) -> dict[Shard, DataFile]:
        """Return what is or will be committed of every shard that is readable or in memory."""
        stored = self._store.committed(table, version)
        if version is not None or table not in SOURCES:
            return stored
        made = self._made.get(table, {})
        unreadable = {shard for shard in stored if (table, shard) in self._unreadable} - made.keys()
        new = {
            shard: DataFile("", 0, rows.height, shard, self._fingerprints[table, shard], None)
            for shard, rows in made.items()
            if shard not in stored
        }
        return {shard: file for shard, file in stored.items() if shard not in unreadable} | new

    def _rows(self, table: Table, version: int | None, shards: Collection[str] | None, schema: Columns) -> pl.LazyFrame:
        if version is not None or table.name not in SOURCES:
            return self._store._rows(table, version, shards, schema)
        made = self._made.get(table.name, {})
        wanted = self.committed(table.name).keys() if shards is None else set(shards)
        frames = [self._store._rows(table, None, wanted - made.keys(), schema)]
        frames += [
            rows.lazy().with_columns(shard=pl.lit(shard)) for shard, rows in sorted(made.items()) if shard in wanted
        ]
        return pl.concat(frame.select(list(schema)) for frame in frames)
