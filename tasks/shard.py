"""What every task does around its stage: read the pinned input, compute, write, return a receipt.

ShardJob ──> committed and intact? ── yes ──> None
                │ no
                └──> read ──> stage function ──> write_shard ──> Receipt
                                    └── on_rows ──> the progress of the build
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from prefect.cache_policies import NO_CACHE

from features.rows import OnRows
from features.stages import StageOutput
from features.store.receipts import Receipt
from features.store.store import Store
from features.types import Fingerprint, Shard
from tasks.reporting import reporter

TASK: dict[str, Any] = {
    # The commit of the table is the source of truth; a result kept by Prefect would be a second one.
    "persist_result": False,
    "cache_policy": NO_CACHE,
    "task_run_name": "{job.stage} {job.shard}",
}
"""How every task is declared."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard of one stage for a worker to make.

    Args:
        store: folder of the store, under a path that the worker sees too.
        stage: name of the stage and its table.
        shard: the shard to make.
        fingerprint: fingerprint that it will have.
        versions: table → version to read, for every table that the job reads.
        upstream: table → shards to read.
        topic: Dask topic for progress reports; empty for none.
    """

    store: Path
    stage: str
    shard: Shard
    fingerprint: Fingerprint
    versions: Mapping[str, int] = field(default_factory=dict)
    upstream: Mapping[str, tuple[Shard, ...]] = field(default_factory=dict)
    topic: str = ""


class Inputs:
    """The rows that a job may read, each table at its pinned version.

    Args:
        store: the opened store.
        job: job that names tables, versions and shards.
    """

    def __init__(self, store: Store, job: ShardJob) -> None:
        self._store = store
        self._job = job

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return the rows of the upstream shards of a table, optionally only those that `where` selects."""
        return self._store.read(table, self._job.versions[table], self._job.upstream[table], where=where)


_log = logging.getLogger(__name__)
_ONE_AT_A_TIME = threading.Lock()
"""Models are not meant to be shared by threads, nor libraries to be imported by two at once.

A worker of a local cluster has one thread; a worker started elsewhere may have several.
"""


def make_shard(job: ShardJob, compute: Callable[[Inputs, OnRows], tuple[StageOutput, int | None]]) -> Receipt | None:
    """Make one shard; a process makes one at a time.

    Args:
        job: what to make.
        compute: function that reads the inputs, loads a model, and returns rows and rejects, plus the number of input
            rows if each must appear in the output; it reports the number of rows done to its second argument.

    Returns:
        The receipt, or None if the shard is already committed and its files are intact: after the death of a worker,
        Dask reruns tasks whose receipts were read long ago.
    """
    with _ONE_AT_A_TIME:
        # Library output between these log lines belongs to this shard.
        _log.info("%s %s: begun", job.stage, job.shard)
        started = time.perf_counter()
        on_rows = reporter(job.topic, job.stage, job.shard)
        on_rows(0, 0)
        store = Store.open(job.store)
        committed = store.committed(job.stage).get(job.shard)
        if committed is not None and committed.fingerprint == job.fingerprint and store.is_whole(job.stage, job.shard):
            _log.info("%s %s: is committed already", job.stage, job.shard)
            return None
        output, expected = compute(Inputs(store, job), on_rows)
        seconds = time.perf_counter() - started
        receipt = store.write_shard(job.stage, job.shard, job.fingerprint, output, expected=expected, seconds=seconds)
        _log.info("%s %s: %d rows, %d rejected, %.1f s", job.stage, job.shard, receipt.rows, receipt.rejects, seconds)
        return receipt
