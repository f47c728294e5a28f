"""What a user sees of a build: bars on a terminal, plain lines anywhere else.

amr       ━━━━━━━━━╺━━━━━━━━━━  12/30 shards   49,152 rows   310 rows/s   0:03:57 left
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

PLAIN_EVERY = 15.0
"""Seconds between two plain lines of one stage."""


@dataclass
class StageProgress:
    """What has been done of a stage.

    Args:
        shards: shards to do.
        rows: rows that go into them.
    """

    shards: int
    rows: int
    done: int = 0
    failed: int = 0
    rows_done: int = 0
    rejects: int = 0
    started: float | None = None
    told: float = field(default=0.0, repr=False)

    def line(self) -> str:
        """Return counts, rate and the time that is left, as one text."""
        parts = [f"{self.done}/{self.shards} shards", f"{self.rows_done:,} rows"]
        if self.rejects:
            parts.append(f"{self.rejects:,} rejected")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.started is not None and self.rows_done:
            elapsed = max(time.monotonic() - self.started, 1e-3)
            rate = self.rows_done / elapsed
            parts.append(f"{rate:,.0f} rows/s")
            if self.done + self.failed < self.shards:
                parts.append(f"{_clock((self.rows - self.rows_done) / rate)} left")
        return "   ".join(parts)


class BuildProgress:
    """The progress of a build on standard error.

    Args:
        console: where to write; standard error by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._stages: dict[str, StageProgress] = {}
        self._bars: dict[str, TaskID] = {}
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            columns = (TextColumn("{task.description:<13}"), BarColumn(bar_width=24), TextColumn("{task.fields[line]}"))
            self._progress = Progress(*columns, console=self.console)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def say(self, text: str) -> None:
        """Write a line, above the bars where there are any."""
        self.console.print(text, markup=False)

    def plan(self, work: Mapping[str, tuple[int, int]]) -> None:
        """Show the stages that have something to do.

        Args:
            work: stage → shards and rows to do.
        """
        for stage, (shards, rows) in work.items():
            self._stages[stage] = StageProgress(shards, rows)
            if self._progress is not None:
                self._bars[stage] = self._progress.add_task(stage, total=shards, line=self._stages[stage].line())

    def start(self, stage: str) -> None:
        """Note that the first shard of a stage has been given to a worker."""
        if self._stages[stage].started is None:
            self._stages[stage].started = time.monotonic()

    def done(self, stage: str, rows: int, rejects: int) -> None:
        """Note a shard that was made.

        Args:
            stage: its stage.
            rows: rows that went in.
            rejects: rows that were rejected.
        """
        progress = self._stages[stage]
        progress.done += 1
        progress.rows_done += rows
        progress.rejects += rejects
        self._show(stage)

    def failed(self, stage: str) -> None:
        """Note a shard that could not be made."""
        self._stages[stage].failed += 1
        self._show(stage)

    def _show(self, stage: str) -> None:
        progress = self._stages[stage]
        finished = progress.done + progress.failed
        if self._progress is not None:
            self._progress.update(self._bars[stage], completed=finished, line=progress.line())
        elif finished == progress.shards or time.monotonic() - progress.told > PLAIN_EVERY:
            progress.told = time.monotonic()
            self.say(f"{stage:<13} {progress.line()}")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
