"""Times: processor time of one core, the best of some runs."""

import gc
import time
from collections.abc import Callable


def best(runs: int, work: Callable[[], object]) -> float:
    """Return the shortest processor time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        gc.collect()
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def row(name: str, seconds: float, note: str = "") -> None:
    """Print pairs per second and microseconds per pair."""
    print(f"{name:36}{1 / seconds:12,.0f}{seconds * 1e6:12,.1f}   {note}".rstrip())


def head(title: str) -> None:
    """Print the header of a table of rows."""
    print(f"\n{title:36}{'pairs/s':>12}{'µs/pair':>12}")
