"""Prefect servers of a test's own, and `facetflow up` with stand-ins for what it starts."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.server import services
from flows.server.own_server import OwnServer
from flows.server.passwords import with_credentials

UP = {"process": os.getpid(), "url": "http://127.0.0.1:4200/api"}
WITH_PASSWORD = with_credentials(UP["url"], "facetflow:secret")


@contextmanager
def serving(home: Path | None = None) -> Iterator[OwnServer]:
    """Start a server, a lasting one where it has a folder, and stop it at the end."""
    server = OwnServer(home)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


class Server:
    """What `facetflow up` takes for a server that runs until a test says otherwise."""

    url, address, credentials = UP["url"], WITH_PASSWORD, "facetflow:secret"
    log_before = Path("server.log.1")

    def wait_until_ready(self):
        pass

    def stop(self):
        pass


@pytest.fixture
def keep_running(monkeypatch):
    """Return a function that keeps a stand-in for a server running until it ends that by an error."""

    def keep(server, ended_by=KeyboardInterrupt, on_restart=lambda: None, **replaced):
        usual = {
            "_start_server": lambda *_: server,
            "_start_worker": lambda *_: SimpleNamespace(poll=lambda: None),
            "_end": lambda _: None,
            "_mark_dead_runs": lambda **_: True,
            "_schedule_again": lambda _: None,
            "answers": lambda *_, **__: True,
            "_LOOK_EVERY": 0.0,
            "_POLL": 0.0,
        }
        for name, value in (usual | replaced).items():
            monkeypatch.setattr(services, name, value)
        with pytest.raises(ended_by):
            services.keep_running("pool", 0, lambda _: None, on_restart)

    return keep


@pytest.fixture
def state(tmp_path, monkeypatch):
    """The state folder of a user whose `facetflow up` ran and was killed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "facetflow"
    folder.mkdir(parents=True)
    (folder / "up.lock").touch()
    (folder / "up.json").write_text(json.dumps(UP))
    (folder / "password").write_text("facetflow:secret\n")
    return folder
