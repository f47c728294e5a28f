"""What a run sends to its Prefect server: each line once, artifacts in their last state, no error if it is away."""

import json
import logging
import re
import threading
import time
from contextlib import contextmanager
from itertools import chain
from types import SimpleNamespace
from uuid import uuid4

import patient_http
import pytest

from features.store.releases import Release
from flows import terminal
from flows.server import outbox as module
from flows.server.outbox import Artifact, Outbox, telling_the_server
from flows.server.prefect_address import talking_to
from flows.terminal import Verbosity

TALKING = """
import logging, sys
from training.process import run_process
log = logging.getLogger("training")
def run(settings):
    log.info("step 1 of 2")
    log.warning("few pairs\\nin two lines")
    print("from a library", flush=True)
    {end}
sys.exit(run_process("talking", "talks", run, None))
"""
FLOW = """
from pathlib import Path
from prefect import flow
from flows.server.outbox import Artifact, telling_the_server
from flows.trainings.training_process import run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob

@flow(name="talking_flow")
def talking_flow(folder: str):
    with telling_the_server() as outbox:
        for share in (10.0, 60.0):
            outbox.show(Artifact("talking-progress", "progress", share, "two steps"))
        outbox.show(Artifact("talking-table", "table", [{"stage": "amr", "rows": 3}], "a table"))
        source = Source(store=Path("none"))
        run_job("talking", TrainingJob(source=source, settings=S3bertSettings(), output=Path(folder)))
"""


def _run(server, folder, monkeypatch, end):
    """Run a flow that runs a talking process; return its error, and its log lines as level and message."""
    (folder / "talking.py").write_text(TALKING.format(end=end))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.setenv("PREFECT_LOGGING_TO_API_ENABLED", "false")
    spaces = {}
    exec(FLOW, spaces)  # noqa: S102 (a flow whose annotations are of this process)
    with talking_to(server.address):
        state = spaces["talking_flow"](str(folder / "run"), return_state=True)
    run = str(state.state_details.flow_run_id)
    query = {"logs": {"flow_run_id": {"any_": [run]}}, "sort": "TIMESTAMP_ASC"}
    lines = patient_http.client.post(f"{server.address}/logs/filter", json=query).json()
    return state, run, [(line["level"], line["message"]) for line in lines]


LINES = [
    (logging.INFO, "step 1 of 2"),
    (logging.WARNING, "few pairs"),
    (logging.WARNING, "in two lines"),
    (logging.INFO, "from a library"),
]


@pytest.mark.slow
def test_what_a_training_logs_is_once_in_the_log_of_the_run_and_on_the_terminal(server, tmp_path, monkeypatch, capfd):
    state, run, lines = _run(server, tmp_path, monkeypatch, "pass")
    assert state.is_completed()
    assert lines == LINES
    written = capfd.readouterr().err.splitlines()
    assert [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in written if " | " not in line] == [
        text for _, text in LINES
    ]

    query = {"artifacts": {"flow_run_id": {"any_": [run]}}}
    found = {of["key"]: of for of in patient_http.client.post(f"{server.address}/artifacts/filter", json=query).json()}
    assert found["talking-progress"]["data"] == 60.0
    assert json.loads(found["talking-table"]["data"]) == [{"stage": "amr", "rows": 3}]


@pytest.mark.slow
def test_a_training_that_fails_leaves_its_lines_its_traceback_and_its_sentence_in_the_log(
    server, tmp_path, monkeypatch
):
    state, _, lines = _run(server, tmp_path, monkeypatch, "raise ValueError('odd')")
    assert state.is_failed()
    assert lines[:4] == LINES
    (traceback,) = [text for level, text in lines if level == logging.ERROR and text.startswith("Traceback")]
    assert traceback.endswith("ValueError: odd")
    (sentence,) = [text for _, text in lines if text.startswith("The training ended with ValueError: odd")]
    assert "the traceback is in" in sentence


@pytest.fixture
def away(monkeypatch):
    """A server that does not answer, and an outbox that does not wait long."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    monkeypatch.setattr(module, "EVERY", 0.05)
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        yield


def test_a_server_that_is_away_costs_a_run_nothing_and_is_said_once(away, capsys):
    outbox = Outbox(uuid4())
    outbox.log(logging.INFO, "a line")
    outbox.show(Artifact("a", "progress", 1.0))
    time.sleep(0.2)
    outbox.close()
    assert capsys.readouterr().err == "The Prefect server did not take 1 log line and 1 artifact of this run.\n"


class Client:
    """A server that takes everything at once."""

    def __init__(self):
        self.batches, self.artifacts, self.settings, self.on_new = [], [], set(), lambda: None

    def create_logs(self, lines):
        self.batches.append([line["message"] for line in lines])

    def create_artifact(self, new):
        self.on_new()
        self.artifacts.append(("new", new.key, new.data))
        return SimpleNamespace(id=uuid4())

    def update_artifact(self, _, content):
        self.artifacts.append(("again", content.data))


@pytest.fixture
def client(monkeypatch):
    from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

    client = Client()

    @contextmanager
    def get_client(**_):
        client.settings.add((PREFECT_API_URL.value(), PREFECT_CLIENT_MAX_RETRIES.value()))
        yield client

    monkeypatch.setattr("prefect.client.orchestration.get_client", get_client)
    monkeypatch.setattr(module, "EVERY", 0.01)
    monkeypatch.delenv("FACETFLOW_PRIVATE_SERVER", raising=False)
    with temporary_settings({PREFECT_API_URL: "http://of-the-flow/api"}):
        yield client


def test_lines_come_once_in_order_and_in_parts(client):
    outbox = Outbox(uuid4())
    lines = [f"line {number}" for number in range(450)]
    for line in (*lines, " \n", "x" * 30_000):
        outbox.log(logging.INFO, line)
    outbox.close()
    assert "outbox" not in {thread.name for thread in threading.enumerate()}, "it was not waited for in vain"
    assert list(chain(*client.batches)) == [*lines, "x" * 20_000]
    assert max(map(len, client.batches)) <= 200
    assert client.settings == {("http://of-the-flow/api", 0)}
    outbox.log(logging.INFO, "afterwards")
    assert not outbox.open


def test_what_is_told_while_lines_are_sent_is_sent_next_where_only_some_are_kept(client, monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 3)
    take, more = client.create_logs, ["three", "four", "five"]

    def slowly(lines):
        take(lines)
        while more:
            outbox.log(logging.INFO, more.pop(0))

    monkeypatch.setattr(client, "create_logs", slowly)
    outbox = Outbox(uuid4())
    outbox.log(logging.INFO, "one")
    outbox.close()
    assert client.batches == [["one"], ["three", "four", "five"]]


def test_an_artifact_is_made_once_and_shows_the_last_that_was_told(client, wait_until, capsys):
    outbox = Outbox(uuid4())
    client.on_new = lambda: outbox.show(Artifact("a", "progress", 20.0))  # while the first is on its way
    outbox.show(Artifact("a", "progress", 10.0))
    wait_until(lambda: client.artifacts, "the artifact")
    outbox.close()
    assert client.artifacts == [("new", "a", 10.0), ("again", 20.0)], "the second within seconds, since the run ended"
    assert capsys.readouterr().err == "", "none is left"


def test_an_artifact_that_cannot_be_read_is_a_warning(client, capsys):
    outbox = Outbox(uuid4())
    outbox.show_all(1 / 0 for _ in range(1))
    outbox.close()
    assert "lacks part of this run: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("by_prefect", [False, True])
def test_the_error_of_a_run_is_told_once_and_raised(client, monkeypatch, by_prefect):
    from prefect.settings import PREFECT_LOGGING_TO_API_ENABLED, temporary_settings

    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", str(uuid4()))
    to_api = temporary_settings({PREFECT_LOGGING_TO_API_ENABLED: by_prefect})
    with to_api, pytest.raises(LookupError), telling_the_server():
        raise LookupError("odd")
    assert list(chain(*client.batches)) == ([] if by_prefect else ["LookupError: odd"])


def test_a_release_is_told_only_where_somebody_may_listen(monkeypatch):
    told = []
    monkeypatch.setattr("prefect.events.emit_event", lambda *given, payload: told.append((*given, payload)))
    monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
    store = SimpleNamespace(id="s", location="store")
    release = Release(3, "run", "2026", "1", {"rejects": 0}, {}, {}, {})
    module.emit_release("p", store, release)
    assert told == []
    monkeypatch.delenv("FACETFLOW_PRIVATE_SERVER")
    module.emit_release("p", store, release)
    ((event, resource, payload),) = told
    assert (event, resource["prefect.resource.id"]) == (module.COMMITTED, "facetflow.store.s")
    assert (payload["project"], payload["release"]) == ("p", 3)


@pytest.mark.parametrize("in_flow", [True, False])
def test_without_a_flow_or_a_server_that_outlives_it_nothing_is_sent(monkeypatch, in_flow):
    monkeypatch.delenv("FACETFLOW_PRIVATE_SERVER", raising=False)
    if in_flow:
        monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
        monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", str(uuid4()))
    with telling_the_server() as outbox:
        outbox.show_all(pytest.fail("asked for artifacts") for _ in range(1))
        assert not outbox.open


def test_every_line_is_heard_at_its_level_whatever_the_terminal_shows(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "_verbosity", Verbosity.QUIET)
    heard = []
    with terminal.heard_by(lambda level, text: heard.append((level, text))):
        for write in (terminal.warn, terminal.conclude, terminal.say, terminal.detail):
            write(write.__name__)
    terminal.warn("afterwards")
    assert heard == [(30, "warn"), (20, "conclude"), (20, "say"), (10, "detail")]
    assert capsys.readouterr().err.splitlines() == ["warn", "conclude", "afterwards"]
