"""What a worker writes: files of rows and rejects that are in no table yet, after what a table requires was checked."""

import hashlib
import io
import re
from collections.abc import Iterable

import polars as pl

from features.core.faults import NameNotAllowed, RowsLost, RowsWrong
from features.core.file_errors import clear_errors
from features.schemas import Columns
from features.stage_output import StageOutput
from features.store.delta import OWN_COLUMN, Table
from features.store.receipts import WrittenFile

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_COLUMN = re.compile(r"[a-z][a-z0-9_]*")
_NAME_DIGITS = 20  # of SHA-256, in a file name


def write_rows(table: Table, rows: pl.DataFrame, **partition: str) -> WrittenFile:
    """Write rows to the folder of a table, given the value of each partition column, in their order."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    # Named by content: a shard written again after a crash is the same file, not another one.
    folder = "/".join(f"{name}={value}" for name, value in partition.items())
    path = f"{folder}/{digest[:_NAME_DIGITS]}.parquet"
    with clear_errors(f"Writing {path!r} to table {table.name!r} of {table.storage.location!r}"):
        table.storage.put(table.file(path), content)
    return WrittenFile(path, rows.height, len(content), digest)


def check_names(*names: str) -> None:
    """Refuse names of stages, shards and fingerprints that cannot be used unchanged as folder names."""
    for name in names:
        if not _NAME.fullmatch(name):
            raise NameNotAllowed(f"{name!r} cannot be used as a name in a table; use letters, digits, '-' and '_'.")


def check_columns(frame: pl.DataFrame, columns: Columns, where: str) -> None:
    """Refuse a frame whose columns are not those of the schema, by name, type or order; `where` is for the message."""
    schema = frame.schema
    missing = [name for name in columns if name not in schema]
    unknown = [name for name in schema if name not in columns]
    if missing or unknown:
        wrong = [f"no column {name!r}" for name in missing] + [f"an unknown column {name!r}" for name in unknown]
        raise RowsWrong(f"The rows of {where} have {', '.join(wrong)}; the columns are {', '.join(columns)}.")
    for name, dtype in columns.items():
        if schema[name] != dtype:
            raise RowsWrong(f"Column {name!r} of {where} is {schema[name]}; it has to be {dtype}.")
    if list(schema) != list(columns):
        raise RowsWrong(f"The columns of {where} stand in the order {', '.join(schema)}; use {', '.join(columns)}.")


def further_columns(table: Table, names: Iterable[str]) -> Columns:
    """Return the columns among `names` that a project adds to those of a table; none if it may add none."""
    if not table.extensible:
        return {}
    return {name: OWN_COLUMN for name in names if name not in table.columns and _COLUMN.fullmatch(name)}


def check_ids(output: StageOutput, key: str, where: str) -> None:
    """Refuse rows without an id in the column `key`, with a duplicate id, or that were also rejected."""
    ids = output.rows[key]
    if ids.null_count():
        raise RowsWrong(f"A row of {where} has no {key!r}; every row needs one.")
    if ids.n_unique() != ids.len():
        twice = ids.filter(ids.is_duplicated()).item(0)
        raise RowsWrong(f"{key} {twice!r} is in {where} twice; every entity has one row.")
    if key != "label" and (both := ids.filter(ids.is_in(output.rejects["entity_id"].implode()))).len():
        raise RowsWrong(f"{key} {both.item(0)!r} is both a row and a reject of {where}; it has to be one of them.")


def check_conservation(rows: int, rejects: int, expected: int | None, where: str) -> None:
    """Refuse a shard that lost or duplicated rows: each of the `expected` comes out as a row or as a reject."""
    if expected is not None and rows + rejects != expected:
        raise RowsLost(
            f"{expected} rows went into {where}, but {rows} rows and {rejects} rejects came out; every row has to come "
            "out once, so this is a defect of the stage."
        )
