"""What a reader sees of a table: the files that the log names at a version, in the order of their shards."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from features.core.errors import StoreError
from features.core.file_errors import explain
from features.core.types import Shard
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
    """Return rows of a table as a lazy frame; `Store.scan` documents the parameters.

    A table that does not exist yet has its columns and no rows.
    """
    schema = dict(table.columns_at(version) if exists else table.columns)
    if "stage" in table.partitions:
        schema["stage"] = pl.String
    wanted = list(columns) if columns is not None else list(schema)
    if unknown := [name for name in wanted if name not in schema]:
        raise StoreError(f"Table {table.name!r} has no column {unknown[0]!r}; it has {', '.join(schema)}.")
    listed = _select(table, version, shards) if exists else []
    files = {str(table.path / file.path): file for file in listed}
    _check_sizes(table, files)
    frame = _lazy(files, schema | {"shard": pl.String})
    return frame.select([*wanted, "shard"] if with_shard else wanted)


@contextlib.contextmanager
def clear_errors(table: str, root: Path) -> Iterator[None]:
    """Turn errors that polars raises while decoding files of a table into a `StoreError`.

    Args:
        table: name of the table.
        root: folder of the store, for the message.
    """
    try:
        yield
    # polars panics on some damaged files, and a panic is not an Exception.
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise StoreError(
            f"A file of table {table!r} in {str(root)!r} is damaged: {reason}; `facetflow build --deep` makes it again."
        ) from error


def _lazy(files: Mapping[str, DataFile], schema: Columns) -> pl.LazyFrame:
    """Return the rows of some files, by path; columns of the schema that the table gained after a file are null there.

    Args:
        files: by path.
        schema: of the rows, partitions included.
    """
    if not files:
        return pl.LazyFrame(schema=schema)
    written = {name: dtype for name, dtype in schema.items() if name not in {"shard", "stage"}}
    columns: dict[str, Any] = {"schema": written, "missing_columns": "insert", "extra_columns": "ignore"}
    # Take the partition of a file from the log, not from its path: a folder above the store may look like one.
    frame = pl.scan_parquet(list(files), glob=False, hive_partitioning=False, include_file_paths=_FILE, **columns)
    partitions = {"shard": {path: file.shard for path, file in files.items()}}
    if "stage" in schema:
        partitions["stage"] = {path: Shard(file.stage or "") for path, file in files.items()}
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
        raise StoreError(f"Shard {min(missing)!r} is not committed to table {table.name!r} in {str(table.path)!r}.")
    return [file for file in files if file.shard in wanted]


def _check_sizes(table: Table, files: Mapping[str, DataFile]) -> None:
    # A truncated file makes polars panic in a thread of its own, with a traceback on the terminal.
    for path, file in files.items():
        try:
            size = Path(path).stat().st_size
        except OSError as error:
            raise StoreError(
                f"The file {path!r} of table {table.name!r} cannot be read: {explain(error)}; `facetflow "
                "build` makes it again if it is lost."
            ) from error
        if size != file.bytes:
            raise StoreError(
                f"The file {path!r} of table {table.name!r} has {size} bytes instead of {file.bytes}; `facetflow "
                "build` makes it again."
            )
