"""The process of our own Prefect server: `python -m flows.server.server_process HOME SOCKET PARENT private|lasting`.

It serves Prefect's API on an inherited socket and ends when told to, or when its parent is gone: a killed flow must
leave nothing behind. Creating the database takes half of a first start, so an empty one is kept in the user's cache.

    private    for one command: its folder is removed with it, no schedules, no pages
    lasting    for `facetflow up`: keeps its database
"""

import asyncio
import gc
import os
import shutil
import signal
import socket
import sqlite3
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

from features.core.durable import write_whole
from flows.server.watchdog import end_with

_FULL_EVERY = 60


def collect_apart(seconds: float = 1.0) -> None:
    """Turn automatic collection off and collect in a thread from now on, for as long as the process lives.

    In Python 3.11, a statement that finds the database busy leaves its cursor behind: the exception's traceback holds
    it, and only the cyclic collector frees it. Freeing it waits for the connection, which may meanwhile wait for the
    write lock in its own thread. If the event loop's thread collects, the coroutine that holds that lock cannot go on:

        event loop        collects ─► frees a cursor ─► waits for connection 2
        thread of 2       BEGIN IMMEDIATE ─► waits for the write lock, which connection 1 holds
        coroutine of 1    COMMIT comes next ─► waits for the event loop

    Nothing moves until the busy timeout of SQLite, 60 s in Prefect's server, as long as its clients wait. Two flows
    that end runs one after the other and two observers are enough to lose every other minute this way (prefect 3.8.8,
    SQLAlchemy 2.0.58, aiosqlite 0.22.1). A thread that does nothing but collect may safely wait for a connection.
    """

    def collect() -> None:
        count = 0
        while True:
            time.sleep(seconds)
            count += 1
            gc.collect(1 if count % _FULL_EVERY else 2)

    gc.disable()
    threading.Thread(target=collect, daemon=True, name="garbage").start()


def main(home: Path, descriptor: int, parent: int, *, lasting: bool) -> None:
    """Serve on a bound TCP socket until SIGTERM or the end of the parent, then remove its home if nobody else does."""

    def clean_up() -> None:
        if not lasting and os.getppid() != parent:  # which reads the log first
            shutil.rmtree(home, ignore_errors=True)

    end_with(parent, clean_up)
    os.umask(0o077)  # what is in the database is for its owner only
    for file in home.glob("prefect.db*"):  # also where it was made under another mask
        file.chmod(0o600)
    # uvicorn stops on SIGTERM and then raises it again for this handler, so the folder is removed below.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        _serve(home, descriptor, lasting=lasting)
    except Exception:  # noqa: BLE001 (the parent shows its last line)
        traceback.print_exc()
    finally:
        clean_up()
        os._exit(0)  # nothing is left to flush, and ending all threads in order takes another second


def _serve(home: Path, descriptor: int, *, lasting: bool) -> None:
    gc.disable()  # imports leave nothing to collect, and looking for garbage takes a tenth of their time
    if not lasting:
        _prepare_database(home)

    import uvicorn
    from prefect.server.api.server import create_app
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    # A page that a browser was given under another name for 127.0.0.1 must not be answered.
    app = TrustedHostMiddleware(create_app(ephemeral=not lasting, final=True), ["127.0.0.1"], www_redirect=False)
    config = uvicorn.Config(app, log_level="error", lifespan="on")
    gc.freeze()
    collect_apart()
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def _prepare_database(home: Path) -> None:
    import prefect

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    template = cache / "facetflow" / f"prefect-{prefect.__version__}.db"
    database = home / "prefect.db"
    if os.access(template, os.R_OK) and template.stat().st_size:  # not another user's, or emptied by a power cut
        shutil.copyfile(template, database)
        # Read when the settings are created, which happens below.
        os.environ["PREFECT_API_DATABASE_MIGRATE_ON_START"] = "false"
        return
    from prefect.server.database import provide_database_interface

    asyncio.run(provide_database_interface().create_db())
    copy = home / "empty.db"
    with suppress(OSError, sqlite3.Error):  # a cache that cannot be written only costs the next start some seconds
        # SQLite's own backup, because the newest pages may still be in its log.
        with sqlite3.connect(database) as source, sqlite3.connect(copy) as target:
            source.backup(target)
        write_whole(template.parent, template.name, copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), lasting=sys.argv[4] == "lasting")
