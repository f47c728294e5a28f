"""Progress of a stage in rows, including those of shards that are still being made.

    submitted ── on a worker ── first rows ── … ── done or failed
    waiting      loading        working: only this time counts for the rate

A worker reports the rows of its shard as it goes. A shard that is made again because its worker died restarts at the
rows of its new report: nothing is counted twice, and what was lost is no longer counted.
"""

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Shard:
    """A submitted shard: its rows, the share of them that is done, and what its worker is doing."""

    rows: int
    share: float = 0.0
    on_worker: bool = False
    working: bool = False


@dataclass(slots=True)
class StageProgress:
    """Progress of a stage.

    Args:
        shards: number of shards to make.
        rows: number of rows that go into them.
    """

    shards: int
    rows: int
    done: int = 0
    failed: int = 0
    rejects: int = 0
    _finished: int = 0
    """Rows of shards that are done."""
    _given_up: int = 0
    """Rows of shards that failed."""
    _timed: int = 0
    """Rows of finished shards that had reported, so that their time is known."""
    _seconds: float = 0.0
    """Time in which at least one shard was being worked on, up to `_since`."""
    _since: float | None = None
    _submitted: dict[str, _Shard] = field(default_factory=dict)

    @property
    def rows_done(self) -> int:
        """Number of rows done, including those of shards that are still being made."""
        return self._finished + self._in_work()

    @property
    def ended(self) -> bool:
        """Whether no shard is left to make."""
        return self.done + self.failed == self.shards

    @property
    def busy(self) -> bool:
        """Whether a shard has been submitted and is not done."""
        return bool(self._submitted)

    @property
    def on_worker(self) -> bool:
        """Whether a worker has begun a shard that is not done."""
        return any(shard.on_worker for shard in self._submitted.values())

    def submit(self, shard: str, rows: int) -> None:
        """Record that a shard waits for a worker."""
        self._submitted[shard] = _Shard(rows)

    def report(self, shard: str, done: int, total: int) -> None:
        """Record what a worker reports of its shard; reports of shards that are not submitted are ignored.

        Args:
            shard: the shard.
            done: number of its parts that are done.
            total: number of its parts, whatever they are; 0 while the worker reads its input and loads a model.
        """
        known = self._submitted.get(shard)
        if known is None:
            return
        self._pass_time()
        known.on_worker, known.working = True, total > 0
        known.share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
        self._pass_time()

    def take_back(self, shard: str) -> None:
        """Record that a shard is no longer being made and will be submitted again."""
        self._pass_time()
        self._submitted.pop(shard, None)
        self._pass_time()

    def finish(self, shard: str, rejects: int) -> None:
        """Record that a shard is done."""
        known = self._submitted[shard]
        self.take_back(shard)
        self.done += 1
        self.rejects += rejects
        self._finished += known.rows
        self._timed += known.rows if known.working else 0

    def give_up(self, shard: str, rows: int) -> None:
        """Record that a shard cannot be made."""
        self.take_back(shard)
        self.failed += 1
        self._given_up += rows

    def rate(self) -> float | None:
        """Return the rows per second over the time in which shards were being worked on; None while unknown."""
        self._pass_time()
        rows = self._timed + self._in_work()
        return rows / self._seconds if rows and self._seconds >= 1.0 else None

    def left(self) -> float | None:
        """Return the seconds that the rest takes at this rate; None while no worker is active or too little is done."""
        rate = self.rate()
        rest = self.rows - self.rows_done - self._given_up
        if rate is None or rest <= 0 or self._since is None or not tells(self.rows_done / self.rows, self._seconds):
            return None
        return rest / rate

    @property
    def standing(self) -> tuple[int, int, int, str]:
        """What has been reached so far; it stays the same as long as nothing moves."""
        return self.done, self.failed, self.rows_done, self._waits_for()

    def line(self) -> str:
        """Return counts, rate and remaining time as one text."""
        parts = [f"{self.done}/{self.shards} shards", f"{self.rows_done:,}/{self.rows:,} rows"]
        if self.rejects:
            parts.append(f"{self.rejects:,} rejected")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if (rate := self.rate()) is not None:
            parts.append(f"{rate:,.0f} rows/s" if rate >= 10 else f"{rate:.1f} rows/s")
        if (left := self.left()) is not None:
            parts.append(f"{clock(left)} left")
        elif waits_for := self._waits_for():
            parts.append(waits_for)
        return "  ".join(parts)

    def _waits_for(self) -> str:
        if not self.busy or self._since is not None:
            return ""
        return "loading" if self.on_worker else "waiting for a worker"

    def _in_work(self) -> int:
        return sum(int(shard.share * shard.rows) for shard in self._submitted.values())

    def _pass_time(self) -> None:
        """Add the time since the last call if a shard was being worked on, and check whether one is now."""
        now = time.monotonic()
        if self._since is not None:
            self._seconds += now - self._since
        self._since = now if any(shard.working for shard in self._submitted.values()) else None


def tells(share: float, seconds: float) -> bool:
    """Return whether so much is done that its rate says when the rest will be."""
    return share >= 0.1 or (share >= 0.01 and seconds >= 10.0)


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> clock(3725.2)
    '1:02:05'
    """
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}"
