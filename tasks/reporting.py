"""How a worker tells the flow where it is in a shard: over Dask's own connection, rarely, and never at any risk.

    stage ── on_rows(done, total) ──> worker ── topic ──> scheduler ──> flow, which shows it

Stages know nothing of this: they call a function with two numbers.
"""

import time
from collections.abc import Callable
from contextlib import suppress

from distributed import get_worker

from features.rows import OnRows, ignore_rows

EVERY = 1.0
"""Seconds between two reports of a shard."""


def reporter(topic: str, stage: str, shard: str) -> OnRows:
    """Return what tells all who have subscribed to a topic how far a shard is.

    Args:
        topic: of Dask; empty for nobody.
        stage: the stage.
        shard: the shard.

    Returns:
        A function that does nothing where there is no worker, as in a notebook. The first and the last report of a
        shard are sent in any case, others at most once in `EVERY` seconds.
    """
    try:
        worker = get_worker() if topic else None
    except ValueError:
        worker = None
    if worker is None:
        return ignore_rows
    name = str(worker.name)

    def send(done: int, total: int) -> None:
        # A report is worth nothing beside the shard that it is about.
        with suppress(Exception):
            # Not "worker": the scheduler writes the address there.
            message = {"stage": stage, "shard": shard, "done": int(done), "total": int(total), "by": name}
            worker.log_event(topic, message)

    return rarely(send)


def rarely(send: Callable[[int, int], None]) -> OnRows:
    """Return a function that calls another at most once in `EVERY` seconds, but always at the beginning and the end."""
    told = 0.0

    def on_rows(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if 0 < done < total and now - told < EVERY:
            return
        told = now
        send(done, total)

    return on_rows
