"""Progress of a command through a file: a bar on a terminal, a line every ten seconds of progress anywhere else.

sentences ━━━━━━━━━╺━━━━━━━━━━  12,288 of 20,000   466 a second   0:00:17 left
"""

import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from features.core.wording import clock
from flows.terminal import Verbosity, say, verbosity
from flows.watching.progress import PLAIN_EVERY, tells


class FileProgress(ExitStack):
    """Progress on standard error, as an `OnRows` of `features.core.types`; `what` is counted, in the plural."""

    def __init__(self, what: str, console: Console | None = None) -> None:
        super().__init__()
        self._what = what
        self._console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._done = self._total = 0
        self._said: tuple[int, int] | None = None
        """Counts of the last line."""
        self._started = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        """Record how many of all are done."""
        if not self._total:
            self._started = time.monotonic()  # models are loaded by now
        self._done, self._total = done, total
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total, line=self.line())

    def __enter__(self) -> Self:
        if verbosity() < Verbosity.NORMAL:
            return self
        if self._console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[line]}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(self._what, total=None, line="")
            self._bar.start()
            self.callback(_stop, self._bar)
        else:
            ended = threading.Event()
            thread = threading.Thread(target=self._tick, args=(ended,), daemon=True, name="file progress")
            thread.start()
            self.callback(thread.join)  # no line is written after the end
            self.callback(ended.set)
        return self

    def line(self) -> str:
        """Return counts, rate and remaining time as one text."""
        if not self._total:
            return "reading files, loading models"
        parts = [f"{self._done:,} of {self._total:,}"]
        elapsed = time.monotonic() - self._started
        if elapsed > 0 and tells(self._done / self._total, elapsed):
            rate = self._done / elapsed
            parts += [f"{rate:,.0f} a second", f"{clock((self._total - self._done) / rate)} left"]
        return "   ".join(parts)

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(PLAIN_EVERY):
            self._say()

    def _say(self) -> None:
        if self._said != (self._done, self._total):
            self._said = (self._done, self._total)
            say(f"{self._what}  {self.line()}")


def _stop(bar: Progress) -> None:
    with suppress(OSError):  # its terminal was closed, which is no reason to lose what was made
        bar.stop()
