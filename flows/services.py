"""What `facetflow up` keeps running on one machine: a Prefect server with a database file, and a worker.

    up ──┬── server    127.0.0.1, the database in the user's state folder
         ├── worker    runs what the server schedules: builds, trainings, evaluations
         └── up.json   process and address; who finds it uses that server

Both are started again when they end by themselves, and end with this process, however that ends.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from features.errors import RunError
from features.store import folder
from flows.prefect_address import state_folder
from flows.server import OwnServer
from flows.terminal import warn

STOP_TIMEOUT = 60.0
"""Seconds that running flows have to end in an orderly way before they are killed; what they committed stays."""
_POLL = 0.5
_RESTARTS, _WITHIN = 5, 300.0
"""So many restarts within so many seconds are no accident any more."""


@dataclass(frozen=True, slots=True)
class Running:
    """What `facetflow up` runs.

    Args:
        process: process id of `facetflow up`.
        url: address of the server's API.
    """

    process: int
    url: str


def running() -> Running | None:
    """Return what runs for this user, None where nothing does."""
    state = state_folder()
    try:
        with (state / "up.lock").open("rb") as lock:
            # Shared: commands that ask at the same time must not take each other for `facetflow up`.
            if _free(lock.fileno(), fcntl.LOCK_SH):
                return None
    except FileNotFoundError:
        return None
    try:
        known = json.loads((state / "up.json").read_text(encoding="utf-8"))
        return Running(int(known["process"]), str(known["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it has just begun


def keep_running(pool: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Start server and worker, and keep them running until this process is told to end.

    Args:
        pool: work pool of the worker.
        port: of the server; when 0, the one it had before where that is free, else any.
        on_ready: called once with the server's address, before the worker starts.

    Raises:
        RunError: it runs already, the port is taken, or what was started ends again and again.
    """
    state = state_folder()
    state.mkdir(parents=True, exist_ok=True)
    with _only_one(state):
        server = _start_server(state, port)
        worker: subprocess.Popen[bytes] | None = None
        restarts: list[float] = []
        try:
            server.wait_until_ready()
            os.environ["PREFECT_API_URL"] = server.url
            known = {"process": os.getpid(), "url": server.url, "port": server.port}
            folder.write(state, "up.json", json.dumps(known).encode())
            on_ready(server.url)
            worker = _start_worker(pool)
            while True:
                time.sleep(_POLL)
                if server.ended():
                    _count(restarts, "The Prefect server", state / "prefect" / "server.log")
                    server = _start_server(state, server.port)
                    server.wait_until_ready()
                if worker.poll() is not None:
                    _count(restarts, "The worker", None)
                    _end(worker)  # what it had started
                    worker = _start_worker(pool)
        finally:
            (state / "up.json").unlink(missing_ok=True)
            if worker is not None:
                _end(worker)
            server.stop()


def stop() -> bool:
    """End what `facetflow up` runs, and return when it is gone.

    Returns:
        Whether it ran.

    Raises:
        RunError: it does not end.
    """
    known = running()
    if known is None:
        return False
    with suppress(ProcessLookupError):  # it has ended by itself in this moment
        os.kill(known.process, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT + 30
    while running() is not None:
        if time.monotonic() > deadline:
            raise RunError(f"Process {known.process} of `facetflow up` does not end: end it with kill -9.")
        time.sleep(_POLL)
    return True


def systemd_unit(project_file: Path, arguments: list[str]) -> str:
    """Return a systemd user unit that runs `facetflow up` for a project.

    Args:
        project_file: absolute path of the project file.
        arguments: further arguments of `facetflow up`.
    """
    words = [sys.executable, "-m", "flows.command_line", "up", "--project", str(project_file), *arguments]
    # systemd takes % for its own specifiers and $ for variables, also within quotes.
    special = str.maketrans({"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$"})
    command = " ".join(f'"{word.translate(special)}"' for word in words)
    return f"""\
[Unit]
Description=facetflow: schedule, worker and Prefect server
After=network.target

[Service]
ExecStart={command}
Restart=on-failure
SuccessExitStatus={128 + signal.SIGTERM:d}
KillMode=mixed
TimeoutStopSec={STOP_TIMEOUT + 30:.0f}

[Install]
WantedBy=default.target
"""


@contextmanager
def _only_one(state: Path) -> Iterator[None]:
    with (state / "up.lock").open("a+") as lock:
        # Another command that asks whether it runs holds the lock for a moment.
        deadline = time.monotonic() + 4 * _POLL
        while not (free := _free(lock.fileno(), fcntl.LOCK_EX)) and time.monotonic() < deadline:
            time.sleep(_POLL)
        if not free:
            raise RunError(
                "`facetflow up` runs already for this user: see `facetflow status`, end it with `facetflow down`."
            )
        yield


def _free(descriptor: int, kind: int) -> bool:
    """Take a lock if nobody holds it, and return whether that was so."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start_server(state: Path, port: int) -> OwnServer:
    home = state / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    if port:
        try:
            return OwnServer(home, port)
        except OSError as error:
            raise RunError(f"Port {port} of 127.0.0.1 is taken: give another one with --port.") from error
    try:
        return OwnServer(home, int((state / "port").read_text()))
    except (OSError, ValueError):
        server = OwnServer(home)
    (state / "port").write_text(str(server.port))
    return server


def _start_worker(pool: str) -> "subprocess.Popen[bytes]":
    """Start a worker in a process group of its own, together with all that it starts."""
    command = [sys.executable, "-m", "flows.watchdog", str(os.getpid()), "prefect", "worker", "start", "--pool", pool]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)


def _end(worker: "subprocess.Popen[bytes]") -> None:
    """End a worker and the flows that it runs: politely, then at once."""
    for number, seconds in ((signal.SIGTERM, STOP_TIMEOUT), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(worker.pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and _group_runs(worker):
            time.sleep(0.1)
    worker.wait()


def _group_runs(worker: "subprocess.Popen[bytes]") -> bool:
    worker.poll()  # a dead process counts as one of its group until somebody has asked for its exit code
    try:
        os.killpg(worker.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _count(restarts: list[float], what: str, log: Path | None) -> None:
    restarts.append(time.monotonic())
    where = f"; see {str(log)!r}" if log is not None else ""
    if sum(then > restarts[-1] - _WITHIN for then in restarts) > _RESTARTS:
        raise RunError(f"{what} ended {_RESTARTS + 1} times within {_WITHIN / 60:.0f} minutes{where}.")
    warn(f"{what} ended by itself and is started again{where}.")


def describe(known: Running | None) -> str:
    """Say in one line what runs for this user."""
    if known is not None:
        return f"`facetflow up` runs (process {known.process}): {known.url.removesuffix('/api')}"
    return "`facetflow up` does not run."
