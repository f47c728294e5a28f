"""What a worker does: write a shard's rows and rejects as files that are in no table yet, and return a receipt."""

import hashlib
import io

import polars as pl

from features.core.file_errors import clear_errors
from features.core.types import Fingerprint, Shard
from features.schemas import REJECTS
from features.stage_output import StageOutput
from features.store.checks import check_columns, check_conservation, check_ids, check_names, further_columns
from features.store.delta import Table
from features.store.receipts import Receipt, WrittenFile

_NAME_DIGITS = 20  # of SHA-256, in a file name


def write_shard(
    table: Table,
    rejects: Table,
    shard: Shard,
    fingerprint: Fingerprint,
    output: StageOutput,
    *,
    expected: int | None,
    seconds: float,
) -> Receipt:
    """Write rows to the folder of `table` and rejects to that of `rejects`; `Store.write_shard` says the rest."""
    check_names(shard, fingerprint)
    where = f"shard {shard!r} of table {table.name!r}"
    check_columns(output.rows, {**table.columns, **further_columns(table, output.rows.columns)}, where)
    check_columns(output.rejects, REJECTS, f"the rejects of {where}")
    check_ids(output, next(iter(table.columns)), where)
    check_conservation(output.rows.height, output.rejects.height, expected, where)
    return Receipt(
        stage=table.name,
        shard=shard,
        fingerprint=fingerprint,
        data=_write(table, f"shard={shard}/fingerprint={fingerprint}", output.rows),
        reject_data=_write_rejects(rejects, table.name, shard, fingerprint, output.rejects),
        expected=expected,
        seconds=seconds,
    )


def write_rejects(table: Table, stage: str, shard: Shard, fingerprint: Fingerprint, rejects: pl.DataFrame) -> Receipt:
    """Write rejects of a stage without rows to the folder of `table`; `Store.write_rejects` says the rest."""
    check_names(stage, shard, fingerprint)
    check_columns(rejects, REJECTS, f"the rejects of {shard!r} of stage {stage!r}")
    written = _write_rejects(table, stage, shard, fingerprint, rejects)
    return Receipt(stage=stage, shard=shard, fingerprint=fingerprint, data=None, reject_data=written)


def _write_rejects(
    table: Table, stage: str, shard: Shard, fingerprint: Fingerprint, rejects: pl.DataFrame
) -> WrittenFile | None:
    if rejects.is_empty():
        return None
    return _write(table, f"stage={stage}/shard={shard}/fingerprint={fingerprint}", rejects)


def _write(table: Table, partition: str, rows: pl.DataFrame) -> WrittenFile:
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    # Named by content: a shard written again after a crash is the same file, not another one.
    name = f"{partition}/{digest[:_NAME_DIGITS]}.parquet"
    with clear_errors(f"Writing {name!r} to table {table.name!r} of {table.storage.location!r}"):
        table.storage.put(table.file(name), content)
    return WrittenFile(name, rows.height, len(content), digest)
