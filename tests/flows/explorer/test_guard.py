"""Who is let in by a real server: the browser with the token, and nobody else."""

import os
import socket
import subprocess
from unittest.mock import Mock

import httpx
import pytest

from features.core.faults import ForeignRequest, PortTaken
from flows.explorer.server import Explorer


@pytest.fixture
def stranger(in_project):
    """A client without a cookie."""
    with httpx.Client(base_url=f"http://127.0.0.1:{in_project.explorer.port}", timeout=600, trust_env=False) as client:
        yield client


def refused(answer):
    assert "`" not in answer.text
    return answer.status_code == 403 and ForeignRequest.code in answer.text and "Trainings" not in answer.text


@pytest.mark.parametrize("address", ["/runs", "/data?format=json", "/style.css", "/report", "/nothing"])
def test_without_the_token_nothing_is_told(stranger, address):
    assert refused(stranger.get(address))
    assert refused(stranger.get(address, params={"token": "wrong"}))
    assert refused(stranger.get(address, headers={"Authorization": "Bearer wrong"}))


def test_the_token_becomes_a_cookie_and_leaves_the_address(in_project, stranger):
    answer = stranger.get("/runs", params={"run": "a b", "token": in_project.explorer.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?run=a+b")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/runs").status_code == 200


@pytest.mark.parametrize("path", ["//elsewhere.example/", "/\\elsewhere.example/"])
def test_the_token_leads_to_no_other_host(in_project, stranger, path):
    address = f"http://127.0.0.1:{in_project.explorer.port}{path}"
    location = stranger.get(address, params={"token": in_project.explorer.token}).headers["location"]
    assert httpx.URL(address).join(location).host == "127.0.0.1"
    assert location[1] not in "/\\"


def test_a_script_may_give_the_token_in_a_header(in_project, stranger):
    answer = stranger.get("/runs", headers={"Authorization": f"Bearer {in_project.explorer.token}"})
    assert answer.status_code == 200


@pytest.mark.skipif(os.getuid() != 0, reason="only root can ask as another user")
@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize(("user", "status"), [(0, "200"), (65534, "403")])
def test_another_user_of_the_machine_is_refused_even_with_the_token(in_project, host, user, status):
    explorer = in_project.explorer
    headers = f"Host: 127.0.0.1\r\nAuthorization: Bearer {explorer.token}\r\nX-Forwarded-For: 10.0.0.1"
    request = f"GET /runs HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n"
    ask = f'exec 3<>/dev/tcp/{host}/{explorer.port}; printf %s "$1" >&3; head -1 <&3'
    answer = subprocess.check_output(["/bin/bash", "-c", ask, "-", request], user=user, cwd="/", text=True)
    assert answer.split()[1] == status


@pytest.mark.skipif(os.getuid() != 0, reason="only root can ask as another user")
def test_another_user_is_refused_who_had_other_connections_between_the_same_ports(in_project):
    explorer = in_project.explorer
    try:
        os.seteuid(65534)  # the owner of a socket is who makes it
        with socket.create_server(("127.0.0.2", explorer.port)) as server, socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            client.bind(("127.0.0.1", 0))
            for number in range(2, 34):  # the kernel lists those that were closed as root's
                own = (f"127.0.0.{number}", client.getsockname()[1])
                with socket.create_connection(server.getsockname(), source_address=own):
                    accepted = server.accept()[0]
                accepted.close()
            client.connect(("127.0.0.1", explorer.port))
            head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {explorer.token}\r\nConnection: close"
            client.sendall(f"GET /runs HTTP/1.1\r\n{head}\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 403")
    finally:
        os.seteuid(0)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "facetflow.example:80"},
        {"Host": "127.0.0.1.example.org"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_hosts_and_origins_are_refused_even_with_the_cookie(in_project, headers):
    assert refused(in_project.client.get("/runs", headers=headers))


def test_a_browser_names_no_port_80(in_project):
    assert in_project.client.get("/runs", headers={"Host": "127.0.0.1"}).status_code == 200


def test_a_page_may_load_only_what_is_its_own(in_project):
    headers = in_project.client.get("/runs").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert in_project.client.post("/runs").status_code == 405


def test_a_taken_port_is_named(in_project):
    with pytest.raises(PortTaken, match=str(in_project.explorer.port)):
        Explorer(in_project.session, in_project.explorer.port)


@pytest.mark.parametrize(
    ("address", "broken"), [("/runs", "RunsView.form"), ("/runs", "RunsView.answer"), ("/report", "all_runs")]
)
def test_an_error_of_ours_is_a_page_that_says_where_to_look(in_project, monkeypatch, address, broken):
    monkeypatch.setattr(f"flows.explorer.runs.{broken}", Mock(side_effect=ZeroDivisionError("<b>by zero</b>")))
    answer = in_project.client.get(address)
    assert answer.status_code == 500
    assert "Unexpected ZeroDivisionError" in answer.text
    assert "<b>" not in answer.text
