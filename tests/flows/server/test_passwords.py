"""A password in the address of a Prefect server appears in no message, log or record."""

import http.server
import threading
from types import SimpleNamespace

import pytest
from prefect.settings import get_current_settings
from sentences import told

from features.core.faults import ServerSilent
from flows import command_line
from flows.server.passwords import shown, with_credentials, without_credentials, without_passwords
from flows.server.prefect_address import answers, configured_api, talking_to

ADDRESSES = [
    "http://ada:secret@127.0.0.1:9/api",
    "http://ada:se%2Fcret@127.0.0.1:9/api",
    "http://ada:secret/with#odd?letters@127.0.0.1:9/api",
    "ada:secret@127.0.0.1:9/api",
    "http://ada:secret@[::1/api",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("command", ["build", "deploy"])
def test_a_command_whose_server_is_away_does_not_say_the_password(
    project, monkeypatch, tmp_path, capsys, address, command
):
    project.write(10)
    monkeypatch.setenv("PREFECT_API_URL", address)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert command_line.run([command, "--project", str(project.folder / "facetflow.toml")]) == 1
    said = capsys.readouterr()
    assert told(said.err, ServerSilent)
    assert "secret" not in said.out + said.err
    assert "ada" not in said.err
    assert not list(tmp_path.glob("facetflow-error-*"))


def test_name_and_password_are_taken_from_the_address():
    assert without_credentials("http://ada:se%2Fcret@host:1/api") == ("http://host:1/api", "ada:se/cret")
    assert without_credentials("http://host:1/api") == ("http://host:1/api", None)
    hard = ("http://host/api", "ada:%2F@cret")
    assert without_credentials(with_credentials(*hard)) == hard
    assert shown("ada:secret@host/api") == "host/api"
    assert without_passwords("no 'http://ada:se/cret@host/api'") == "no 'http://host/api'"
    assert without_passwords("('http://a/api','http://ada:secret@b')") == "('http://a/api','http://b')"


def test_prefect_gets_the_password_apart_and_then_what_it_had_before():
    def settings():
        api = get_current_settings().api
        return api.url, api.auth_string and api.auth_string.get_secret_value()

    before = settings()
    with talking_to("http://ada:secret@host/api"):
        assert settings() == ("http://host/api", "ada:secret")
    assert settings() == before


@pytest.mark.parametrize("file", ["home/profiles.toml", "mine.toml", "prefect.toml", "pyproject.toml", ".env", "none"])
def test_prefect_is_asked_for_its_server_where_there_is_a_file_of_settings(monkeypatch, tmp_path, file):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    for name, value in (("XDG_STATE_HOME", "state"), ("PREFECT_HOME", "home")):
        monkeypatch.setenv(name, str(tmp_path / value))
    if file == "mine.toml":
        monkeypatch.setenv("PREFECT_PROFILES_PATH", file)
    asked = SimpleNamespace(api=SimpleNamespace(url="http://of-a-file/api"))
    monkeypatch.setattr("prefect.settings.get_current_settings", lambda: asked)
    if file != "none":
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert configured_api() == (None if file == "none" else asked.api.url)


def test_an_error_of_a_library_and_its_traceback_are_shown_without_them(capsys, monkeypatch, tmp_path):
    import click

    @click.command()
    def build():
        raise ValueError("Client error '401' for url 'http://ada:secret@10.0.0.1/api/health'")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("flows.commands.build.build", build)
    assert command_line.run(["build"]) == 1
    assert "for url 'http://10.0.0.1/api/health'; the traceback is in" in capsys.readouterr().err
    (log,) = tmp_path.glob("facetflow-error-*.log")
    assert "401" in log.read_text()
    assert "ada:" not in log.read_text(), "nor in the line of code"


def test_a_server_behind_a_password_is_asked_with_it(monkeypatch):
    asked = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Authorization"))
            self.send_response(404 if self.path != "/api/health" else 200 if asked[-1] else 401)
            self.end_headers()

        def log_message(self, *_) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{proxy.server_port}/api"
        assert answers(f"http://ada:secret@{address}", timeout=60)
        assert answers(f"http://ada:secret@{address}/", timeout=60), "as for Prefect's own commands"
        assert answers(f"http://{address}", timeout=60), (
            "whom it lets in, such as by PREFECT_API_KEY, Prefect finds out"
        )
        monkeypatch.setenv("PREFECT_API_AUTH_STRING", "ada:secret")
        assert answers(f"http://{address}", timeout=60)
        assert not answers(f"http://{address}/elsewhere", timeout=60)
        proxy.shutdown()
    assert [*dict.fromkeys(asked)] == ["Basic YWRhOnNlY3JldA==", None]
