"""Garbage collection in its own thread, for the process of a Prefect server on SQLite.

In Python 3.11, a statement that finds the database busy leaves its cursor behind: the exception's traceback holds it,
and only the cyclic collector frees it. Freeing it waits for the connection, which may meanwhile wait for the write lock
in its own thread. If the event loop's thread collects, the coroutine that holds that lock cannot continue:

    event loop        collects ─► frees a cursor ─► waits for connection 2
    thread of 2       BEGIN IMMEDIATE ─► waits for the write lock, which connection 1 holds
    coroutine of 1    COMMIT comes next ─► waits for the event loop

Nothing moves until the busy timeout of SQLite, 60 s in Prefect's server, as long as its clients wait. Two flows
that end runs one after the other and two observers are enough to lose every other minute this way (prefect 3.8.8,
SQLAlchemy 2.0.58, aiosqlite 0.22.1). A thread that does nothing but collect may safely wait for a connection.
"""

import gc
import threading
import time

_FULL_EVERY = 60


def collect_apart(seconds: float = 1.0) -> None:
    """Turn automatic collection off and collect in a thread from now on, for as long as the process lives."""

    def collect() -> None:
        count = 0
        while True:
            time.sleep(seconds)
            count += 1
            gc.collect(1 if count % _FULL_EVERY else 2)

    gc.disable()
    threading.Thread(target=collect, daemon=True, name="garbage").start()
