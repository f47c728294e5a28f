"""The one task of a build: read the pinned input of a shard, let its stage make it, write, return a receipt.

ShardJob ──> committed and intact? ── yes ──> None
                │ no
                └──> read ──> Stage.make ──> write_shard ──> Receipt
                                  └── on_rows(done, total) ──> worker ── topic ──> scheduler ──> flow, which shows it

Progress is reported over Dask's own connection, rarely, and without risk; stages know nothing of this.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from distributed import get_worker
from prefect import task
from prefect.cache_policies import NO_CACHE
from pydantic import BaseModel

from features.core.faults import GpuFailed
from features.core.types import Fingerprint, OnRows, Shard, ignore_rows
from features.parsers.devices import is_gpu_lost
from features.stages.registry import STAGES
from features.store.receipts import Receipt
from features.store.store import Store

EVERY = 1.0
"""Seconds between two reports of a shard."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard of one stage for a worker to make."""

    store: str  # location of the store, under which the worker sees it too
    stage: str  # name of the stage and its table
    shard: Shard  # the shard to make
    fingerprint: Fingerprint  # fingerprint that it will have
    # table → version to read, for every table that the job reads
    versions: Mapping[str, int] = field(default_factory=dict)
    upstream: Mapping[str, tuple[Shard, ...]] = field(default_factory=dict)  # table → shards to read
    topic: str = ""  # Dask topic for progress reports


@dataclass(frozen=True, slots=True)
class Inputs:
    """The rows that a job may read, each table at its pinned version."""

    store: Store
    job: ShardJob

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return the rows of the upstream shards of a table, optionally only those that `where` selects."""
        return self.store.read(table, self.job.versions[table], self.job.upstream[table], where=where)

    def local(self, file: Path) -> Path:
        """Return a file that the flow made for workers, fetched from the store where the flow's path does not exist."""
        storage = self.store.storage
        stored = not file.exists() and file.name in storage.names("graphs")
        return storage.local(f"graphs/{file.name}") if stored else file


_ONE_AT_A_TIME = threading.Lock()
"""Models are not meant to be shared by threads, nor libraries to be imported by two at once.

A worker of a local cluster has one thread; a worker started elsewhere may have several.
"""


def reporter(job: ShardJob) -> OnRows:
    """Return a callback that reports the progress of a shard to the subscribers of the job's topic.

    It does nothing if there is no worker, as in a notebook. The first and last report of a shard are always sent,
    others at most once in `EVERY` seconds.
    """
    try:
        worker = get_worker()
    except ValueError:
        return ignore_rows
    name, reported = str(worker.name), 0.0

    def on_rows(done: int, total: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if 0 < done < total and now - reported < EVERY:
            return
        reported = now
        with suppress(Exception):  # a report must never endanger its shard
            # Not "worker": the scheduler writes the address there.
            message = {"stage": job.stage, "shard": job.shard, "done": int(done), "total": int(total), "by": name}
            worker.log_event(job.topic, message)

    return on_rows


def make_shard(job: ShardJob, settings: BaseModel) -> Receipt | None:
    """Make one shard by the prepared settings of its stage; a process makes one at a time, and loads a model once.

    Returns:
        The receipt, or None if the shard is already committed and its files are intact: after the death of a worker,
        Dask reruns tasks whose receipts were read long ago.
    """
    with _ONE_AT_A_TIME:
        # Library output between these log lines belongs to this shard.
        _log.info("%s %s: begun", job.stage, job.shard)
        started = time.perf_counter()
        on_rows = reporter(job)
        on_rows(0, 0)
        store = Store.open(job.store)
        committed = store.committed(job.stage).get(job.shard)
        if committed is not None and committed.fingerprint == job.fingerprint and store.is_whole(job.stage, job.shard):
            _log.info("%s %s: is committed already", job.stage, job.shard)
            return None
        stage = STAGES[job.stage]
        with _ending_with_the_gpu():
            output = stage.make(Inputs(store, job), settings, on_rows)
        expected = store.committed(stage.over, job.versions.get(stage.over))[job.shard].rows if stage.complete else None
        seconds = time.perf_counter() - started
        receipt = store.write_shard(job.stage, job.shard, job.fingerprint, output, expected=expected, seconds=seconds)
        _log.info("%s %s: %d rows, %d rejected, %.1f s", job.stage, job.shard, receipt.rows, receipt.rejects, seconds)
        return receipt


@contextmanager
def _ending_with_the_gpu() -> Iterator[None]:
    """End the process of a worker whose GPU has failed: it would fail all further shards; a new process makes them."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, GpuFailed) or is_gpu_lost(error)):
            raise
        with suppress(ValueError):  # no worker
            _log.exception("the worker %s ends, because its GPU has failed", get_worker().name)
            os._exit(1)
        raise


# A function under its own name travels to workers by that name; one that a decorator has replaced, with its globals.
MAKE_SHARD = task(persist_result=False, cache_policy=NO_CACHE, task_run_name="{job.stage} {job.shard}")(make_shard)
"""The task. The commit of the table is the source of truth: a result kept by Prefect would be a second one."""
