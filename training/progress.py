"""Progress of long work: a line every ten seconds in the log of the process, none if it is short."""

import logging
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

log = logging.getLogger("training")
"""Logger of all trainings: not `__name__`, which is `__main__` in a separate process."""

EVERY = 10.0
"""Seconds between two lines; anything that takes longer reports progress."""


BatchT = TypeVar("BatchT", bound=Sized)


def with_progress(batches: Iterable[BatchT], work: str, total: int, unit: str) -> Iterator[BatchT]:
    """Yield batches of some items, such as "sentences", and log the progress of work on them, such as "encoding"."""
    done = 0
    started = logged = time.monotonic()
    for batch in batches:
        yield batch
        done += len(batch)
        now = time.monotonic()
        if now - logged >= EVERY and done < total:
            logged, speed = now, done / (now - started)
            left = duration((total - done) / speed)
            log.info("%s: %s of %s %s, %s/s, %s left", work, f"{done:,}", f"{total:,}", unit, f"{speed:,.0f}", left)


def duration(seconds: float) -> str:
    """Return a duration as text: "40 s", "12 min"."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
