"""What other commands know of `facetflow up`, from its lock and its file."""

import fcntl
import json
import os

import pytest

from flows import services
from flows.command_line import run
from flows.services import Running, running

UP = {"process": os.getpid(), "url": "http://127.0.0.1:4200/api"}


@pytest.fixture
def state(tmp_path, monkeypatch):
    """The state folder of a user for whom `facetflow up` has run, and was killed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "facetflow"
    folder.mkdir(parents=True)
    (folder / "up.lock").touch()
    (folder / "up.json").write_text(json.dumps(UP))
    return folder


def test_up_runs_while_its_lock_is_held(state):
    assert running() is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert running() == Running(os.getpid(), "http://127.0.0.1:4200/api")
    assert running() is None


def test_two_commands_that_ask_at_once_do_not_take_each_other_for_up(state):
    with (state / "up.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as `running` does
        assert running() is None


def test_up_that_ends_by_itself_is_not_an_error_of_down(state, monkeypatch):
    answers = iter([Running(4711, "http://127.0.0.1:4200/api"), None])
    monkeypatch.setattr(services, "running", lambda: next(answers))

    def gone(*_):
        raise ProcessLookupError

    monkeypatch.setattr("os.kill", gone)
    assert services.stop()


def test_status_says_whether_up_runs(state, built, monkeypatch, capsys):
    monkeypatch.chdir(built.folder)
    assert run(["status"]) == 0
    assert capsys.readouterr().out.endswith("\n`facetflow up` does not run.\n")
    assert run(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["service"] is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(["status"]) == 0
        assert capsys.readouterr().out.endswith(
            f"\n`facetflow up` runs (process {os.getpid()}): http://127.0.0.1:4200\n"
        )
        assert run(["status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["service"] == UP
