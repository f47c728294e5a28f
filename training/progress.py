"""Progress of long work: a line every ten seconds in the log of the process, none if it is short."""

import logging
import time

log = logging.getLogger("training")
"""Logger of all trainings: not `__name__`, which is `__main__` in a separate process."""

EVERY = 10.0
"""Seconds between two lines; anything that takes longer reports progress."""


class Counted:
    """Counter of work, such as "encoding", on a number of items, such as "sentences", whose progress is logged."""

    def __init__(self, work: str, total: int, unit: str) -> None:
        self.work, self.total, self.unit = work, total, unit
        self.done = 0
        self.started = self.told = time.monotonic()

    def add(self, count: int) -> None:
        """Count finished items."""
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
    """Return a duration as text: "40 s", "12 min"."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
