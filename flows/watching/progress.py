"""What a user sees of a build: bars on a terminal, nothing with `--quiet`, else a line for what moved in ten seconds.

amr           ━━━━━━━╺━━━━  12/30 shards  51,370/122,880 rows  310 rows/s  0:03:50 left

    submitted ── on a worker ── first rows ── … ── done or failed
    waiting      loading        working: only this time counts for the rate

A worker reports the rows of its shard as it goes. A shard that is made again because its worker died restarts at the
rows of its new report: nothing is counted twice, and what was lost is no longer counted.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column

from features.core.types import Shard
from features.core.wording import clock
from flows import terminal
from flows.terminal import Verbosity, verbosity
from flows.watching.shard_history import BuildHistory, ShardHistory, State

PLAIN_EVERY = 10.0
"""Seconds between two lines without a terminal."""


class BuildProgress(ExitStack):
    """The progress of a build on standard error, or another console."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        self.history = BuildHistory()
        """What became of every shard, for the page of the build."""
        self.on_tick: Callable[[], object] = lambda: None
        """Called at every tick."""
        self.console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._stages: dict[str, StageProgress] = {}
        self._bars: dict[str, TaskID] = {}
        self._progress: Progress | None = None
        self._printed = time.monotonic()
        self._said: dict[str, object] = {}
        """Stage → its standing when a line said it."""

    def __enter__(self) -> Self:
        if self.console.is_terminal and verbosity() >= Verbosity.NORMAL:
            columns = (
                TextColumn("{task.description:<13}", markup=False),
                BarColumn(bar_width=12),
                TextColumn("{task.fields[line]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            )
            # Started and stopped with this object; lines written meanwhile go above the bars.
            self._progress = self.enter_context(Progress(*columns, console=self.console))
        return self

    def plan(self) -> None:
        """Show the stages that have something to do, by the history."""
        for stage in dict.fromkeys(shard.stage for shard in self.history.values()):
            shards = [shard for shard in self.history.values() if shard.stage == stage]
            self._stages.setdefault(stage, StageProgress(shards)).shards = shards
            if self._progress is not None:
                if stage not in self._bars:
                    self._bars[stage] = self._progress.add_task(stage, line="")
                self._progress.update(self._bars[stage], total=sum(shard.rows for shard in shards))
                self._show(stage)

    def reported(self, stage: str, shard: Shard, done: int, total: int, worker: str) -> None:
        """Record how many parts of its shard a worker has done; of 0 while it reads its input and loads a model."""
        if total == 0:
            terminal.detail(f"{stage} {shard}: begun by {worker}")
        if self.history[stage, shard].report(total, worker):
            self._stages[stage].move(shard, done / total if total > 0 else None)

    def taken_back(self, stage: str, shard: Shard) -> None:
        """Record that a shard is no longer being made and will be submitted again."""
        terminal.detail(f"{stage} {shard}: lost with its worker, to be tried again")
        self._stages[stage].move(shard)
        self.history[stage, shard].take_back()

    def done(self, stage: str, shard: Shard, rejects: int, seconds: float | None) -> None:
        """Record a shard that was made in a time of its worker; None if that found it committed."""
        how = "was committed already" if seconds is None else f"done in {seconds:.1f} s, {rejects} rejected"
        terminal.detail(f"{stage} {shard}: {how}")
        self.history[stage, shard].make(rejects, seconds)
        self._stages[stage].move(shard, made=self.history[stage, shard].rows)
        self._show(stage)

    def failed(self, stage: str, shard: Shard, error: str) -> None:
        """Record a shard that could not be made."""
        terminal.detail(f"{stage} {shard}: failed: {error}")
        self._stages[stage].move(shard)
        self.history[stage, shard].fail(error)
        self._show(stage)

    def left_out(self, stage: str, shard: Shard) -> None:
        """Record a shard that is not begun because one that it needs failed."""
        self.history[stage, shard].leave_out()
        self._show(stage)

    def tick(self) -> None:
        """Show the progress; called a few times a second, from the thread that does the rest."""
        self.on_tick()
        if self._progress is not None:
            for stage in self._stages:
                self._show(stage)
        elif time.monotonic() - self._printed >= PLAIN_EVERY:
            self._printed = time.monotonic()
            on_workers = [stage for stage, progress in self._stages.items() if progress.count("running")]
            waiting = [stage for stage, progress in self._stages.items() if progress.count("submitted", "running")]
            for stage in on_workers or waiting:
                progress = self._stages[stage]
                if self._said.get(stage) != progress.standing:
                    self._said[stage] = progress.standing
                    terminal.say(f"{stage:<13} {progress.line()}")

    def _show(self, stage: str) -> None:
        progress = self._stages[stage]
        if self._progress is not None:
            self._progress.update(self._bars[stage], completed=progress.rows_done, line=progress.line())
        elif not progress.count("waiting", "submitted", "running"):
            terminal.say(f"{stage:<13} {progress.line()}")


@dataclass(slots=True)
class StageProgress:
    """Progress of a stage, from the history of its shards and what their workers report of them."""

    shards: Sequence[ShardHistory]
    _shares: dict[Shard, float] = field(default_factory=dict)
    """Shards that are being worked on → the share of their rows that is done."""
    _timed: int = 0
    """Rows of finished shards that had reported, so that their time is known."""
    _seconds: float = 0.0
    """Time in which at least one shard was being worked on, up to `_since`."""
    _since: float | None = None

    def move(self, shard: Shard, share: float | None = None, *, made: int = 0) -> None:
        """Record the share of a shard that is done; None if nobody works on its rows, with those that were made."""
        self._pass_time()
        if self._shares.pop(shard, None) is not None:
            self._timed += made
        if share is not None:
            self._shares[shard] = min(max(share, 0.0), 1.0)
        self._pass_time()

    @property
    def rows_done(self) -> int:
        """Number of rows done, including those of shards that are still being made."""
        return self._rows("made", "committed") + self._in_work()

    def count(self, *states: State) -> int:
        """Return the number of shards in some states."""
        return sum(shard.state in states for shard in self.shards)

    @property
    def standing(self) -> tuple[int, int, int, str]:
        """What has been reached so far, and what is waited for; it stays the same as long as nothing moves."""
        waits_for = ""
        if self._since is None and self.count("submitted", "running"):
            waits_for = "loading" if self.count("running") else "waiting for a worker"
        return self.count("made", "committed"), self.count("failed", "left out"), self.rows_done, waits_for

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
