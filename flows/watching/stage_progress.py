"""Progress of a stage in rows, including those of shards that are still being made.

    submitted ── on a worker ── first rows ── … ── done or failed
    waiting      loading        working: only this time counts for the rate

A worker reports the rows of its shard as it goes. A shard that is made again because its worker died restarts at the
rows of its new report: nothing is counted twice, and what was lost is no longer counted.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from flows.watching.shard_history import ShardHistory, State


@dataclass(slots=True)
class StageProgress:
    """Progress of a stage, from the history of its shards and what their workers report of them."""

    shards: Sequence[ShardHistory]
    _shares: dict[str, float] = field(default_factory=dict)
    """Shards that are being worked on → the share of their rows that is done."""
    _timed: int = 0
    """Rows of finished shards that had reported, so that their time is known."""
    _seconds: float = 0.0
    """Time in which at least one shard was being worked on, up to `_since`."""
    _since: float | None = None

    def work(self, shard: str, done: int, total: int) -> None:
        """Record how many parts of a shard are done; of 0 while the worker reads its input and loads a model."""
        self._pass_time()
        self._shares.pop(shard, None)
        if total > 0:
            self._shares[shard] = min(max(done / total, 0.0), 1.0)
        self._pass_time()

    def rest(self, shard: str, *, made: int = 0) -> None:
        """Record that a shard is no longer being worked on, and how many rows were made, if it is done."""
        self._pass_time()
        if self._shares.pop(shard, None) is not None:
            self._timed += made
        self._pass_time()

    @property
    def rows_done(self) -> int:
        """Number of rows done, including those of shards that are still being made."""
        return self._rows("made", "committed") + self._in_work()

    @property
    def ended(self) -> bool:
        """Whether no shard is left to make."""
        return not self._count("waiting", "submitted", "running")

    @property
    def busy(self) -> bool:
        """Whether a shard has been submitted and is not done."""
        return bool(self._count("submitted", "running"))

    @property
    def on_worker(self) -> bool:
        """Whether a worker has begun a shard that is not done."""
        return bool(self._count("running"))

    @property
    def standing(self) -> tuple[int, int, int, str]:
        """What has been reached so far; it stays the same as long as nothing moves."""
        return self._count("made", "committed"), self._count("failed", "left out"), self.rows_done, self._waits_for()

    def rate(self) -> float | None:
        """Return the rows per second over the time in which shards were being worked on; None while unknown."""
        self._pass_time()
        rows = self._timed + self._in_work()
        return rows / self._seconds if rows and self._seconds >= 1.0 else None

    def left(self) -> float | None:
        """Return the seconds that the rest takes at this rate; None while no worker is active or too little is done."""
        rate, rows = self.rate(), sum(shard.rows for shard in self.shards)
        rest = rows - self.rows_done - self._rows("failed", "left out")
        if rate is None or rest <= 0 or self._since is None or not tells(self.rows_done / rows, self._seconds):
            return None
        return rest / rate

    def line(self) -> str:
        """Return counts, rate and remaining time as one text."""
        done, failed, rows_done, waits_for = self.standing
        rows = sum(shard.rows for shard in self.shards)
        parts = [f"{done}/{len(self.shards)} shards", f"{rows_done:,}/{rows:,} rows"]
        if rejects := sum(shard.rejects or 0 for shard in self.shards):
            parts.append(f"{rejects:,} rejected")
        if failed:
            parts.append(f"{failed} failed")
        if (rate := self.rate()) is not None:
            parts.append(f"{rate:,.0f} rows/s" if rate >= 10 else f"{rate:.1f} rows/s")
        if (left := self.left()) is not None:
            parts.append(f"{clock(left)} left")
        elif waits_for:
            parts.append(waits_for)
        return "  ".join(parts)

    def _waits_for(self) -> str:
        if not self.busy or self._since is not None:
            return ""
        return "loading" if self.on_worker else "waiting for a worker"

    def _count(self, *states: State) -> int:
        return sum(shard.state in states for shard in self.shards)

    def _rows(self, *states: State) -> int:
        return sum(shard.rows for shard in self.shards if shard.state in states)

    def _in_work(self) -> int:
        return sum(int(self._shares.get(shard.shard, 0.0) * shard.rows) for shard in self.shards)

    def _pass_time(self) -> None:
        """Add the time since the last call if a shard was being worked on, and check whether one is now."""
        now = time.monotonic()
        if self._since is not None:
            self._seconds += now - self._since
        self._since = now if self._shares else None


def tells(share: float, seconds: float) -> bool:
    """Return whether so much is done, as a share in [0, 1], that its rate says when the rest will be."""
    return share >= 0.1 or (share >= 0.01 and seconds >= 10.0)


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> clock(3725.2)
    '1:02:05'
    """
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}"
