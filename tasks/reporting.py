"""How a worker reports its progress in a shard to the flow: over Dask's own connection, rarely, and without risk.

    stage ── on_rows(done, total) ──> worker ── topic ──> scheduler ──> flow, which shows it

Stages know nothing of this: they just call a function with two numbers.
"""

import time
from contextlib import suppress

from distributed import get_worker

from features.core.types import OnRows, ignore_rows

EVERY = 1.0
"""Seconds between two reports of a shard."""


def reporter(topic: str, stage: str, shard: str) -> OnRows:
    """Return a callback that reports the progress of a shard to the subscribers of a topic.

    Returns:
        A function that does nothing if there is no worker, as in a notebook. The first and last report of a shard are
        always sent, others at most once in `EVERY` seconds.
    """
    try:
        worker = get_worker() if topic else None
    except ValueError:
        worker = None
    if worker is None:
        return ignore_rows
    name, told = str(worker.name), 0.0

    def on_rows(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if 0 < done < total and now - told < EVERY:
            return
        told = now
        with suppress(Exception):  # a report must never endanger its shard
            # Not "worker": the scheduler writes the address there.
            message = {"stage": stage, "shard": shard, "done": int(done), "total": int(total), "by": name}
            worker.log_event(topic, message)

    return on_rows
