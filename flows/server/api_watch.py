"""What a build does when Prefect's server disappears: it ends with an error that names the server and fails no shard.

Workers need no answer to make a shard, so no shard fails meanwhile; what Prefect would have shown of them is lost.
"""

import threading
import time

from features.core.errors import RunError
from features.core.faults import ServerSilent
from flows.server.passwords import shown
from flows.server.prefect_address import Standing, somebody_listens, standing

GONE_AFTER = 20.0
"""Seconds without an answer after which a server that takes no connections counts as gone."""
STILL_AFTER = 90.0
"""The same for a server that takes connections. Prefect's waits up to 60 s for SQLite and answers nobody meanwhile."""
_ASK_EVERY = 2.0
_TIMEOUT = 5.0


class ApiWatch:
    """Polls Prefect's server, by the address of its API, from its own thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._answered = time.monotonic()
        self._asked = self._answered
        self._standing: Standing = "answers"
        self._ended = threading.Event()
        threading.Thread(target=self._run, daemon=True, name="Prefect watch").start()

    def stop(self) -> None:
        """Stop asking."""
        self._ended.set()

    def check(self) -> None:
        """Raise if the server has not answered repeated requests for `GONE_AFTER` or `STILL_AFTER` seconds."""
        # Both times are the thread's: while this process is suspended, it does not ask.
        if self._asked - self._answered > (GONE_AFTER if self._standing == "gone" else STILL_AFTER):
            from prefect.settings import get_current_settings

            get_current_settings().client.max_retries = 0  # else Prefect would try for minutes to report the end
            raise is_gone(self._url)

    def _run(self) -> None:
        while not self._ended.wait(_ASK_EVERY):
            before = time.monotonic()
            if before - self._asked > _ASK_EVERY + 2 * _TIMEOUT:
                self._answered = before  # this process was suspended
            self._standing = standing(self._url, timeout=_TIMEOUT)
            if self._standing == "answers":
                self._answered = time.monotonic()
            self._asked = time.monotonic()


def is_gone(url: str) -> RunError:
    """Return the error for a server that is gone."""
    if somebody_listens():
        return ServerSilent(
            f"The Prefect server at {shown(url)} no longer answers: start it again and run the same command; no "
            "shard is to blame, and what was committed is kept."
        )
    return ServerSilent(
        "The private Prefect server of this command has ended, perhaps for lack of memory: run the same command again; "
        "no shard is to blame, and what was committed is kept."
    )
