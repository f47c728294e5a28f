"""What a failing flow leaves in the log of `facetflow up`: one line, not its traceback every night."""

import logging
import os
import subprocess
import sys

import pytest

from flows.server import services
from flows.server.own_server import QUIET, TALKING
from flows.server.worker_log import OneLineHandler

FLOW = """
from prefect.logging import get_logger
from prefect.logging.configuration import setup_logging

setup_logging()
NAMES = dict.fromkeys(("flow_run_name", "flow_name", "flow_run_id"), "nightly")
try:
    raise ValueError("odd")
except ValueError as error:
    get_logger("flow_runs").error("Encountered exception during execution: %r", error, exc_info=True, extra=NAMES)
    get_logger("flow_runs").error("Finished in state Failed(%s)", "\\x1b[2J", extra=NAMES)
"""


@pytest.mark.slow
def test_an_error_of_a_flow_is_one_line(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(services.subprocess, "Popen", lambda *_, env, **__: started.append(env))
    services._start_worker("pool", tmp_path / "w")
    environment = started[0] | {"PREFECT_LOGGING_TO_API_ENABLED": "false", "PREFECT_LOGGING_LEVEL": "INFO"}
    environment["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "INFO"
    monkeypatch.undo()
    done = subprocess.run([sys.executable, "-c", FLOW], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.count("Encountered exception during execution: ValueError('odd')") == 1
    assert "Traceback" not in done.stderr
    assert "\\u001b[2J" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.slow
def test_what_verbose_shows_of_an_error_is_visible():
    environment = os.environ | QUIET | TALKING
    done = subprocess.run([sys.executable, "-c", FLOW], env=environment, capture_output=True, text=True, check=True)
    assert "Traceback" in done.stderr
    assert "\\u001b[2J" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_traceback_that_another_handler_has_written_or_is_to_write_is_left_to_it(capsys):
    record = logging.LogRecord("flow_runs", logging.ERROR, __file__, 1, "odd", (), (ValueError, ValueError(), None))
    record.exc_text = "Traceback, as another handler has written it"
    OneLineHandler().emit(record)
    assert record.exc_info is not None
    assert record.exc_text.startswith("Traceback")
    told = capsys.readouterr().err
    assert "odd" in told
    assert "Traceback" not in told
