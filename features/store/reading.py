"""What a reader sees of a table: the files that the log names at a version, in the order of their shards."""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import polars as pl

from features.core.faults import TableFileDamaged, UnknownShard
from features.core.file_errors import explain
from features.schemas import Columns
from features.store.delta import DataFile, Table

_FILE = "__file"


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


def rows_of(table: Table, listed: Iterable[DataFile], schema: Columns) -> pl.LazyFrame:
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


def select_files(table: Table, version: int | None, shards: Collection[str] | None) -> list[DataFile]:
    """Return the files of some shards of a table, which must be committed, or of all when None."""
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
