"""What a table requires of rows before they are written, and of what was written before it is committed."""

import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import polars as pl

from features.core.faults import CommitRefused, RowsWrong
from features.core.file_errors import clear_errors
from features.core.types import Fingerprint, Shard
from features.schemas import Columns, StageOutput
from features.stages.stage import Recipe
from features.store.damage import damaged_files
from features.store.delta import OWN_COLUMN, Table
from features.store.fingerprints import identity, identity_of
from features.store.receipts import DataFile, Receipt

_COLUMN = re.compile(r"[a-z][a-z0-9_]*")
_NAME_DIGITS = 20  # of SHA-256, in a file name


def write_rows(table: Table, rows: pl.DataFrame, shard: str, fingerprint: str, stage: str | None = None) -> DataFile:
    """Write rows as a file of a table that is not yet part of it; `stage` is the one that rejected them, if any."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    content = buffer.getvalue()
    file = DataFile("", len(content), rows.height, Shard(shard), Fingerprint(fingerprint), stage)
    folder = "/".join(f"{name}={value}" for name, value in file.partition.items())
    # Named by content: a shard written again after a crash is the same file, not another one.
    path = f"{folder}/{hashlib.sha256(content).hexdigest()[:_NAME_DIGITS]}.parquet"
    with clear_errors(f"Writing {path!r} to table {table.name!r} of {table.storage.location!r}"):
        table.storage.put(table.file(path), content)
    return replace(file, path=path)


def check_columns(frame: pl.DataFrame, columns: Columns, where: str) -> None:
    """Refuse a frame whose columns are not those of the schema, by name, type or order; `where` is for the message."""
    both = zip_longest(frame.schema.items(), pl.Schema(columns).items(), fillvalue=("nothing", ""))
    for (name, dtype), (expected, of_type) in both:
        if (name, dtype) != (expected, of_type):
            shown, wanted = f"{name} {dtype}".strip(), f"{expected} {of_type}".strip()
            raise RowsWrong(f"The columns of {where} have {shown} where {wanted} has to be.")


def further_columns(table: Table, names: Iterable[str]) -> Columns:
    """Return the columns among `names` that a project adds to those of a table; none if it may add none."""
    if not table.extensible:
        return {}
    return {name: OWN_COLUMN for name in names if name not in table.columns and _COLUMN.fullmatch(name)}


def check_rows(output: StageOutput, key: str, expected: int | None, where: str) -> None:
    """Refuse rows without an id in the column `key`, with a duplicate id, or that were also rejected, and lost ones.

    Each of the `expected` rows comes out once, as a row or as a reject; None for a stage that makes others.
    """
    ids = output.rows[key]
    if ids.null_count():
        raise RowsWrong(f"A row of {where} has no {key!r}; every row needs one.")
    if ids.n_unique() != ids.len():
        twice = ids.filter(ids.is_duplicated()).item(0)
        raise RowsWrong(f"{key} {twice!r} is in {where} twice; every entity has one row.")
    if key != "label" and (both := ids.filter(ids.is_in(output.rejects["entity_id"].implode()))).len():
        raise RowsWrong(f"{key} {both.item(0)!r} is both a row and a reject of {where}; it has to be one of them.")
    rows, rejects = output.rows.height, output.rejects.height
    if expected is not None and rows + rejects != expected:
        raise RowsWrong(
            f"{expected} rows went into {where}, but {rows} rows and {rejects} rejects came out; every row has to come "
            "out once, so this is a defect of the stage."
        )


def described(made: Sequence[Receipt], recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """Return what a commit records about its shards: fingerprints, and the recipes by their identity."""
    used = {receipt.stage: recipes[receipt.stage] for receipt in made}
    return {
        "shards": {receipt.shard: receipt.fingerprint for receipt in made},
        "recipes": {identity(recipe): recipe.as_dict() for recipe in used.values()},
    }


def check_recipe(receipt: Receipt, recipe: Recipe) -> None:
    """Refuse a receipt whose fingerprint is not of the recipe."""
    if identity(recipe) != identity_of(receipt.fingerprint):
        raise CommitRefused(
            f"The fingerprint {receipt.fingerprint!r} of shard {receipt.shard!r} of stage {receipt.stage!r} is not "
            f"that of the recipe, {identity(recipe)!r}; plan again with the settings in use."
        )


def check_files(table: Table, written: Sequence[DataFile]) -> None:
    """Refuse written files of which one is not what its receipt says."""
    for damage in damaged_files(table, written, deep=True):
        raise CommitRefused(
            f"The file {table.storage.url(table.file(damage.path))!r} of shard {damage.shard!r} of stage "
            f"{damage.stage!r} {damage.detail}; run the shard again."
        )
