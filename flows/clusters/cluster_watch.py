"""What may happen to a cluster while a build waits for it, and how the build responds: see docs/howto/clusters.md.

What was committed is kept in any case, and the next build continues from there.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, cast

from dask.utils import format_bytes
from distributed import Client

from features.core.errors import FacetflowError, RunError
from features.core.faults import NoScheduler, NoWorkers, TooLittleMemory
from flows.terminal import warn

GONE_AFTER = 20.0
"""Seconds without an answer of the scheduler after which it counts as gone."""
SAY_AFTER = 15.0
"""Seconds after which a state that may pass by itself is reported or repaired."""
WAIT_FOR_WORKERS = 300.0
"""Seconds without any worker after which a build ends; less than Dask waits before it fails the shards."""
MOST_RESTARTS = 2
_LOOK_EVERY = 2.0
_LATE = 5.0

Workers = Mapping[str, Mapping[str, Any]]
"""Address → what Dask knows of a worker."""


def workers_of(client: Client) -> Workers:
    """Return the workers that a client's scheduler has now; an OSError if it does not answer.

    `Client.scheduler_info` returns what it knew before then, and at times no workers: every two seconds the client asks
    the scheduler for itself alone, and keeps that answer in their place.
    """
    identity = client.sync(client.scheduler.identity, n_workers=-1)  # type: ignore[no-untyped-call, union-attr]
    return cast("Workers", identity["workers"])


class ClusterWatch:
    """Watches a cluster from its own thread, because a request to a dead scheduler may block for long.

    The scheduler's address is None for the local cluster. `inspect` checks those workers that it does not know yet; a
    `FacetflowError` that it raises ends the build.

    Attributes:
        workers: those that the scheduler has; None until it has said so.
    """

    def __init__(self, client: Client, address: str | None, inspect: Callable[[Collection[str]], None]) -> None:
        self._client = client
        self._inspect = inspect
        self._unfit: FacetflowError | None = None
        self._where = "of the local cluster" if address is None else f"of the Dask cluster at {address!r}"
        self._address = address
        self.workers: Workers | None = None
        self._answered = self._checked = time.monotonic()
        self._alone_since: float | None = None
        self._said_alone = False
        self._paused_since: dict[str, float] = {}
        self._restarts: Counter[str] = Counter()
        self._known: dict[str, str] = {}
        self._most = 0
        self._lost_since: dict[str, float] = {}
        self._ended = threading.Event()
        threading.Thread(target=self._run, daemon=True, name="cluster watch").start()

    def stop(self) -> None:
        """Stop watching."""
        self._ended.set()

    def check(self) -> None:
        """Report problems, repair what can be repaired, and raise if no hope is left; called often."""
        now = time.monotonic()
        if now - self._checked > _LATE:
            self._answered = max(self._answered, now)  # it was this process that was suspended
        self._checked = now
        # The scheduler of the local cluster is in this process: it may be slow, but not gone.
        if self._address is not None and now - self._answered > GONE_AFTER:
            raise self.scheduler_is_gone()
        if self._unfit is not None:
            raise self._unfit
        workers = self.workers
        if workers is None:
            return
        self._check_lost(workers, now)
        self._check_number(workers, now)
        paused = {address for address, worker in workers.items() if _is_stuck(worker)}
        self._paused_since = {address: self._paused_since.get(address, now) for address in paused}
        for address in paused:
            if now - self._paused_since[address] > SAY_AFTER:
                del self._paused_since[address]
                self._start_again(address, workers[address])

    def scheduler_is_gone(self) -> RunError:
        """Return the error for a scheduler that is gone."""
        return NoScheduler(
            f"The Dask scheduler {self._where} no longer answers, or lost the connection to this build: see that it "
            "and its workers run, and run the same command; no shard is to blame, and what was committed is kept."
        )

    def _check_lost(self, workers: Workers, now: float) -> None:
        """Report which worker is gone, unless it was replaced: a nanny restarts its own."""
        lost = {address: name for address, name in self._known.items() if address not in workers}
        self._known |= {address: str(worker["name"]) for address, worker in workers.items()}
        self._most = max(self._most, len(workers))
        self._lost_since = {address: self._lost_since.get(address, now) for address in lost}
        for address, since in list(self._lost_since.items()):
            if now - since > SAY_AFTER:
                del self._known[address]
                if self._address is not None and 0 < len(workers) < self._most:
                    self._most -= 1
                    warn(f"The worker {lost[address]!r} {self._where} is gone; the others make its shards.")

    def _check_number(self, workers: Workers, now: float) -> None:
        if workers:
            self._alone_since, self._said_alone = None, False
            return
        if self._alone_since is None:
            self._alone_since = now
        alone = now - self._alone_since
        if alone > WAIT_FOR_WORKERS:
            raise NoWorkers(
                f"No worker {self._where} has come back within {WAIT_FOR_WORKERS:.0f} s: {self._how_to_start()}. Then "
                "run the same command; no shard is to blame, and what was committed is kept."
            )
        if alone > SAY_AFTER and not self._said_alone:
            self._said_alone = True
            warn(
                f"No worker {self._where} is left; the build waits {WAIT_FOR_WORKERS:.0f} s for one: "
                f"{self._how_to_start()}."
            )

    def _how_to_start(self) -> str:
        if self._address is None:
            return "workers restart by themselves unless memory is short; see the logs of the run"
        return f"start some with `dask worker {self._address}`"

    def _start_again(self, address: str, worker: Mapping[str, Any]) -> None:
        name = str(worker["name"])
        held, limit = worker["metrics"].get("memory", 0), worker["memory_limit"]
        memory = f"{format_bytes(held)} of its {format_bytes(limit)} of memory"
        state = f"The worker {name!r} {self._where} is paused at {memory}"
        what_to_set = (
            "raise memory_limit or lower workers in [cluster]"
            if self._address is None
            else "start workers with a higher `--memory-limit`, or fewer of them"
        )
        if self._restarts[name] < MOST_RESTARTS:
            self._restarts[name] += 1
            warn(f"{state}, so Dask gives it no shard; it is restarted. To avoid this, {what_to_set}.")
            with suppress(Exception):  # whatever Dask raises for a worker that cannot be restarted
                self._client.restart_workers([address], timeout=60)
                return
        raise TooLittleMemory(f"{state}, so Dask gives it no shard: {what_to_set}, and run the same command.")

    def _run(self) -> None:
        while not self._ended.wait(_LOOK_EVERY):
            with suppress(Exception):  # a dead scheduler raises various errors; what counts is the silence
                workers = workers_of(self._client)
                self._answered = time.monotonic()
                self.workers = workers
                if self._unfit is None:  # otherwise the build is about to end
                    self._answered = math.inf  # until workers have answered, which may take long, it is not asked
                    try:
                        self._inspect(workers.keys())
                    except FacetflowError as error:
                        self._unfit = error
                    finally:
                        self._answered = time.monotonic()


def _is_stuck(worker: Mapping[str, Any]) -> bool:
    """Return whether a worker is paused without a shard, so that its memory will not change by itself."""
    return worker.get("status") == "paused" and not worker.get("metrics", {}).get("executing", 0)
