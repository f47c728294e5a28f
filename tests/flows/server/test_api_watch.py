"""A Prefect server that disappears in the middle of a build: one sentence, soon, and no shard is blamed."""

import errno
import socket
import ssl
import subprocess
import sys
import time
from urllib.error import URLError

import pytest
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES
from prefect.settings import temporary_settings as prefect_settings

from features.core.errors import RunError
from flows.server import api_watch
from flows.server.api_watch import ApiWatch
from flows.server.local_run import _cause_of
from flows.server.prefect_address import PRIVATE, standing
from tests.flows.server.conftest import serving

SCRIPT = """
from flows.server import api_watch
from flows.command_line import main

if __name__ == "__main__":
    api_watch.GONE_AFTER, api_watch._ASK_EVERY = 2.0, 0.2
    main()
"""


@pytest.fixture
def watch(monkeypatch):
    """A watch that polls often; tests append to its `heard`."""
    heard = ["answers"]
    monkeypatch.setattr(api_watch, "GONE_AFTER", 0.3)
    monkeypatch.setattr(api_watch, "STILL_AFTER", 1000.0)
    monkeypatch.setattr(api_watch, "_ASK_EVERY", 0.01)
    monkeypatch.delenv(PRIVATE, raising=False)
    monkeypatch.setattr(api_watch, "standing", lambda *_, **__: heard[-1])
    watch = ApiWatch("http://user:secret@server:4200/api")
    watch.heard = heard
    with prefect_settings({PREFECT_CLIENT_MAX_RETRIES: 3}):
        yield watch
    watch.stop()


def ended(watch):
    try:
        watch.check()
    except RunError as error:
        return str(error)
    return ""


def test_a_server_that_does_not_answer_any_more_ends_the_build(watch, wait_until):
    watch.check()
    watch.heard.append("gone")
    sentence = wait_until(lambda: ended(watch), "the end of the build")
    assert sentence.startswith("The Prefect server at http://server:4200/api no longer answers: start it again")
    assert "no shard is to blame" in sentence
    assert PREFECT_CLIENT_MAX_RETRIES.value() == 0, "how the flow ended is not reported for minutes"


def test_a_private_server_that_is_gone_cannot_be_started_again(watch, wait_until, monkeypatch):
    monkeypatch.setenv(PRIVATE, "1")
    watch.heard.append("gone")
    sentence = wait_until(lambda: ended(watch), "the end of the build")
    assert sentence.startswith("The private Prefect server of this command has ended")


def test_a_build_that_was_suspended_has_not_asked_meanwhile(watch, wait_until, its_time, monkeypatch):
    monkeypatch.setattr(api_watch, "GONE_AFTER", 10.0)
    monkeypatch.setattr(api_watch, "_ASK_EVERY", 0.5)  # it waits when time jumps
    now = [time.monotonic()]
    its_time("flows.server.api_watch", monotonic=lambda: now[0])
    watch.heard.append("gone")
    for seconds in (1, 3600):
        now[0] += seconds
        watch.check()
        wait_until(lambda: watch._asked == now[0], "a question")
        watch.check()


def test_a_server_that_comes_back_is_forgiven(watch, wait_until, monkeypatch):
    monkeypatch.setattr(api_watch, "GONE_AFTER", 1000.0)
    watch.heard.append("gone")
    silent = wait_until(lambda: watch._asked - watch._answered, "a question without an answer")
    watch.heard.append("answers")
    wait_until(lambda: watch._asked - watch._answered < silent, "an answer")
    watch.check()


def test_a_server_that_stands_still_has_more_time_than_one_that_is_gone(watch, wait_until, monkeypatch):
    watch.heard.append("silent")
    wait_until(lambda: watch._asked - watch._answered > 2 * api_watch.GONE_AFTER, "as long as for one that is gone")
    assert ended(watch) == ""
    monkeypatch.setattr(api_watch, "STILL_AFTER", api_watch.GONE_AFTER)
    assert "no longer answers" in ended(watch)


def test_who_takes_connections_is_told_from_who_is_gone():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://name:secret@127.0.0.1:{listening.getsockname()[1]}/api"
        assert standing(url, timeout=0.2) == "silent"
    assert standing(url) == "gone"
    for wrong in ("127.0.0.1:99999", "127.0.0.1:port", "[::1"):
        assert standing(f"http://{wrong}/api") == "gone"


def test_a_certificate_is_for_prefects_client_to_judge(monkeypatch):
    def refuse(*_, **__):
        raise URLError(ssl.SSLCertVerificationError("self-signed certificate"))

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    assert standing("https://server/api") == "answers"


def test_what_ended_a_flow_is_not_hidden_by_a_server_that_cannot_be_told():
    import httpx

    def flow():
        try:
            raise RunError("The Dask cluster is gone.")
        finally:
            raise httpx.ConnectError("All connection attempts failed")

    with pytest.raises(httpx.ConnectError) as raised:
        flow()
    assert str(_cause_of(raised.value)) == "The Dask cluster is gone."
    assert "no longer answers" in str(_cause_of(httpx.ConnectError("All connection attempts failed")))
    failing = httpx.Response(500)
    told = PrefectHTTPStatusError("Server error", request=httpx.Request("POST", "http://server/api"), response=failing)
    assert "answered with 500, as with a full disk" in str(_cause_of(told))
    told.__context__ = OSError(errno.ENOSPC, "No space left on device")
    assert _cause_of(told) is told.__context__
    other = ValueError("something else")
    assert _cause_of(other) is other


def test_a_server_that_is_gone_before_the_flow_begins_is_named(monkeypatch):
    from prefect.client.orchestration import get_client

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/api"
    with (
        prefect_settings({PREFECT_API_URL: url, PREFECT_CLIENT_MAX_RETRIES: 0}),
        get_client(sync_client=True) as client,
    ):
        with pytest.raises(RuntimeError, match=r"^Failed to reach API") as raised:
            client.raise_for_api_version_mismatch()
        monkeypatch.delenv(PRIVATE, raising=False)
        assert str(_cause_of(raised.value)).startswith(f"The Prefect server at {url} no longer answers: start it")


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_server_that_is_killed_in_the_middle_is_named_and_shards_are_not_blamed(
    project, facetflow, wait_until, tmp_path
):
    project.write(120, sentences=8, per_shard=8)
    script = tmp_path / "impatient.py"
    script.write_text(SCRIPT)
    with (
        serving() as server,
        subprocess.Popen(
            [sys.executable, str(script), "build"],
            cwd=project.folder,
            env={**facetflow.environment, "PREFECT_API_URL": server.address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as build,
    ):
        wait_until(lambda: project.has_committed("amr"), "the first commit of graphs", 300)
        server._process.kill()
        output, _ = build.communicate(timeout=300)
    assert build.returncode == 1, output
    assert output.count(f"The Prefect server at {server.url} no longer answers: start it again") == 1
    assert "Traceback" not in output
    assert "Unexpected" not in output
    assert project.store.runs()[0].failed == ()
    assert project.store.runs()[0].state == "failed"


AWAY = """
from prefect.settings import PREFECT_API_URL, temporary_settings

make_all = run_shards.ShardRunner.run

def run(*arguments):
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):  # where nobody listens
        make_all(*arguments)

run_shards.ShardRunner.run = run
run_shards.ApiWatch.check = lambda _: None  # which would end a build that takes long on a busy machine
"""


@pytest.mark.slow
def test_no_shard_is_blamed_for_a_server_that_is_away_when_it_begins(project, build_with):
    project.write(20, sentences=8, per_shard=8)
    record = build_with(project, AWAY)
    assert (record.state, record.failed) == ("done", ())
