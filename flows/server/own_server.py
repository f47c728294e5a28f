"""The Prefect API of a run: the configured one, or a private server that lives as long as the run.

Without an API every Dask worker would start its own Prefect server, 12 s each. So one server is started before anything
imports Prefect, and its address is exported to every later process.

    flow process ── starts ──► flows.server.server_process   127.0.0.1, a free port, SQLite in a temporary folder
         └───── PREFECT_API_URL, PREFECT_API_AUTH_STRING ──► Dask workers

Every user of the machine can reach the port, and whoever may use the API runs code as us. So each server asks for a
password of its own, and answers only to its own address: a page from elsewhere cannot reach it through a browser.
"""

import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from features.core.errors import FacetflowError
from features.core.exported import exported
from features.core.faults import ServerNotStarted, ServerRefused, ServerSilent
from features.core.leftovers import scratch_folder
from flows.server.passwords import shown, with_credentials
from flows.server.prefect_address import PRIVATE, START_TIMEOUT, answers, configured_api, talking_to
from flows.terminal import Verbosity, verbosity
from training.writing import require_writable

_STOP_TIMEOUT = 5.0
_POLL = 0.05

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    # Errors reach the user as one sentence; Prefect would print their traceback first.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    # Shards are logged in the run's folder; sending every line to the API too would cost requests.
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
    # 2, 4 and 8 s apart: enough for a server to be restarted; five would take two minutes to give up.
    "PREFECT_CLIENT_MAX_RETRIES": "3",
}
"""Environment of every process of a run: no analytics, warnings only, no second server by accident."""

TALKING = {
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS": "flows.server.worker_log.VisibleHandler",
}
"""What `--verbose` sets instead: one line for every flow and task run, with its state."""


class OwnServer:
    """Our own Prefect server: started at once, waited for when it is needed, always stopped.

    The process ends by itself when the process that started it is gone, however that ended. It listens at a port of
    127.0.0.1, 0 for a free one. With a `home`, the folder of its database, it keeps that, has Prefect's pages and
    schedules, stores events and starts what they trigger. Otherwise its folder is temporary, and it does without:
    nobody listens to the `events` of a server that ends with the command that started it.

    Attributes:
        url: address of its API.
        credentials: name and password that it asks for, `name:password`.
        log_before: file with the log of its process before a restart.
    """

    def __init__(self, home: Path | None = None, port: int = 0, *, events: bool = False) -> None:
        self._lasting = lasting = home is not None
        # The socket is handed over and stays open here: another user who had the port while the server is restarted
        # would be told the password.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if lasting:  # connections to its predecessor may still be closing
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
            self._listener.listen()
        except OSError as error:
            self._listener.close()
            reason = os.strerror(error.errno or 0)
            taken = f"Port {port} of 127.0.0.1 cannot be used ({reason}): give another one, from 1024 up, with --port."
            none = f"No port of 127.0.0.1 is free for a Prefect server ({reason}): free one."
            raise ServerNotStarted(taken if port else none) from error
        self._held = -1
        if home is None:
            # Held by the server's process too: as long as one of the two lives, the folder is no leftover.
            home, self._held = scratch_folder("prefect")
        self.home = home
        self._log, self.log_before = home / "server.log", home / "server.log.1"
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/api"
        self.credentials = f"facetflow:{secrets.token_urlsafe(32)}"
        database = (home / "prefect.db").absolute().as_uri()  # of a path alone, SQLAlchemy would take "?" for its end
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        self._environment |= QUIET | {
            "PREFECT_HOME": str(self.home),
            # A prefect.toml or .env in this folder may name that of another server.
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}?uri=true",
            "PREFECT_SERVER_API_AUTH_STRING": self.credentials,
            "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": self.url.removesuffix("/api"),
            "PREFECT_SERVER_UI_API_URL": self.url,
            # Prefect would write its pages beside its code, which may be somebody else's.
            "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(self.home / "pages"),
            "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
            # Without blocks to register there is nothing to memoise, and Dask need not be imported for it.
            "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
            "PREFECT_SERVER_UI_ENABLED": str(lasting).lower(),
            # Events of a build are confirmed once written; by default that happens every 5 s.
            "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_FLUSH_INTERVAL": "0.2",
        }
        if lasting:
            self._environment |= {
                # Otherwise the slots that runs hold would be forgotten when the server is restarted.
                "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
                # Remove runs after 90 days, as events after a week; by default they stay, and the database grows.
                "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
                # After a night without `up` all that is scheduled ahead is late: not more than until its next look.
                "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_RUNS": "1",
                "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_SCHEDULED_TIME": "PT2M",
            }
        if not (lasting or events):
            for service in ("TRIGGERS", "EVENT_PERSISTER", "TASK_RUN_RECORDER"):
                self._environment[f"PREFECT_SERVER_SERVICES_{service}_ENABLED"] = "false"
        self._start()

    @property
    def address(self) -> str:
        """Address of its API with name and password, for our own clients; never shown."""
        return with_credentials(self.url, self.credentials)

    def restart(self) -> None:
        """End the server's process, if it still runs, and start another one with the same address and password."""
        self._end_process()
        self._start()

    def _start(self) -> None:
        with suppress(FileNotFoundError):  # why its predecessor ended
            self._log.replace(self.log_before)
        descriptor = self._listener.fileno()
        arguments = (str(self.home), str(descriptor), str(os.getpid()), "lasting" if self._lasting else "private")
        with self._log.open("ab") as log:  # what rotates it may cut it off meanwhile
            self._process = subprocess.Popen(
                [sys.executable, "-m", "flows.server.server_process", *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(descriptor, *(() if self._lasting else (self._held,))),
                start_new_session=True,  # an interrupt at the terminal is for the flow, which then stops the server
            )
        threading.Thread(target=self._refuse_connections, args=[self._process], daemon=True).start()

    def _refuse_connections(self, process: "subprocess.Popen[bytes]") -> None:
        """Close every connection once a process has ended, until another one serves; the port stays taken.

        Clients would wait for minutes otherwise, and one of them is the command that is to restart the server.
        """
        process.wait()
        with suppress(OSError, ValueError):  # stopped
            self._listener.settimeout(0.0)
            while self._process is process:
                if select.select([self._listener], [], [], _POLL)[0]:
                    with suppress(BlockingIOError):  # its successor was faster
                        self._listener.accept()[0].close()

    def wait_until_ready(self) -> None:
        """Return when the server answers; raise if it ended, or did not within `START_TIMEOUT` seconds."""
        deadline = time.monotonic() + START_TIMEOUT
        while not answers(self.url):
            if self.ended():
                ended = f"The Prefect server ended while starting ({self._last_words()})"
                raise ServerNotStarted(f"{ended}: correct what stopped it and run the same command again.")
            if time.monotonic() > deadline:
                raise ServerSilent(
                    f"The Prefect server did not answer at {self.url} within {START_TIMEOUT:.0f} s "
                    f"({self._last_words()}): run the same command again, when this machine has less to do."
                )
            time.sleep(_POLL)

    def ended(self) -> bool:
        """Return whether the server's process is gone."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the server's process and remove a temporary folder; safe to call twice."""
        self._end_process()
        with suppress(OSError):  # already closed
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that refuses connections
        self._listener.close()
        if not self._lasting:  # left by a process that was killed or never came up
            shutil.rmtree(self.home, ignore_errors=True)
            if self._held >= 0:
                os.close(self._held)
                self._held = -1

    def _end_process(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        if not lines and self.home.exists():
            require_writable(self.home)  # or it raises why not, such as a full disk
        log = f"; its log is {str(self._log)!r}" if self._lasting else ""
        return f"{lines[-1].rstrip('.') if lines else 'it left no message'}{log}"


@contextmanager
def prefect_api() -> Iterator[OwnServer | None]:
    """Export the Prefect API of the run to this process and its children.

    Enter it before Prefect is first imported, and call `wait_until_ready` on what it yields before the first flow runs:
    the imports and the start of the server then overlap.

    Yields:
        The private server, or None if one is configured (`flows.server.prefect_address`).
    """
    for name, value in (QUIET | (TALKING if verbosity() >= Verbosity.VERBOSE else {})).items():
        os.environ.setdefault(name, value)
    if url := configured_api():
        if not answers(url, timeout=5.0):
            lacks = "" if "/api/" in f"{url}/" else ", perhaps as its address lacks /api at the end"
            raise ServerSilent(
                f"The Prefect API at {shown(url)} does not answer{lacks}: end it if it hangs, and start it "
                "(`facetflow down`, `up`; `prefect server start`), or set PREFECT_API_URL to an empty value to use a "
                "private server."
            )
        with talking_to(url):
            try:
                yield None
            except Exception as error:
                # An error of ours tells of one thing that is forbidden, such as a pool, or a bucket to another key.
                ours = isinstance(error, FacetflowError)
                forbids = "403 Forbidden" in str(error) and not ours
                asks = "401 Unauthorized" in str(error) and (not ours or isinstance(error, ServerRefused))
                if not forbids and not asks:
                    raise
                raise ServerRefused(
                    f"The Prefect server at {shown(url)} asks for another password or key: set PREFECT_API_AUTH_STRING "
                    "to its `name:password`, or PREFECT_API_KEY."
                ) from error
        return
    server = OwnServer()
    try:
        with exported({"PREFECT_HOME": str(server.home), PRIVATE: "1"}), talking_to(server.address):
            yield server
    finally:
        server.stop()
