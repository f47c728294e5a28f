"""What `facetflow up` keeps running on one machine: a Prefect server with a database file, and a worker.

    up ──┬── server    127.0.0.1, the database in the user's state folder
         ├── worker    runs what the server schedules: refreshes, trainings, evaluations
         └── up.json   process and address; commands that find it use that server, with the password beside it

Both are restarted when they end by themselves, the server also when it does not answer for minutes, as often as it
takes, and both end with this process, however that ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import UUID

import psutil

from features.core.durable import write_whole
from features.core.errors import FacetflowError, RunError
from features.core.faults import ProcessStays
from features.core.file_errors import clear_errors
from features.core.leftovers import remove_dead_scratch, scratch
from features.core.pages import render
from flows.server import up_record
from flows.server.dead_runs import mark_dead_runs, processes_of_flows, runs_of_processes, schedule_again
from flows.server.own_server import OwnServer
from flows.server.prefect_address import answers, talking_to
from flows.server.up_record import running, state_folder
from flows.terminal import detail, say, warn

STOP_TIMEOUT = 60.0
"""Seconds for running flows to end in order before they are killed; what they committed is kept."""
_POLL = 0.5
_LOOK_EVERY = 30.0
"""Seconds between two checks whether the server answers, and for runs whose process is gone."""
_UNANSWERED = 6
"""Checks in a row without an answer before the server is given up. A stall of one minute is tolerated."""
_ANSWERS_WITHIN = 10.0
"""Seconds that an answer may take in such a check."""
_RESTARTS, _WITHIN = 5, 300.0
"""After more restarts than this, of either, within so many seconds each further one waits for `_PAUSE` seconds."""
_PAUSE = 60.0
_PLACES = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "FACETFLOW_MODELS", "HF_HOME")


def keep_running(pool: str, port: int, on_ready: Callable[[str], None], on_restart: Callable[[], None]) -> None:
    """Start server and the worker of a work pool, and keep them running until this process is told to end.

    Port 0 is the one that the server had before if that is free, else any. `on_ready` is called once with its address,
    before the worker starts; `on_restart` whenever a restarted server answers, which may have lost its database.
    """
    state = state_folder()
    with up_record.only_one(), scratch("up") as temporary, ExitStack() as stack:
        remove_dead_scratch()
        server = _start_server(state, port)
        worker: subprocess.Popen[bytes] | None = None
        restarts: list[float] = []
        try:
            up_record.write_password(server.credentials)
            server.wait_until_ready()
            stack.enter_context(talking_to(server.address))
            up_record.write(server.url)
            on_ready(server.url)
            database = state / "prefect" / "prefect.db"
            looked, unanswered, restarted, opened = time.monotonic(), 0, False, _file_number(database)
            while True:
                lost = not restarted and _file_number(database) != opened
                if server.ended() or lost or unanswered == _UNANSWERED:
                    silent = f"did not answer {unanswered} times in a row"
                    how = "ended by itself" if server.ended() else "lost its database" if lost else silent
                    _count(restarts, f"The Prefect server {how}", server.log_before)
                    server.restart()
                    unanswered, restarted = 0, True
                if worker is not None and worker.poll() is not None:
                    _count(restarts, "The worker ended by itself", None)
                    _end(worker)  # and what it had started
                    worker = None
                if time.monotonic() - looked > _LOOK_EVERY or ((restarted or worker is None) and not unanswered):
                    answered = answers(server.url, timeout=_ANSWERS_WITHIN)
                    if answered and restarted:
                        restarted, opened = False, _file_number(database)
                        on_restart()
                    # Runs of a worker that is gone are found before the next one takes runs of its own.
                    answered = answered and _mark_dead_runs(worker_runs=worker is not None)
                    unanswered = 0 if answered else unanswered + 1
                    if answered and worker is None:
                        worker = _start_worker(pool, temporary / "w")
                    looked = time.monotonic()
                time.sleep(_POLL)
        finally:
            if worker is not None:
                begun = runs_of_processes(server.url)
                _end(worker)
                _schedule_again(begun)
            server.stop()


def stop() -> bool:
    """Stop what `facetflow up` runs, and return when it is gone whether it was running."""
    service = running()
    if service is None:
        return False
    with suppress(ProcessLookupError):  # it has just ended by itself
        os.kill(service.process, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT + 30
    while running() is not None:
        if time.monotonic() > deadline:
            raise ProcessStays(f"Process {service.process} of `facetflow up` does not end: end it with kill -9.")
        time.sleep(_POLL)
    return True


def systemd_unit(project_file: Path, arguments: list[str]) -> str:
    """Return a systemd user unit that runs `facetflow up` for a project, with further arguments."""
    # systemd starts with an environment of its own, in which state and models would be sought elsewhere.
    variables = [f"{name}={os.environ[name]}" for name in _PLACES if os.environ.get(name)]
    python = [*(["/usr/bin/env", *variables] if variables else []), sys.executable, "-P", "-m"]
    words = [*python, "flows.command_line", "up", "--project", str(project_file), *arguments]
    # systemd expands % specifiers and $ variables, even within quotes; a line feed would begin another setting.
    special = str.maketrans({"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n"})
    command = " ".join(f'"{word.translate(special)}"' for word in words)
    values = {"command": command, "exit_status": 128 + signal.SIGTERM, "timeout": f"{STOP_TIMEOUT + 30:.0f}"}
    return f"{render('flows.server/unit.txt', **values)}\n"


def _file_number(file: Path) -> int | None:
    """Return what changes when a file is replaced: a server whose database was deleted answers half of all requests."""
    with suppress(FileNotFoundError):
        return file.stat().st_ino
    return None


def _start_server(state: Path, port: int) -> OwnServer:
    home = state / "prefect"
    with clear_errors(f"Writing to {str(home)!r}"):
        home.mkdir(mode=0o700, exist_ok=True)
        home.chmod(0o700)
        if not port:
            with suppress(FileNotFoundError, ValueError, RunError):  # no server before, or its port is taken now
                return OwnServer(home, int((state / "port").read_text(encoding="utf-8")))
        server = OwnServer(home, port)
        write_whole(state, "port", str(server.port).encode())
        return server


def _start_worker(pool: str, temporary: Path) -> "subprocess.Popen[bytes]":
    """Start a worker in its own process group, together with all that it starts."""
    watched = [sys.executable, "-m", "flows.server.watchdog", str(os.getpid())]
    command = [*watched, "prefect", "worker", "start", "--pool", pool]
    shutil.rmtree(temporary, ignore_errors=True)  # of the previous worker
    temporary.mkdir()
    shown = {"PREFECT_LOGGING_HANDLERS_CONSOLE_CLASS": "flows.server.worker_log.OneLineHandler"}
    environment = {**os.environ, **shown, "TMPDIR": str(temporary)}
    # All on our standard error, which is no broken pipe once we have told there of a worker that died of one.
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True)


def _end(worker: "subprocess.Popen[bytes]") -> None:
    """Stop a worker and its flows: first with SIGTERM, then with SIGKILL."""
    _end_flows()
    for number, seconds in ((signal.SIGTERM, STOP_TIMEOUT), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(worker.pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and _group_runs(worker):
            time.sleep(0.1)
    worker.wait()


def _end_flows() -> None:
    """Let the flows of our server end in order: Prefect's worker gives each its own session, and ends it by SIGKILL."""
    asked: set[int] = set()
    deadline = time.monotonic() + STOP_TIMEOUT
    while (left := processes_of_flows(os.environ["PREFECT_API_URL"])) and time.monotonic() < deadline:
        for process in left:
            if process.pid not in asked:
                asked.add(process.pid)
                with suppress(psutil.Error):  # it has just ended
                    process.terminate()
        time.sleep(0.1)
    for process in left:
        with suppress(psutil.Error):
            process.kill()


def _group_runs(worker: "subprocess.Popen[bytes]") -> bool:
    worker.poll()  # a dead process stays in its group until its exit code has been read
    try:
        os.killpg(worker.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _mark_dead_runs(*, worker_runs: bool) -> bool:
    """Free the slots of runs that are gone, and return whether the server did; its workers are all on this machine."""
    try:
        for name in mark_dead_runs(worker_runs=worker_runs):
            warn(f"The process of the flow run {name!r} disappeared; the run is marked as crashed.")
    except RunError as error:  # it may just have ended
        detail(f"{error} It is asked again.")
        return False
    return True


def _schedule_again(runs: set[UUID]) -> None:
    try:
        for name in schedule_again(runs):
            say(f"The flow run {name!r} was ended, and goes on when `facetflow up` runs again.")
    except FacetflowError as error:  # its server has died: what ran is marked as crashed at the next start
        detail(f"{error} The next refresh goes on from here.")


def _count(restarts: list[float], what: str, log: Path | None) -> None:
    """Say that something is restarted, and wait first if that has happened too often lately."""
    restarts.append(time.monotonic())
    often = sum(then > restarts[-1] - _WITHIN for then in restarts) > _RESTARTS
    where = f"; see {str(log)!r}" if log is not None else ""
    warn(f"{what} and is restarted{f' in {_PAUSE:.0f} s, because that happens often' if often else ''}{where}.")
    if often:
        time.sleep(_PAUSE)
