"""Where the time of a command goes, in consecutive parts that add up.

    ├── start ──┼── check ──┼── ingest ──┼── plan ──┼── cluster ──┼── stages ──┼── … ──┤   total

The total counts from the start of the process if it is a command of its own; otherwise from the start of the flow.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

_process_is_command = False


def count_from_process_start() -> None:
    """Declare that this process runs a single command, so that the time before its flow counts too."""
    global _process_is_command  # noqa: PLW0603 (a process is a command or is not)
    _process_is_command = True


class WallTime:
    """Wall time by part.

    Parts may be nested: the outer one then pauses, so that every moment counts once.
    """

    def __init__(self) -> None:
        self._now = time.monotonic()
        self._open = ["other"]
        self._parts: dict[str, float] = {}
        if _process_is_command:
            self._parts["start"] = max(0.0, time.time() - psutil.Process().create_time())

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time in this context towards a part."""
        self._count()
        self._open.append(name)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def parts(self) -> dict[str, float]:
        """Return part → seconds so far, in order of their begin; `total`, the sum of the others, comes last."""
        self._count()
        rounded = {name: round(seconds, 3) for name, seconds in self._parts.items()}
        rounded["other"] = rounded.pop("other")
        return rounded | {"total": round(sum(rounded.values()), 3)}

    def _count(self) -> None:
        now = time.monotonic()
        part = self._open[-1]
        self._parts[part] = self._parts.get(part, 0.0) + now - self._now
        self._now = now


def summary(wall: Mapping[str, float]) -> str:
    """Return the parts of a run in one line.

    >>> summary({"start": 4.0, "ingest": 0.25, "other": 0.01, "total": 4.26})
    'start 4.0 s + ingest 0.2 s + other 0.0 s = 4.3 s'
    """
    parts = " + ".join(f"{part} {seconds:.1f} s" for part, seconds in wall.items() if part != "total")
    return f"{parts} = {wall['total']:.1f} s"
