"""What every task does around its stage: read the pinned input, compute, write, return a receipt.

ShardJob ──> is it committed, and whole? ── yes ──> None
                │ no
                └──> read ──> stage function ──> write_shard ──> Receipt
                                    └── on_rows ──> whoever watches the build
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
    # The commit of the table is the truth; a result that Prefect keeps would be a second one.
    "persist_result": False,
    "cache_policy": NO_CACHE,
    "task_run_name": "{job.stage} {job.shard}",
}
"""How every task is declared."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard of one stage, as a worker is told to make it.

    Args:
        store: folder of the store, on a path that the worker sees too.
        stage: name of the stage and its table.
        shard: the shard to make.
        fingerprint: what it will be.
        versions: table → version to read, for every table that it reads.
        upstream: table → shards to read.
        topic: of Dask, under which the worker tells how far it is; empty for nobody.
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
        job: names tables, versions and shards.
    """

    def __init__(self, store: Store, job: ShardJob) -> None:
        self._store = store
        self._job = job

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return the rows of the upstream shards of a table, those that `where` selects if it is given."""
        version, shards = self._job.versions[table], self._job.upstream[table]
        if where is None:
            return self._store.read(table, version, shards)
        return self._store.scan(table, version, shards).filter(where).collect()


_log = logging.getLogger(__name__)
_ONE_AT_A_TIME = threading.Lock()
"""Models are not made to be shared by threads, and libraries not to be imported by two at once.

A worker of a local cluster has one thread; one that somebody else started may have several.
"""


def make_shard(job: ShardJob, compute: Callable[[Inputs, OnRows], tuple[StageOutput, int | None]]) -> Receipt | None:
    """Make one shard; a process makes one at a time.

    Args:
        job: what to make.
        compute: reads the inputs, loads a model, and returns rows and rejects, with the number of rows that went in
            where each must come out again; it tells a function how many rows are done.

    Returns:
        The receipt, or None when the shard is committed already and its files are whole: after the death of a worker
        Dask runs tasks again whose receipts have long been read.
    """
    with _ONE_AT_A_TIME:
        # What a library prints between these lines is about this shard.
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
