"""Whoever may use a Prefect server runs code as the user of its workers: nobody gets in without the password."""

import asyncio
import base64
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from flows.server import up_record
from tests.flows.server.conftest import serving

WRONG = [None, "Basic", "Bearer x", f"Basic {base64.b64encode(b'facetflow:wrong').decode()}"]
SOCKETS = ["events/in", "events/out", "logs/out", "task_runs/subscriptions/scheduled"]
INTRUDER = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
process, port, *paths = sys.argv[1:]
for path in paths:
    stranger = socket.socket()
    stranger.connect(("127.0.0.1", int(port)))
    head = f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", "Content-Length: 2"
    stranger.sendall((chr(13) + chr(10)).join((*head, "", "{}")).encode())
    print(stranger.recv(1000).split()[1].decode())
for path in (f"/proc/{process}/environ", f"/proc/{os.getppid()}/environ"):
    try:
        print(len(open(path, "rb").read()))
    except PermissionError:
        print("refused")
"""


@pytest.mark.slow
@pytest.mark.parametrize("authorization", WRONG)
def test_nothing_but_health_is_answered_without_the_password(server, authorization):
    headers = {} if authorization is None else {"Authorization": authorization}
    paths = httpx.get(f"{server.url.removesuffix('/api')}/openapi.json", timeout=60).json()["paths"]
    assert len(paths) > 100
    with httpx.Client(headers=headers, timeout=30) as client:
        for path, methods in paths.items():
            for method in methods:
                answer = client.request(method, f"{server.url}{path.replace('{', '').replace('}', '')}", json={})
                assert answer.status_code == (200 if path in {"/health", "/ready"} else 401), (method, path)
        assert client.get(f"{server.url}/health").text == "true"
        assert client.get(f"{server.url}/ready").json() == {"message": "OK"}
        assert client.post(f"{server.url}/health", json={}).status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize("token", [None, "", "facetflow:wrong"])
def test_no_stream_is_opened_without_the_password(server, path, token):
    async def listen(told):
        async with connect(f"ws{server.url.removeprefix('http')}/{path}", subprotocols=["prefect"]) as stream:
            await stream.send(json.dumps({"type": "auth", "token": told}))
            return json.loads(await asyncio.wait_for(stream.recv(), 30))

    with pytest.raises(ConnectionClosed):
        asyncio.run(listen(token))
    assert asyncio.run(listen(server.credentials)) == {"type": "auth_success"}


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "localhost.evil.example", ""])
def test_another_name_for_the_address_is_refused(server, host):
    headers = {"Host": host.format(port=server.port)}
    assert httpx.get(f"{server.address}/version", headers=headers).status_code == 400
    assert httpx.get(f"{server.address}/version").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_page_from_elsewhere_may_not_post(server, origin):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    preflight = httpx.options(f"{server.url}/deployments/", headers=asked | {"Origin": origin})
    assert preflight.status_code == 400
    assert "access-control-allow-origin" not in preflight.headers
    own = httpx.options(f"{server.url}/deployments/", headers=asked | {"Origin": server.url.removesuffix("/api")})
    assert own.status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can become another user")
def test_another_user_of_the_machine_is_refused(server):
    paths = [f"/api/{path}/" for path in ("deployments", "flows", "work_pools", "automations")]
    command = [sys.executable, "-c", INTRUDER, str(server._process.pid), str(server.port), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.stdout.split() == ["401"] * len(paths) + ["refused"] * 2, done.stderr


@pytest.mark.slow
def test_the_password_is_in_no_command_line_and_no_log(server):
    secret = server.credentials.partition(":")[2]
    assert len(secret) > 40
    assert not [process for process in psutil.process_iter(["cmdline"]) if secret in str(process.info["cmdline"])]
    assert secret not in (server.home / "server.log").read_text()
    assert server.home.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
@pytest.mark.soak
def test_a_lasting_server_keeps_its_database_to_its_owner_and_its_port_while_it_is_restarted(tmp_path):
    database = tmp_path / "prefect.db"
    database.touch(mode=0o644)  # of an earlier version
    with serving(tmp_path) as server:
        before = server.address
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("prefect.db*")}
        assert modes == dict.fromkeys(["prefect.db", "prefect.db-wal", "prefect.db-shm"], 0o600)
        server._process.kill()
        server._process.wait()
        with pytest.raises(OSError, match="in use"), _listening(server.port):
            pass
        server.restart()
        server.wait_until_ready()
        assert server.address == before, "the worker goes on with the password that it was given"
        assert httpx.get(f"{server.address}/version").status_code == 200
    with _listening(server.port):
        pass


def _listening(port):
    import socket

    return socket.create_server(("127.0.0.1", port))  # takes a port that only closed connections hold


def test_the_password_of_up_is_for_its_user_only_whatever_was_there_before(tmp_path, monkeypatch):
    state = tmp_path / "facetflow"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state.mkdir(mode=0o755)
    stolen = tmp_path / "stolen"
    stolen.touch(mode=0o644)
    (state / "password").symlink_to(stolen)
    opened = []
    monkeypatch.setattr(os, "open", lambda *arguments, real=os.open: opened.append(arguments) or real(*arguments))
    before = os.umask(0)
    try:
        with up_record.only_one():
            up_record.write_password("facetflow:secret")
            assert stat.S_IMODE(state.stat().st_mode) == 0o700
            assert stat.S_IMODE((state / "password").lstat().st_mode) == 0o600
            up_record.write("http://127.0.0.1:4200/api")
            assert up_record.running().address == "http://facetflow:secret@127.0.0.1:4200/api"
            assert "secret" not in repr(up_record.running())
    finally:
        os.umask(before)
    assert [mode for path, *_, mode in opened if Path(path).name == "password"] == [0o600], "from its first moment"
    assert stolen.read_text() == ""
    assert not (state / "password").exists(), "the next start has another"
