"""What a reader sees of a table: the files that the log names at a version, in the order of their shards."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from features.core.faults import TableFileDamaged, UnknownShard, UnknownTable
from features.core.file_errors import explain
from features.schemas import Columns
from features.store.delta import DataFile, Table

_FILE = "__file"


def scan(
    table: Table,
    version: int | None,
    shards: Collection[str] | None,
    columns: Sequence[str] | None,
    *,
    with_shard: bool,
    exists: bool = True,
) -> pl.LazyFrame:
    """Return rows of a table as a lazy frame, as `StoreReader.scan`; a table that does not exist yet has no rows."""
    schema = dict(table.columns_at(version) if exists else table.columns)
    if "stage" in table.partitions:
        schema["stage"] = pl.String
    wanted = list(columns) if columns is not None else list(schema)
    if unknown := [name for name in wanted if name not in schema]:
        raise UnknownTable(f"Table {table.name!r} has no column {unknown[0]!r}; it has {', '.join(schema)}.")
    listed = _select(table, version, shards) if exists else []
    _check_sizes(table, listed)
    files = {table.storage.url(table.file(file.path)): file for file in listed}
    frame = _lazy(files, schema | {"shard": pl.String}, table.storage.options)
    return frame.select([*wanted, "shard"] if with_shard else wanted)


@contextlib.contextmanager
def decoding(table: str, store: str) -> Iterator[None]:
    """Turn errors that polars raises while decoding files of a table into a `StoreError`; `store` is its location."""
    try:
        yield
    # polars panics on some damaged files, and a panic is not an Exception.
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise TableFileDamaged(
            f"A file of table {table!r} in {store!r} is damaged: {reason}; `facetflow build --deep` makes it again."
        ) from error


def _lazy(files: Mapping[str, DataFile], schema: Columns, options: Mapping[str, str] | None) -> pl.LazyFrame:
    """Return the rows of files, by path, with partitions; columns that the table gained after a file are null there."""
    if not files:
        return pl.LazyFrame(schema=schema)
    written = {name: dtype for name, dtype in schema.items() if name not in {"shard", "stage"}}
    columns: dict[str, Any] = {"schema": written, "missing_columns": "insert", "extra_columns": "ignore"}
    # Take the partition of a file from the log, not from its path: a folder above the store may look like one.
    columns["storage_options"] = dict(options) if options else None
    frame = pl.scan_parquet(list(files), glob=False, hive_partitioning=False, include_file_paths=_FILE, **columns)
    partitions: dict[str, dict[str, str]] = {"shard": {path: file.shard for path, file in files.items()}}
    if "stage" in schema:
        partitions["stage"] = {path: file.stage or "" for path, file in files.items()}
    return frame.with_columns(
        pl.col(_FILE).replace_strict(values, return_dtype=pl.String).alias(name) for name, values in partitions.items()
    )


def _select(table: Table, version: int | None, shards: Collection[str] | None) -> list[DataFile]:
    files = table.files(version)
    if shards is None:
        return files
    wanted = set(shards)
    # A shard without rejects has no file in that table.
    missing = set() if "stage" in table.partitions else wanted - {file.shard for file in files}
    if missing:
        store = table.storage.location
        raise UnknownShard(f"Shard {min(missing)!r} is not committed to table {table.name!r} of {store!r}.")
    return [file for file in files if file.shard in wanted]


def _check_sizes(table: Table, files: Iterable[DataFile]) -> None:
    # A truncated file makes polars panic in a thread of its own, with a traceback on the terminal.
    for file in files:
        name = table.file(file.path)
        shown = f"The file {table.storage.url(name)!r} of table {table.name!r}"
        try:
            size = table.storage.stat(name).bytes
        except OSError as error:
            raise TableFileDamaged(
                f"{shown} cannot be read: {explain(error)}; `facetflow build` makes it again if it is lost."
            ) from error
        if size != file.bytes:
            raise TableFileDamaged(
                f"{shown} has {size} bytes instead of {file.bytes}; `facetflow build` makes it again."
            )
