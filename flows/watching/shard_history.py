"""The history of every shard of a build, as seen by the flow: which worker made it, when, and how that ended.

    waiting ──> submitted ──> running ──┬──> made ──> committed
       │            ▲            │      └──> failed
       │            └─ its worker died: the attempt is "lost"
       └──> left out (a shard that it needs failed)

Times are taken from the flow's clock, so that the clocks of workers need not agree; only `seconds` is measured by a
worker.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

State = Literal["waiting", "submitted", "running", "made", "committed", "failed", "left out"]
Outcome = Literal["running", "made", "failed", "lost"]
UNKNOWN_WORKER = ""
"""Name of the worker of a shard whose reports did not arrive."""


@dataclass(slots=True)
class Attempt:
    """One worker's attempt at a shard.

    Args:
        worker: name of the worker; empty if unknown.
        begun: when it began, in seconds since 1970, UTC.
        heard: when it last reported, in seconds since 1970, UTC.
        outcome: how it ended; a lost attempt ended some time after `heard`.
    """

    worker: str
    begun: float
    heard: float
    outcome: Outcome = "running"


@dataclass(slots=True)
class ShardHistory:
    """What became of one shard.

    Args:
        stage: its stage.
        shard: its name.
        rows: rows that go into it.
        why: why it has to be made.
        state: its current state; only `committed` outlives the build.
        rejects: number of its rejected rows; None until it is made.
        seconds: time that its worker took; None until it is made, or if it had been committed before.
        error: why it failed or was left out; else empty.
        attempts: one for each worker that began it, in order.
    """

    stage: str
    shard: str
    rows: int
    why: str = ""
    state: State = "waiting"
    rejects: int | None = None
    seconds: float | None = None
    error: str = ""
    attempts: list[Attempt] = field(default_factory=list)


class BuildHistory:
    """What became of the shards of a build."""

    def __init__(self) -> None:
        self._shards: dict[tuple[str, str], ShardHistory] = {}

    @property
    def shards(self) -> list[ShardHistory]:
        """All shards that were to be made, in the order of the plan."""
        return list(self._shards.values())

    @property
    def share(self) -> float:
        """Share of the rows that need no more work, in [0, 1]: those of shards made, failed or left out."""
        rows = sum(shard.rows for shard in self._shards.values())
        ended = sum(s.rows for s in self._shards.values() if s.state in {"made", "committed", "failed", "left out"})
        return ended / rows if rows else 1.0

    def plan(self, shards: Iterable[ShardHistory]) -> None:
        """Record the shards that are to be made."""
        self._shards = {(shard.stage, shard.shard): shard for shard in shards}

    def submit(self, stage: str, shard: str) -> None:
        """Record that a shard waits for a worker."""
        if known := self._shards.get((stage, shard)):
            known.state = "submitted"

    def report(self, stage: str, shard: str, total: int, worker: str) -> None:
        """Record what a worker reports of its shard.

        Args:
            stage: its stage.
            shard: its name.
            total: number of parts of the shard; 0 in the first report of a worker that begins it.
            worker: name of the worker.
        """
        known = self._shards.get((stage, shard))
        if known is None or known.state not in {"submitted", "running"}:
            return
        now = time.time()
        last = known.attempts[-1] if known.attempts else None
        if last is not None and last.outcome == "running" and last.worker == worker and total > 0:
            last.heard = now
            return
        if last is not None and last.outcome == "running":
            last.outcome = "lost"  # Dask gave the shard to another worker, or to this one after its restart
        known.state = "running"
        known.attempts.append(Attempt(worker, now, now))

    def take_back(self, stage: str, shard: str) -> None:
        """Record that the worker of a shard died, and that the shard will be submitted again."""
        if known := self._shards.get((stage, shard)):
            known.state = "waiting"
            self._end(known, "lost")

    def make(self, stage: str, shard: str, rejects: int, seconds: float | None) -> None:
        """Record a shard that was made, but not committed yet."""
        known = self._shards.get((stage, shard))
        if known is None:
            return
        if seconds is None:
            known.state = "committed"
            known.attempts = [attempt for attempt in known.attempts if attempt.outcome != "running"]
            return
        known.state, known.rejects, known.seconds = "made", rejects, seconds
        if not known.attempts or known.attempts[-1].outcome != "running":
            now = time.time()
            known.attempts.append(Attempt(UNKNOWN_WORKER, now - seconds, now))
        self._end(known, "made", heard=time.time())

    def commit(self, shards: Iterable[tuple[str, str]]) -> None:
        """Record that shards are committed to their tables."""
        for key in shards:
            if known := self._shards.get(key):
                known.state = "committed"

    def fail(self, stage: str, shard: str, error: str) -> None:
        """Record that a shard could not be made."""
        if known := self._shards.get((stage, shard)):
            known.state, known.error = "failed", error
            self._end(known, "failed", heard=time.time())

    def leave_out(self, stage: str, shard: str) -> None:
        """Record that a shard was not begun because one that it needs failed."""
        if known := self._shards.get((stage, shard)):
            known.state, known.error = "left out", "a shard that it needs failed"

    def _end(self, shard: ShardHistory, outcome: Outcome, heard: float | None = None) -> None:
        if shard.attempts and shard.attempts[-1].outcome == "running":
            last = shard.attempts[-1]
            last.outcome = outcome
            last.heard = last.heard if heard is None else heard
