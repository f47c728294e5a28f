"""From rows to tables: what a worker writes, and what the flow commits of it.

worker    check what a table requires ──> files of rows and rejects that are in no table yet ──> receipt
flow      receipts ──> verify every file ──> replace the shard's previous content with it
"""

import hashlib
import importlib.metadata
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

import polars as pl

from features.core.faults import CommitRefused, RowsLost, RowsWrong
from features.core.file_errors import clear_errors
from features.core.types import Fingerprint, Shard
from features.schemas import Columns
from features.stage_output import StageOutput
from features.stages.stage import Recipe
from features.store.damage import damaged_files
from features.store.delta import OWN_COLUMN, Table
from features.store.fingerprints import identity, identity_of
from features.store.receipts import DataFile, Receipt
from features.store.scope import ShardKey

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


def commit(
    tables: Mapping[str, Table], receipts: Iterable[Receipt], *, run_id: str, recipes: Mapping[str, Recipe]
) -> dict[str, int]:
    """Commit receipts to the tables, in the order of `tables`; `Store.commit` says the rest."""
    unique = list({(receipt.stage, receipt.shard): receipt for receipt in receipts}.values())
    if not unique:
        return {}
    storage = tables["rejects"].storage
    for receipt in unique:
        _verify(receipt, recipes[receipt.stage])
    files = {name: [file for each in unique if each.stage == name and (file := each.data)] for name in tables}
    files["rejects"] = [file for each in unique if (file := each.reject_data)]
    for name, written in files.items():
        _verify_files(tables[name], written)
    metadata = {"run_id": run_id, "code_version": importlib.metadata.version("facetflow")}
    before = dict(zip(tables, storage.map(Table.version, tables.values()), strict=True))
    # Rejects first: a crash in between leaves rejects of a shard that is made again, never rows whose rejects are lost.
    emptied = [(receipt.stage, receipt.shard) for receipt in unique if not receipt.reject_data]
    described = metadata | {"versions": before} | _described([each for each in unique if each.reject_data], recipes)
    after = {"rejects": tables["rejects"].replace(files["rejects"], emptied, described)}
    for name, table in tables.items():
        made = [receipt for receipt in unique if receipt.stage == name and receipt.data]
        if made:
            # Before the files: a column that no file has yet does no harm, a file with unknown columns does.
            further = further_columns(table, chain.from_iterable(receipt.columns for receipt in made))
            table.add_columns({**table.columns, **further})
            described = metadata | {"versions": before | after} | _described(made, recipes)
            after[name] = table.replace(files[name], (), described)
    return after


def withdraw(tables: Mapping[str, Table], shards: Iterable[ShardKey], *, run_id: str) -> dict[str, int]:
    """Take shards out of their tables; `Store.withdraw` says the rest."""
    withdrawn: dict[str, list[Shard]] = {}
    for stage, shard in shards:
        withdrawn.setdefault(stage, []).append(shard)
    if not withdrawn:
        return {}
    version = importlib.metadata.version("facetflow")
    metadata = {"run_id": run_id, "code_version": version, "withdrawn": withdrawn}
    # Rejects first: after a crash in between the rows are still there, and the next call takes them out.
    rejected = [(stage, shard) for stage, names in withdrawn.items() for shard in names]
    after = {"rejects": tables["rejects"].replace([], rejected, metadata)}
    return after | {
        stage: tables[stage].replace([], [(None, shard) for shard in names], metadata)
        for stage, names in withdrawn.items()
    }


def _described(made: Sequence[Receipt], recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """Return what a commit records about its shards: fingerprints, and the recipes by their identity."""
    used = {receipt.stage: recipes[receipt.stage] for receipt in made}
    return {
        "shards": {receipt.shard: receipt.fingerprint for receipt in made},
        "recipes": {identity(recipe): recipe.as_dict() for recipe in used.values()},
    }


def _verify(receipt: Receipt, recipe: Recipe) -> None:
    if identity(recipe) != identity_of(receipt.fingerprint):
        raise CommitRefused(
            f"The fingerprint {receipt.fingerprint!r} of shard {receipt.shard!r} of stage {receipt.stage!r} is not "
            f"that of the recipe, {identity(recipe)!r}; plan again with the settings in use."
        )


def _verify_files(table: Table, written: Sequence[DataFile]) -> None:
    for damage in damaged_files(table, written, deep=True):
        raise CommitRefused(
            f"The file {table.storage.url(table.file(damage.path))!r} of shard {damage.shard!r} of stage "
            f"{damage.stage!r} {damage.detail}; run the shard again."
        )
