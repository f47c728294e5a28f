"""What the flow does with receipts: verify every file, then replace the shard's previous content with it."""

import hashlib
import importlib.metadata
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from features.core.faults import CommitRefused, UnknownTable
from features.core.types import Shard
from features.schemas import Columns
from features.stages.stage import Recipe
from features.store.delta import DataFile, Table
from features.store.fingerprints import identity, identity_of
from features.store.receipts import Receipt, WrittenFile
from features.store.scope import ShardKey
from features.store.writing import check_conservation, further_columns


def commit(
    tables: Mapping[str, Table], receipts: Iterable[Receipt], *, run_id: str, recipes: Mapping[str, Recipe]
) -> dict[str, int]:
    """Commit receipts to the tables, in the order of `tables`; `Store.commit` says the rest."""
    unique = _unique(receipts)
    for receipt in unique:
        _verify(tables, receipt, recipes)
    if not unique:
        return {}
    metadata = {"run_id": run_id, "code_version": importlib.metadata.version("facetflow")}
    before = {name: table.version() for name, table in tables.items()}
    # Rejects first: a crash in between leaves rejects of a shard that is made again, never rows whose rejects are lost.
    rejected = [receipt for receipt in unique if receipt.reject_data]
    after = {
        "rejects": tables["rejects"].replace(
            [_file(r.reject_data, r, r.stage) for r in rejected if r.reject_data],
            [(receipt.stage, receipt.shard) for receipt in unique if not receipt.reject_data],
            metadata | {"versions": before} | _described(rejected, recipes),
        )
    }
    for name, table in tables.items():
        made = [receipt for receipt in unique if receipt.stage == name and receipt.data]
        if made:
            # Before the files: a column that no file has yet does no harm, a file with unknown columns does.
            table.add_columns(_columns(table, made))
            after[name] = table.replace(
                [_file(r.data, r, None) for r in made if r.data],
                (),
                metadata | {"versions": before | after} | _described(made, recipes),
            )
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


def _file(file: WrittenFile, receipt: Receipt, stage: str | None) -> DataFile:
    return DataFile(file.path, file.bytes, file.rows, receipt.shard, receipt.fingerprint, stage)


def _columns(table: Table, receipts: Sequence[Receipt]) -> Columns:
    """Return the columns that a table needs for the files of some receipts: its own, and those of the project."""
    columns = dict(table.columns)
    for receipt in receipts if table.extensible else ():
        if receipt.data:
            name = table.file(receipt.data.path)
            try:
                columns |= further_columns(table, pl.read_parquet_schema(io.BytesIO(table.storage.read(name))))
            except (pl.exceptions.PolarsError, OSError) as error:
                raise CommitRefused(
                    f"The file {table.storage.url(name)!r} cannot be read; run shard {receipt.shard!r} again."
                ) from error
    return columns


def _unique(receipts: Iterable[Receipt]) -> list[Receipt]:
    unique: dict[ShardKey, Receipt] = {}
    for receipt in receipts:
        other = unique.get((receipt.stage, receipt.shard))
        if other and other.fingerprint != receipt.fingerprint:
            raise CommitRefused(
                f"Shard {receipt.shard!r} of stage {receipt.stage!r} was made in two ways ({other.fingerprint!r} and "
                f"{receipt.fingerprint!r}); commit one of them."
            )
        unique[receipt.stage, receipt.shard] = receipt
    return list(unique.values())


def _described(receipts: Sequence[Receipt], recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """Return what a commit records about its shards: fingerprints, and the recipes by their identity."""
    used = {receipt.stage: recipes[receipt.stage] for receipt in receipts}
    return {
        "shards": {receipt.shard: receipt.fingerprint for receipt in receipts},
        "recipes": {identity(recipe): recipe.as_dict() for recipe in used.values()},
    }


def _verify(tables: Mapping[str, Table], receipt: Receipt, recipes: Mapping[str, Recipe]) -> None:
    where = f"shard {receipt.shard!r} of stage {receipt.stage!r}"
    recipe = recipes.get(receipt.stage)
    if recipe is None:
        raise CommitRefused(f"There is no recipe for {where}; give the recipe of every stage that is committed.")
    if identity(recipe) != identity_of(receipt.fingerprint):
        raise CommitRefused(
            f"The fingerprint {receipt.fingerprint!r} of {where} is not that of the recipe, {identity(recipe)!r}; "
            "plan again with the settings in use."
        )
    if receipt.data and receipt.stage not in tables:
        raise UnknownTable(f"There is no table {receipt.stage!r} for {where}; there are {', '.join(tables)}.")
    check_conservation(receipt.rows, receipt.rejects, receipt.expected, where)
    for table, file in ((receipt.stage, receipt.data), ("rejects", receipt.reject_data)):
        if file:
            _verify_file(tables[table], file, where)


def _verify_file(table: Table, file: WrittenFile, where: str) -> None:
    name = table.file(file.path)
    shown = f"The file {table.storage.url(name)!r} of {where}"
    try:
        same = hashlib.sha256(table.storage.read(name)).hexdigest() == file.sha256
    except OSError as error:
        raise CommitRefused(f"{shown} cannot be read; run the shard again.") from error
    if not same:
        raise CommitRefused(f"{shown} is not what was written; run the shard again.")
