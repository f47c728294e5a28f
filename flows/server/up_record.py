"""What `facetflow up` records about itself for other commands of the same user.

up.lock      held while it runs, released however it ends
up.json      its process and, as soon as its server answers, the address
password     name and password of that server, new at each start; only the user can read it
projects.json   the projects that its server has, with their schedules; it may lose its database
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from features.core import locks
from features.core.durable import write_whole
from features.core.file_errors import clear_errors
from flows.server.passwords import with_credentials

_LOCK, _RECORD, _PASSWORD = "up.lock", "up.json", "password"
_PROJECTS = "projects.json"
_PATIENCE = 2.0
"""Maximum seconds between taking the lock and writing the record."""
_POLL = 0.05


@dataclass(frozen=True, slots=True)
class Running:
    """The process of `facetflow up`, and the address of its server's API; None while it starts."""

    process: int
    url: str | None

    @property
    def address(self) -> str | None:
        """Address of the server's API with name and password, for our own clients; None while it starts."""
        if self.url is None:
            return None
        with clear_errors(f"Reading {str(password_file())!r}"):
            return with_credentials(self.url, password_file().read_text(encoding="utf-8").strip())


def state_folder() -> Path:
    """Return the folder where `facetflow up` keeps its database and its address."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "facetflow"


def password_file() -> Path:
    """Return the file with the name and password of the server, `name:password`, as Prefect's pages ask for it."""
    return state_folder() / _PASSWORD


def running() -> Running | None:
    """Return what runs for this user, None if nothing does."""
    deadline = time.monotonic() + _PATIENCE
    while locks.is_held(state_folder() / _LOCK):
        service = _record()
        if service is not None or time.monotonic() > deadline:
            return service
        time.sleep(_POLL)  # it has just taken the lock
    return None


@contextmanager
def only_one() -> Iterator[None]:
    """Hold the lock of `facetflow up` if nobody does, with a record that it is starting."""
    state = state_folder()
    with clear_errors(f"Writing to the state folder {str(state)!r} (XDG_STATE_HOME moves it)"):
        state.mkdir(parents=True, exist_ok=True)
        state.chmod(0o700)  # the server's database is in it
    with locks.only_one(state / _LOCK, "`facetflow up`, which `facetflow down` ends, is already running for this user"):
        write(None)
        try:
            yield
        finally:
            (state / _RECORD).unlink(missing_ok=True)
            password_file().unlink(missing_ok=True)


def write_password(credentials: str) -> None:
    """Record name and password of the server; nobody else can read the file at any moment."""
    path = password_file()
    with clear_errors(f"Writing {str(path)!r}"):
        path.unlink(missing_ok=True)  # of one that was killed: its mode, or a link, must not stay
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{credentials}\n")


def write(url: str | None) -> None:
    """Record that this process is `facetflow up`, and the address of its server when that answers."""
    content = json.dumps({"process": os.getpid(), "url": url}).encode()
    with clear_errors(f"Writing to {str(state_folder())!r}"):
        write_whole(state_folder(), _RECORD, content)


def projects() -> dict[str, str | None]:
    """Return the project files that were registered on the server → the schedule that was given last."""
    try:
        return dict(json.loads((state_folder() / _PROJECTS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def record_project(project_file: Path, cron: str | None) -> None:
    """Record that a project is registered on the server; without a schedule, the recorded one is kept."""
    state, name = state_folder(), str(project_file.resolve())
    with locks.only_one(state / f"{_PROJECTS}.lock", f"Another command writes {_PROJECTS!r} in {str(state)!r}"):
        every = projects()
        every[name] = cron or every.get(name)
        with clear_errors(f"Writing to {str(state)!r}"):
            write_whole(state, _PROJECTS, json.dumps(every).encode())


def describe(service: Running | None, project_file: Path) -> str:
    """Return in one line what runs for this user, and whether it serves a project."""
    if service is None:
        return "`facetflow up` is not running."
    if service.url is None:
        return f"`facetflow up` is starting (process {service.process})."
    served = str(project_file.resolve()) in projects()
    return (
        f"`facetflow up` is running (process {service.process}): {service.url.removesuffix('/api')} (its pages ask for "
        f"what is in {str(password_file())!r}){'' if served else '; `facetflow up` adds this project to it'}"
    )


def _record() -> Running | None:
    """Return the content of the record; None if there is none yet, or not that of a process here with the lock."""
    import psutil

    try:
        content = json.loads((state_folder() / _RECORD).read_text(encoding="utf-8"))
        service = Running(int(content["process"]), str(content["url"]) if content["url"] is not None else None)
        opened = [file.path for file in psutil.Process(service.process).open_files()]
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return None
    # In another container, or on a machine with the same home, that is the number of another process.
    return service if str((state_folder() / _LOCK).resolve()) in opened else None
