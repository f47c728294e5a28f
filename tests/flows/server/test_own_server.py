"""The private Prefect server: present when needed and gone afterwards, whatever ends it."""

import asyncio
import errno
import http.server
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from uuid import uuid4

import httpx
import prefect
import psutil
import pytest
from sentences import refused

from features.core.faults import (
    FileMissing,
    RunNotWritten,
    ServerNotStarted,
    ServerRefused,
    ServerSilent,
    StoreUnreachable,
)
from flows.server import server_process
from flows.server.local_run import run_flow
from flows.server.own_server import OwnServer, prefect_api
from flows.server.prefect_address import configured_api
from flows.terminal import Verbosity, set_verbosity
from tests.flows.server.conftest import serving

CODE = """
import os, sys
from flows.server.own_server import prefect_api
with prefect_api() as server:
    server.wait_until_ready()
    print(server._process.pid, server.home, os.environ["PREFECT_API_URL"], flush=True)
    print(os.environ["PREFECT_API_AUTH_STRING"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_server_ends_with_the_process_that_started_it(how, wait_until):
    with subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
    ) as starter:
        pid, home, url = starter.stdout.readline().split()
        auth = tuple(starter.stdout.readline().strip().split(":"))
        assert httpx.get(f"{url}/health").status_code == 200
        (connection,) = {
            (listening.laddr.ip, listening.laddr.port)
            for listening in psutil.Process(int(pid)).net_connections()
            if listening.status == psutil.CONN_LISTEN
        }
        assert connection[0] == "127.0.0.1", "nobody else can reach it"
        loaded = {Path(mapped.path).parts for mapped in psutil.Process(int(pid)).memory_maps()}
        assert not [parts for parts in loaded if "numpy" in parts], "the server needs nothing of Dask"
        services = httpx.get(f"{url}/admin/settings", auth=auth, timeout=60).json()["server"]["services"]
        assert not services["triggers"]["enabled"], "nobody hears of what happens here"
        starter.send_signal(how)
    wait_until(lambda: not psutil.pid_exists(int(pid)), "the server to end")
    wait_until(lambda: not Path(home).exists(), "its folder to be removed")


@pytest.mark.slow
def test_an_existing_api_is_used(server, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", server.url)
    with prefect_api() as started:
        assert started is None
        assert os.environ["PREFECT_API_URL"] == server.url
    assert os.environ["PREFECT_API_URL"] == server.url


@pytest.mark.slow
@pytest.mark.parametrize(("level", "logged"), [(Verbosity.NORMAL, "WARNING"), (Verbosity.VERBOSE, "INFO")])
def test_prefect_says_what_it_does_with_verbose_only(server, monkeypatch, level, logged):
    monkeypatch.setattr(os, "environ", {"PREFECT_API_URL": server.url})
    set_verbosity(level)
    try:
        with prefect_api():
            assert os.environ["PREFECT_LOGGING_LEVEL"] == logged
    finally:
        set_verbosity(Verbosity.NORMAL)


def test_an_api_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setenv("PREFECT_CLIENT_MAX_RETRIES", "1")
    for url in ("http://127.0.0.1:9/api", "http://127.0.0.1:9", "http://127.0.0.1:9/api/accounts/1/workspaces/2"):
        monkeypatch.setenv("PREFECT_API_URL", url)
        with refused(ServerSilent), prefect_api():
            pass
    assert os.environ["PREFECT_CLIENT_MAX_RETRIES"] == "1", "what a user has set stays"


def test_a_server_that_forbids_everything_asks_for_a_key(project, monkeypatch):
    class Closed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(403)

        def log_message(self, *_) -> None:
            pass

    project.write(2)
    with http.server.HTTPServer(("127.0.0.1", 0), Closed) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{proxy.server_port}/api")
        with refused(ServerRefused):
            run_flow("build_features", project.folder / "facetflow.toml", lambda _: None)
        proxy.shutdown()


def test_a_bucket_that_refuses_a_key_is_not_told_as_the_server(server, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", server.url)
    with pytest.raises(StoreUnreachable), prefect_api():
        raise StoreUnreachable("Reading failed: the storage answered 401 Unauthorized.")


@pytest.mark.parametrize("lasting", [False, True])
def test_a_server_that_cannot_start_says_why(lasting, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr("sys.executable", "/bin/false")
    server = OwnServer(tmp_path if lasting else None)
    with refused(ServerNotStarted) as told:
        server.wait_until_ready()
    server.stop()
    assert (f"its log is {str(tmp_path / 'server.log')!r}" in str(told.value)) is lasting, "as of a damaged database"
    assert server.home.exists() is lasting, "also where its process could not remove it"


def test_the_log_of_a_server_has_no_hole_where_another_program_rotated_it(tmp_path, monkeypatch, wait_until):
    says = tmp_path / "says"
    says.write_text('#!/bin/sh\necho before\nwhile [ -s "$3/server.log" ]; do sleep 0.05; done\necho after\n')
    says.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(says))
    server, log = OwnServer(tmp_path), tmp_path / "server.log"
    wait_until(lambda: log.read_bytes() == b"before\n", "the first line")
    os.truncate(log, 0)  # `copytruncate` of logrotate
    wait_until(server.ended, "the last line")
    server.stop()
    assert log.read_bytes() == b"after\n"


@pytest.mark.slow
def test_a_user_who_can_have_no_cache_has_a_server(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # the home of many a service
    with serving():
        pass


def test_certificates_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent.pem")
    with refused(FileMissing):
        configured_api()  # the first that `up`, `deploy` and `build` ask


def test_a_server_that_had_no_space_for_its_log_says_so(monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    monkeypatch.setattr("tempfile.TemporaryFile", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    server = OwnServer()
    with refused(RunNotWritten):
        server.wait_until_ready()
    server.stop()


def test_a_server_that_fails_tells_its_log(monkeypatch, tmp_path):
    (cache := tmp_path / "facetflow" / f"prefect-{prefect.__version__}.db").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server = OwnServer()
    with pytest.raises(ServerNotStarted, match=re.escape(str(cache))):
        server.wait_until_ready()
    server.stop()
    assert not server.home.exists()


def test_the_empty_database_in_the_cache_survives_a_power_cut_and_need_not_be_readable(tmp_path, monkeypatch):
    made, synced = [], []

    async def create_db():
        made.append(home)
        with sqlite3.connect(home / "prefect.db") as connection:
            connection.execute("CREATE TABLE flow (id)")

    database = SimpleNamespace(create_db=create_db)
    monkeypatch.setattr("prefect.server.database.provide_database_interface", lambda: database)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PREFECT_API_DATABASE_MIGRATE_ON_START", "")
    (tmp_path / "facetflow").mkdir()
    (tmp_path / f"facetflow/prefect-{prefect.__version__}.db").touch()  # what an earlier power cut left
    for name in ("first", "second", "another user's"):
        (home := tmp_path / name).mkdir()
        monkeypatch.setattr(os, "access", lambda *_, readable=name != "another user's": readable)
        server_process._prepare_database(home)
        (empty,) = (tmp_path / "facetflow").iterdir()
        assert (home / "prefect.db").read_bytes() == empty.read_bytes()
        assert empty.stat().st_size in synced
    assert [home.name for home in made] == ["first", "another user's"]


def test_a_server_without_one_of_its_libraries_says_which(tmp_path, monkeypatch):
    (tmp_path / "prefect.py").write_text("import nowhere")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    server = OwnServer()
    with refused(ServerNotStarted):
        server.wait_until_ready()
    server.stop()
    assert not server.home.exists()


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
def test_who_asks_a_server_that_is_killed_does_not_wait_for_an_answer(lasting, tmp_path):
    with serving(tmp_path if lasting else None) as server:
        server._process.kill()
        server._process.wait()
        with pytest.raises(httpx.TransportError) as raised:
            httpx.get(f"{server.url}/health", timeout=60)
        assert not isinstance(raised.value, httpx.TimeoutException), "its port is held, and nobody would answer"
        if lasting:
            server.restart()
            server.wait_until_ready()
            assert all(httpx.get(f"{server.url}/health").status_code == 200 for _ in range(50))


@pytest.mark.slow
@pytest.mark.soak
def test_a_lasting_server_writes_its_pages_where_its_user_may(tmp_path):
    """Not into the package, which may be root's."""
    with serving(tmp_path):
        pass
    assert list(tmp_path.glob("pages/*/index.html"))


@pytest.mark.slow
def test_a_folder_of_any_name_holds_the_database(tmp_path):
    (home := tmp_path / "a b?c#d%41é").mkdir()
    with serving(home):
        pass
    assert (home / "prefect.db").is_file()
    assert list(tmp_path.iterdir()) == [home]


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_busy_server_answers(tmp_path):
    """Runs that end, events that start more of them, pages that poll: the server stood still for a minute at a time."""
    with serving(tmp_path) as server:
        longest = asyncio.run(_load(server.address, seconds=60))
    assert longest < 30, f"one answer took {longest:.0f} s"


@pytest.mark.slow
@pytest.mark.soak
def test_after_a_rest_of_a_lasting_server_one_run_is_late(tmp_path, wait_until):
    """By default three nights are scheduled ahead, or an hour, and all of them run once the server is there again."""

    def ahead():
        return client.post("flow_runs/filter", json={}).json()

    with serving(tmp_path) as server, httpx.Client(base_url=f"{server.address}/", timeout=60) as client:
        flow = wait_until(posted(client, "flows/", name="flow"), "a flow", 60)["id"]
        nightly = {"schedule": {"cron": "0 3 * * *"}}
        deployed = posted(client, "deployments/", name="nightly", flow_id=flow, schedules=[nightly])
        wait_until(deployed, "a deployment", 60)
        wait_until(ahead, "the next night", 60)
        assert len(ahead()) == 1


@pytest.mark.slow
@pytest.mark.soak
def test_a_lasting_server_forgets_runs_of_last_quarter(tmp_path, wait_until):
    """By default Prefect keeps them forever."""

    def kept():
        with closing(sqlite3.connect(tmp_path / "prefect.db")) as database:
            return {row[0] for row in database.execute("SELECT name FROM flow_run")}

    with serving(tmp_path) as server, httpx.Client(base_url=f"{server.address}/", timeout=60) as client:
        flow = wait_until(posted(client, "flows/", name="flow"), "a flow", 60)["id"]
        for name in ("old", "new"):
            ended = posted(client, "flow_runs/", flow_id=flow, name=name, state={"type": "COMPLETED"})
            wait_until(ended, "a run", 60)
    assert kept() == {"old", "new"}
    with closing(sqlite3.connect(tmp_path / "prefect.db")) as database, database:
        long_ago = (datetime.now(UTC) - timedelta(days=91)).strftime("%Y-%m-%d %H:%M:%S.%f")
        database.execute("UPDATE flow_run SET end_time = ? WHERE name = 'old'", (long_ago,))
    with serving(tmp_path):
        wait_until(lambda: kept() == {"new"}, "the old run to go", 60)


def posted(client, path, **body):
    """Return what posts until it is taken: a busy database is reported as 503, and Prefect's client retries."""

    def post():
        answer = client.post(path, json=body)
        assert answer.status_code in {200, 201, 503}, answer.text
        return answer.json() if answer.status_code != 503 else None

    return post


async def _load(url, seconds):
    """Return the duration of the longest request [s]."""
    end = time.monotonic() + seconds
    longest = 0.0
    done = 0

    async def ask(path, **body):
        nonlocal longest
        for _ in range(100):  # a busy database is reported as 503, and Prefect's client retries
            began = time.monotonic()
            answer = await client.post(url + path, **body)
            longest = max(longest, time.monotonic() - began)
            if answer.status_code != 503:
                assert answer.status_code < 300, answer.text
                return answer.json() if answer.content else None
            await asyncio.sleep(0.5)
        raise AssertionError(f"{path} was refused 100 times")

    async def run(deployment):
        nonlocal done
        while time.monotonic() < end:
            state = {"type": "SCHEDULED"}
            flow_run = (await ask(f"/deployments/{deployment}/create_flow_run", json={"state": state}))["id"]
            for state in ("PENDING", "RUNNING"):
                await ask(f"/flow_runs/{flow_run}/set_state", json={"state": {"type": state}})
            now = datetime.now(UTC).isoformat()
            event = {"occurred": now, "event": "done", "resource": {"prefect.resource.id": "us"}, "id": str(uuid4())}
            await ask("/events", json=[event])
            await ask(f"/flow_runs/{flow_run}/set_state", json={"state": {"type": "COMPLETED"}})
            done += 1

    async def look():
        while time.monotonic() < end:
            await ask("/deployments/filter", json={})
            await ask("/flow_runs/filter", json={})
            await asyncio.sleep(0.3)

    # On a slow machine, the server closes idle connections just as they are used again.
    anew = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=120, limits=anew) as client:
        flow = (await ask("/flows/", json={"name": "flow"}))["id"]
        one, two, begun = [
            (await ask("/deployments/", json={"name": name, "flow_id": flow, "concurrency_limit": limit}))["id"]
            for name, limit in (("one", 1), ("two", 1), ("begun", None))
        ]
        expected = {"type": "event", "posture": "Reactive", "expect": ["done"], "threshold": 1, "within": 0}
        action = {"type": "run-deployment", "source": "selected", "deployment_id": begun}
        await ask("/automations/", json={"name": "automation", "trigger": expected, "actions": [action]})
        await asyncio.gather(run(one), run(two), look(), look())
    assert done > 5, "it hardly did anything"
    return longest


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("file", ["prefect.toml", ".env"])
def test_the_database_that_a_folder_names_for_another_server_is_left_alone(tmp_path, monkeypatch, file):
    url = f"sqlite+aiosqlite:///{tmp_path / 'other.db'}"
    in_toml = f'[server.database]\nconnection_url = "{url}"\n'
    named = in_toml if file == "prefect.toml" else f"PREFECT_API_DATABASE_CONNECTION_URL={url}\n"
    (tmp_path / file).write_text(named)
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        assert (server.home / "prefect.db").exists()
    assert {path.name for path in tmp_path.iterdir()} == {file}


@pytest.mark.parametrize(
    ("lasting", "parent", "stays"),
    [(True, "gone", True), (False, "gone", False), (False, "living", True)],
    ids=["of up", "killed", "restarted"],
)
def test_only_a_private_server_takes_its_folder_with_it_and_only_where_nobody_is_to_read_its_log(
    tmp_path, monkeypatch, lasting, parent, stays
):
    home = tmp_path / "home"
    home.mkdir()
    (database := home / "prefect.db").touch(0o644)
    modes = []
    monkeypatch.setattr(server_process, "end_with", lambda *_: None)
    monkeypatch.setattr(server_process, "_serve", lambda *_, **__: modes.append(database.stat().st_mode & 0o777))
    monkeypatch.setattr(server_process, "signal", SimpleNamespace(SIGTERM=15, signal=lambda *_: None))
    pid = {"gone": 1, "living": 7}[parent]
    system = SimpleNamespace(umask=modes.append, getppid=lambda: pid, _exit=lambda _: None)
    monkeypatch.setattr(server_process, "os", system)
    server_process.main(home, 0, 7, lasting=lasting)
    assert (home.exists(), modes) == (stays, [0o077, 0o600])
