"""What a user sees of a build: bars on a terminal, nothing with `--quiet`, else a line for what moved in ten seconds.

amr           ━━━━━━━╺━━━━  12/30 shards  51,370/122,880 rows  310 rows/s  0:03:50 left
"""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column

from flows import terminal
from flows.terminal import Verbosity, verbosity
from flows.watching.shard_history import BuildHistory
from flows.watching.stage_progress import StageProgress

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
            self.callback(setattr, self, "_progress", None)
            self.enter_context(terminal.written_by(partial(self.console.print, markup=False)))
        return self

    def plan(self) -> None:
        """Show the stages that have something to do, by the history."""
        for stage in dict.fromkeys(shard.stage for shard in self.history.shards):
            shards = [shard for shard in self.history.shards if shard.stage == stage]
            self._stages.setdefault(stage, StageProgress(shards)).shards = shards
            if self._progress is not None:
                if stage not in self._bars:
                    self._bars[stage] = self._progress.add_task(stage, line="")
                self._progress.update(self._bars[stage], total=sum(shard.rows for shard in shards))
                self._show(stage)

    def reported(self, stage: str, shard: str, done: int, total: int, worker: str) -> None:
        """Record how many parts of its shard a worker has done; of 0 while it reads its input and loads a model."""
        if total == 0:
            terminal.detail(f"{stage} {shard}: begun by {worker}")
        if self.history.report(stage, shard, total, worker):
            self._stages[stage].work(shard, done, total)

    def taken_back(self, stage: str, shard: str) -> None:
        """Record that a shard is no longer being made and will be submitted again."""
        terminal.detail(f"{stage} {shard}: lost with its worker, to be tried again")
        self._stages[stage].rest(shard)
        self.history.take_back(stage, shard)

    def done(self, stage: str, shard: str, rejects: int, seconds: float | None) -> None:
        """Record a shard that was made in a time of its worker; None if that found it committed."""
        how = "was committed already" if seconds is None else f"done in {seconds:.1f} s, {rejects} rejected"
        terminal.detail(f"{stage} {shard}: {how}")
        self._stages[stage].rest(shard, made=self.history.make(stage, shard, rejects, seconds).rows)
        self._show(stage)

    def failed(self, stage: str, shard: str, error: str) -> None:
        """Record a shard that could not be made."""
        terminal.detail(f"{stage} {shard}: failed: {error}")
        self._stages[stage].rest(shard)
        self.history.fail(stage, shard, error)
        self._show(stage)

    def left_out(self, stage: str, shard: str) -> None:
        """Record a shard that is not begun because one that it needs failed."""
        self.history.leave_out(stage, shard)
        self._show(stage)

    def tick(self) -> None:
        """Show the progress; called a few times a second, from the thread that does the rest."""
        self.on_tick()
        if self._progress is not None:
            for stage in self._stages:
                self._show(stage)
        elif time.monotonic() - self._printed >= PLAIN_EVERY:
            self._printed = time.monotonic()
            waiting = {stage: progress for stage, progress in self._stages.items() if progress.busy}
            on_workers = {stage: progress for stage, progress in waiting.items() if progress.on_worker}
            for stage, progress in (on_workers or waiting).items():
                if self._said.get(stage) != progress.standing:
                    self._said[stage] = progress.standing
                    terminal.say(f"{stage:<13} {progress.line()}")

    def _show(self, stage: str) -> None:
        progress = self._stages[stage]
        if self._progress is not None:
            self._progress.update(self._bars[stage], completed=progress.rows_done, line=progress.line())
        elif progress.ended:
            terminal.say(f"{stage:<13} {progress.line()}")
