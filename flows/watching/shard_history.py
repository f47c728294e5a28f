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

from features.core.types import Fingerprint, Shard
from features.store.runs import FailedShard
from features.store.scope import ShardKey

State = Literal["waiting", "submitted", "running", "made", "committed", "failed", "left out"]
Outcome = Literal["running", "made", "failed", "lost"]
ENDED = frozenset({"made", "committed", "failed", "left out"})
"""States of shards that need no more work."""


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
    shard: Shard
    rows: int  # rows that go into it
    why: str = ""  # why it has to be made
    fingerprint: str = ""  # that it has when it is made
    state: State = "waiting"  # its current state; only `committed` outlives the build
    rejects: int | None = None  # number of its rejected rows; None until it is made
    seconds: float | None = None  # time that its worker took; None until it is made, or if it had been committed before
    error: str = ""  # why it failed or was left out; else empty
    attempts: list[Attempt] = field(default_factory=list)  # one for each worker that began it, in order

    def report(self, total: int, worker: str) -> bool:
        """Record a report of a worker of so many parts, 0 when it begins; return whether it came in time."""
        if self.state not in {"submitted", "running"}:
            return False
        now = time.time()
        last = self.attempts[-1] if self.attempts else None
        if last is not None and last.outcome == "running" and last.worker == worker and total > 0:
            last.heard = now
            return True
        self._end("lost")  # if Dask gave the shard to another worker, or to this one after its restart
        self.state = "running"
        self.attempts.append(Attempt(worker, now, now))
        return True

    def take_back(self) -> None:
        """Record that its worker died, and that it will be submitted again."""
        self.state = "waiting"
        self._end("lost")

    def make(self, rejects: int, seconds: float | None) -> None:
        """Record that it was made, but not committed yet.

        Its worker took some seconds; None if it found the shard committed, and made nothing.
        """
        if seconds is None:
            self.state = "committed"
            self.attempts = [attempt for attempt in self.attempts if attempt.outcome != "running"]
            return
        self.state, self.rejects, self.seconds = "made", rejects, seconds
        now = time.time()
        if not self.attempts or self.attempts[-1].outcome != "running":
            self.attempts.append(Attempt("", now - seconds, now))  # its reports did not arrive
        self._end("made", heard=now)

    def fail(self, error: str) -> None:
        """Record that it could not be made."""
        self.state, self.error = "failed", error
        self._end("failed", heard=time.time())

    def leave_out(self) -> None:
        """Record that it was not begun because one that it needs failed."""
        self.state, self.error = "left out", "a shard that it needs failed"

    def _end(self, outcome: Outcome, heard: float | None = None) -> None:
        if self.attempts and (last := self.attempts[-1]).outcome == "running":
            last.outcome = outcome
            last.heard = last.heard if heard is None else heard


class BuildHistory(dict[ShardKey, ShardHistory]):
    """What became of the shards of a build, each under its stage and its name, in the order of the plan."""

    @property
    def share(self) -> float:
        """Share of the rows that need no more work, in [0, 1]: those of shards made, failed or left out."""
        rows = sum(shard.rows for shard in self.values())
        ended = sum(shard.rows for shard in self.values() if shard.state in ENDED)
        return ended / rows if rows else 1.0

    @property
    def made(self) -> dict[str, list[ShardHistory]]:
        """Stage → its shards that were made."""
        made: dict[str, list[ShardHistory]] = {}
        for shard in self.values():
            if shard.state in {"made", "committed"}:
                made.setdefault(shard.stage, []).append(shard)
        return made

    @property
    def failed(self) -> tuple[FailedShard, ...]:
        """The shards that could not be made."""
        failed = (shard for shard in self.values() if shard.state == "failed")
        return tuple(FailedShard(each.stage, each.shard, Fingerprint(each.fingerprint), each.error) for each in failed)

    def plan(self, shards: Iterable[ShardHistory]) -> None:
        """Record the shards that are to be made, beside those that were planned before."""
        for shard in shards:
            self.setdefault((shard.stage, shard.shard), shard)
