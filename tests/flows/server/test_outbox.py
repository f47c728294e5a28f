"""What a run sends to its Prefect server: each line once, artifacts in their last state, no error if it is away."""

import json
import logging
import re
import time

import patient_http
import pytest

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
    from uuid import uuid4

    outbox = Outbox(uuid4())
    outbox.log(logging.INFO, "a line")
    outbox.show(Artifact("a", "progress", 1.0))
    time.sleep(0.2)
    outbox.close()
    assert capsys.readouterr().err == "The Prefect server did not take 1 log lines and 1 artifacts of this run.\n"


def test_without_a_server_that_outlives_the_run_nothing_is_sent(monkeypatch):
    monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
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
