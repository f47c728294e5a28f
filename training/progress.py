"""How far a long piece of work is: a line every ten seconds in the log of the process, none where it is short."""

import logging
import time

log = logging.getLogger("training")
"""Of all trainings: not `__name__`, which is `__main__` in a process of its own."""

EVERY = 10.0
"""Seconds between two lines; nothing that takes longer is silent."""


class Counted:
    """Work that is counted, and told about now and then.

    Args:
        work: what is done, such as "encoding".
        total: how many there are to do.
        unit: of what, such as "sentences".
    """

    def __init__(self, work: str, total: int, unit: str) -> None:
        self.work, self.total, self.unit = work, total, unit
        self.done = 0
        self.started = self.told = time.monotonic()

    def add(self, count: int) -> None:
        """Count some that are done."""
        self.done += count
        now = time.monotonic()
        if now - self.told < EVERY or self.done >= self.total:
            return
        self.told = now
        speed = self.done / (now - self.started)
        left = duration((self.total - self.done) / speed)
        log.info(
            "%s: %s of %s %s, %.0f/s, %s left",
            *(self.work, f"{self.done:,}", f"{self.total:,}", self.unit, speed, left),
        )


def duration(seconds: float) -> str:
    """Return a time in words: "40 s", "12 min"."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
