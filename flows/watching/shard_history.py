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
ENDED = frozenset({"made", "committed", "failed", "left out"})
"""States of shards that need no more work."""
UNKNOWN_WORKER = ""
"""Name of the worker of a shard whose reports did not arrive."""


@dataclass(slots=True)
class Attempt:
    """The attempt of a worker, empty if unknown, at a shard; times in seconds since 1970, UTC.

    It was last heard of at `heard`; a lost attempt ended some time after that.
    """

    worker: str
    begun: float
    heard: float
    outcome: Outcome = "running"


@dataclass(slots=True)
class ShardHistory:
    """What became of one shard."""

    stage: str
    shard: str
    rows: int  # rows that go into it
    why: str = ""  # why it has to be made
    state: State = "waiting"  # its current state; only `committed` outlives the build
    rejects: int | None = None  # number of its rejected rows; None until it is made
    seconds: float | None = None  # time that its worker took; None until it is made, or if it had been committed before
    error: str = ""  # why it failed or was left out; else empty
    attempts: list[Attempt] = field(default_factory=list)  # one for each worker that began it, in order


class BuildHistory:
    """What became of the shards of a build, each named by its stage and its name."""

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
        ended = sum(shard.rows for shard in self._shards.values() if shard.state in ENDED)
        return ended / rows if rows else 1.0

    def plan(self, shards: Iterable[ShardHistory]) -> None:
        """Record the shards that are to be made, beside those that were planned before."""
        for shard in shards:
            self._shards.setdefault((shard.stage, shard.shard), shard)

    def submit(self, stage: str, shard: str) -> None:
        """Record that a shard waits for a worker."""
        self._shards[stage, shard].state = "submitted"

    def report(self, stage: str, shard: str, total: int, worker: str) -> bool:
        """Record a report of a worker of so many parts, 0 when it begins; return whether it came in time."""
        history = self._shards[stage, shard]
        if history.state not in {"submitted", "running"}:
            return False
        now = time.time()
        last = history.attempts[-1] if history.attempts else None
        if last is not None and last.outcome == "running" and last.worker == worker and total > 0:
            last.heard = now
            return True
        self._end(history, "lost")  # if Dask gave the shard to another worker, or to this one after its restart
        history.state = "running"
        history.attempts.append(Attempt(worker, now, now))
        return True

    def take_back(self, stage: str, shard: str) -> None:
        """Record that the worker of a shard died, and that the shard will be submitted again."""
        history = self._shards[stage, shard]
        history.state = "waiting"
        self._end(history, "lost")

    def make(self, stage: str, shard: str, rejects: int, seconds: float | None) -> ShardHistory:
        """Record a shard that was made, but not committed yet, and return it.

        Its worker took some seconds; None if it found the shard committed, and made nothing.
        """
        history = self._shards[stage, shard]
        if seconds is None:
            history.state = "committed"
            history.attempts = [attempt for attempt in history.attempts if attempt.outcome != "running"]
            return history
        history.state, history.rejects, history.seconds = "made", rejects, seconds
        if not history.attempts or history.attempts[-1].outcome != "running":
            now = time.time()
            history.attempts.append(Attempt(UNKNOWN_WORKER, now - seconds, now))
        self._end(history, "made", heard=time.time())
        return history

    def commit(self, shards: Iterable[tuple[str, str]]) -> None:
        """Record that shards are committed to their tables."""
        for key in shards:
            self._shards[key].state = "committed"

    def fail(self, stage: str, shard: str, error: str) -> None:
        """Record that a shard could not be made."""
        history = self._shards[stage, shard]
        history.state, history.error = "failed", error
        self._end(history, "failed", heard=time.time())

    def leave_out(self, stage: str, shard: str) -> None:
        """Record that a shard was not begun because one that it needs failed."""
        history = self._shards[stage, shard]
        history.state, history.error = "left out", "a shard that it needs failed"

    def _end(self, shard: ShardHistory, outcome: Outcome, heard: float | None = None) -> None:
        if shard.attempts and shard.attempts[-1].outcome == "running":
            last = shard.attempts[-1]
            last.outcome = outcome
            last.heard = last.heard if heard is None else heard
