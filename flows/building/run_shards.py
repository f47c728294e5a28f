"""Work through a plan: submit what is ready, read receipts, commit, and release.

    waiting ── upstream committed ──> running ──┬── receipt ──> committed ──> frees what waits for it
                                        ▲       ├── error ──> failed; what needs it is left out
                                        │       └── workers died ──> suspect ──> tried alone, after all others
                                        └────────────────────────────────────────────────────┘

Only this loop commits. A future is released as soon as its receipt is read: as long as a future is held, its shards are
rerun when the worker that made them dies (PrefectHQ/prefect#15442).
"""

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from dask.base import annotate
from distributed import Future, KilledWorker
from distributed.client import ClosedClientError, FutureCancelledError
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED, temporary_settings

from features.core.code import check_code
from features.core.errors import RunError, described
from features.core.interruption import held_back
from features.core.types import Shard
from features.store.plan import ShardWork
from features.store.receipts import Receipt
from features.store.scope import ShardKey
from features.store.store import Store
from flows.clusters.cluster import JoinedCluster, capacity_of
from flows.clusters.cluster_watch import ClusterWatch
from flows.server.api_watch import ApiWatch
from flows.server.prefect_address import is_on_this_machine
from flows.stages import Chain
from flows.watching.progress import BuildProgress
from tasks.shard import MAKE_SHARD, ShardJob, make_shard

IN_FLIGHT = 2
"""Shards submitted per worker: one being made, and one ready when that is done."""
COMMIT_EVERY = 5.0
"""Seconds between two commits while all workers are busy."""
_POLL = 0.5
_READ_WITHIN = 2.0
"""Seconds for a receipt, after which the cluster is looked at; fewer than those for which its watch allows."""


class ShardRunner:
    """Works through the work of a plan; the id of the run is kept with each commit.

    Attributes:
        available: how many workers there are, also those that have joined since; those that left may come back.
        spans: stage → seconds from its first submission to its last receipt.
    """

    def __init__(self, store: Store, chain: Chain, joined: JoinedCluster, progress: BuildProgress, run_id: str) -> None:
        self._store = store
        self._chain = chain
        self._joined = joined
        self.available = joined.capacity
        self._progress = progress
        self._run_id = run_id
        self.spans: dict[str, float] = {}
        self._versions: dict[str, int] = {}
        self._running: dict[ShardKey, tuple[ShardWork, Future[Any], Callable[[], Receipt | None]]] = {}
        # Else its server is on this machine, and workers on others cannot reach it: what tasks tell it would be lost,
        # and shards are made without Prefect instead.
        self._reaches_prefect = (
            joined.address is None
            or is_on_this_machine(joined.address)
            or not is_on_this_machine(str(PREFECT_API_URL.value()))
        )
        self._finished = threading.Event()
        # What workers report of the shards that they are making.
        self._topic = f"facetflow-{run_id}"
        self._reports: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        # Dask blames all shards on a worker for its death. Only one that runs alone is certainly at fault.
        self._suspects: deque[ShardWork] = deque()
        self._alone: ShardKey | None = None
        self._receipts: list[Receipt] = []
        self._committed_at = time.monotonic()
        self._started: dict[str, float] = {}

    def run(self, work: Sequence[ShardWork]) -> None:
        """Make all shards that can be made, given in an order in which they can be made one by one.

        Everything made is committed, also when the cluster is lost; the history, which has all work, keeps what becomes
        of it. A second call goes on after the first: what needs a shard that failed is left out.
        """
        self._progress.plan()
        self._versions = self._store.versions()
        waiting = list(work)
        # A task would ask the server for its version first, and fail where that is away for a moment.
        unasked = temporary_settings({PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED: False})
        with held_back() as interruption, unasked, self._listening():
            while waiting or self._running or self._suspects:
                try:
                    waiting = self._step(waiting)
                except ClosedClientError as error:
                    self._commit()
                    raise self._watch.scheduler_is_gone() from error
                except RunError:
                    self._commit()  # whatever happened to the cluster, these are made
                    raise
                # An idle worker may be waiting for shards that these commits make ready.
                idle = len(self._running) < self.available.workers
                late = time.monotonic() - self._committed_at > COMMIT_EVERY
                if self._receipts and (idle or late or interruption.pending):
                    self._commit()
                interruption.deliver()

    def _step(self, waiting: Sequence[ShardWork]) -> list[ShardWork]:
        """Submit what is ready and collect what is finished; return what still waits."""
        left = list(waiting)
        if self._alone is None:
            left = self._submit(left)
        if not self._running and self._suspects:
            suspect = self._suspects.popleft()
            self._alone = (suspect.stage, suspect.shard)
            self._start(suspect)
        if self._running:
            self._collect()
        self._show_reports()
        self._progress.tick()
        self._watch.check()
        self._api_watch.check()
        workers = self._watch.workers
        if self._joined.address is not None and workers is not None and len(workers) > self.available.workers:
            more = capacity_of(workers.values(), self._joined.address)
            self.available = replace(more, gpu=max(more.gpu, self.available.gpu))
        return left

    @contextmanager
    def _listening(self) -> Iterator[None]:
        client = self._joined.client
        self._watch = ClusterWatch(client, self._joined.address, self._joined.inspect)
        self._api_watch = ApiWatch(str(PREFECT_API_URL.value()))
        # Called in one of Dask's threads: it only puts a report into a queue.
        client.subscribe_topic(self._topic, lambda event: self._reports.put(event[1]))  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            self._watch.stop()
            self._api_watch.stop()
            if client.status == "running":
                client.unsubscribe_topic(self._topic)  # type: ignore[no-untyped-call]

    def _show_reports(self) -> None:
        while not self._reports.empty():
            report = self._reports.get()
            if (report["stage"], report["shard"]) in self._running:
                self._progress.reported(*(report[part] for part in ("stage", "shard", "done", "total", "by")))

    def _submit(self, waiting: Sequence[ShardWork]) -> list[ShardWork]:
        """Submit what is ready, as far as workers have room; return what still waits."""
        room = {True: IN_FLIGHT * self.available.gpu, False: IN_FLIGHT * self.available.cpu}
        for item, *_ in self._running.values():
            room[self._on_gpu(item.stage)] -= 1
        left: list[ShardWork] = []
        for at, item in enumerate(waiting):
            if max(room.values()) <= 0:  # most of the time: the rest is not looked at
                return [*left, *waiting[at:]]
            on_gpu = self._on_gpu(item.stage)
            needed = {self._progress.history[need].state for need in item.waits_for if need in self._progress.history}
            if not needed.isdisjoint({"failed", "left out"}):
                self._progress.left_out(item.stage, item.shard)
            elif room[on_gpu] > 0 and needed <= {"committed"}:
                room[on_gpu] -= 1
                self._start(item)
            else:
                left.append(item)
        return left

    def _on_gpu(self, stage: str) -> bool:
        return self.available.gpu > 0 and self._chain.device(stage) != "cpu"

    def _start(self, work: ShardWork) -> None:
        upstream: dict[str, list[Shard]] = defaultdict(list)
        for table, shard in work.upstream:
            upstream[table].append(shard)
        job = ShardJob(
            store=self._store.location,
            stage=work.stage,
            shard=work.shard,
            fingerprint=work.fingerprint,
            versions={table: self._versions[table] for table in upstream},
            upstream={table: tuple(shards) for table, shards in upstream.items()},
            topic=self._topic,
        )
        parameters = {"job": job, "settings": self._chain.settings[work.stage]}
        with annotate(resources=self.available.resources(on_gpu=self._on_gpu(work.stage))):
            read: Callable[[], Receipt | None]
            if self._reaches_prefect:
                seen = self._joined.runner.submit(MAKE_SHARD, parameters=parameters)
                future = seen.wrapped_future
                read = partial(seen.result, timeout=_READ_WITHIN, raise_on_failure=False)
            else:
                future = self._joined.client.submit(make_shard, **parameters, pure=False)
                read = partial(future.result, timeout=_READ_WITHIN)
        key = (work.stage, work.shard)
        self._running[key] = (work, future, read)
        self._started.setdefault(work.stage, time.monotonic())
        self._progress.history[key].state = "submitted"
        # Called in one of Dask's threads: it only signals that a shard is finished.
        future.add_done_callback(lambda _: self._finished.set())  # type: ignore[no-untyped-call]

    def _collect(self) -> None:
        """Wait a moment for a shard to finish, then process all that are finished."""
        self._finished.wait(_POLL)
        self._finished.clear()
        # One that was lost with its worker is not done, until another has made it.
        done = [key for key, (_, future, _) in self._running.items() if future.done()]  # type: ignore[no-untyped-call]
        for key in done:
            self._show_reports()  # its first report precedes its end, and would be ignored afterwards
            self._take(*self._running.pop(key))
            if key in self._running:  # its receipt did not come: nothing else waits for it
                return

    def _take(self, work: ShardWork, future: Future[Any], read: Callable[[], Receipt | None]) -> None:
        """Read the receipt of a finished shard, or determine why there is none."""
        key = (work.stage, work.shard)
        result: Receipt | BaseException | None
        try:
            result = read()
        except Exception as error:  # noqa: BLE001 (whatever Dask raises for a task that it could not run)
            if isinstance(error, TimeoutError) and future.status != "error":
                self._running[key] = (work, future, read)
                return
            result = error
        future.release()  # type: ignore[no-untyped-call]
        alone, self._alone = self._alone == key, None
        if isinstance(result, KilledWorker) and not alone:
            self._suspects.append(work)
            self._progress.taken_back(*key)
            return
        if isinstance(result, KilledWorker):
            why = "it may need more memory, or a GPU that works"
            self._progress.failed(*key, f"it killed every worker it was given to, even when it ran alone; {why}")
            return
        if isinstance(result, BaseException):
            # The scheduler is gone, whatever Dask makes of it; or was, and with it all shards, if Dask has reconnected.
            if self._joined.client.status != "running" or isinstance(result, FutureCancelledError):
                raise ClosedClientError from result
            self._progress.failed(*key, described(result))
            return
        self.spans[work.stage] = time.monotonic() - self._started[work.stage]
        if result is None:
            # Committed before the task checked, perhaps by a build that lost its lease: its version is newer.
            self._versions = self._store.versions()
            self._progress.done(work.stage, work.shard, 0, None)
            return
        self._receipts.append(result)
        self._progress.done(work.stage, work.shard, result.rejects, result.seconds)

    def _commit(self) -> None:
        if not self._receipts:
            return
        check_code()
        self._chain.check_files()
        recipes = {stage.name: stage.recipe for stage in self._chain.stages}
        self._versions |= self._store.commit(self._receipts, run_id=self._run_id, recipes=recipes)
        for receipt in self._receipts:
            self._progress.history[receipt.stage, receipt.shard].state = "committed"
        self._receipts.clear()
        self._committed_at = time.monotonic()
