"""What commands learn about `facetflow up` from its lock and its file, and which projects it is to serve."""

import errno
import fcntl
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import AnotherProcess, LockImpossible
from flows.command_line import run
from flows.deployments import Deployed
from flows.server import prefect_address, up_record
from flows.server.up_record import Running, describe, running
from tests.flows.server.conftest import UP, WITH_PASSWORD


def test_up_runs_while_its_lock_is_held(state, tmp_path, monkeypatch):
    assert running() is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert running() == Running(os.getpid(), "http://127.0.0.1:4200/api")
        (tmp_path / "linked").symlink_to(state.parent)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "linked"))
        assert running() == Running(os.getpid(), "http://127.0.0.1:4200/api")
    assert running() is None


def test_a_process_with_the_number_of_up_on_another_machine_is_not_taken_for_it(state, its_time):
    (state / "up.json").write_text(json.dumps(UP | {"process": os.getppid()}))  # `down` would end it
    its_time("flows.server.up_record", monotonic=itertools.count().__next__)
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert running() is None


def test_up_counts_as_running_from_its_first_moment(state, monkeypatch):
    (state / "up.json").write_text(json.dumps(UP | {"process": 2**22 + 1}))  # of one that was killed
    with up_record.only_one():
        assert running() == Running(os.getpid(), None)
        assert describe(running(), state) == f"`facetflow up` is starting (process {os.getpid()})."
        with refused(AnotherProcess), up_record.only_one():
            pass
        up_record.write(UP["url"])
        assert running() == Running(os.getpid(), UP["url"])
    assert running() is None
    assert not (state / "up.json").exists()


@pytest.mark.parametrize("before", ["", "{", "{}", "[]", *(json.dumps(UP | {"process": of}) for of in (2**22 + 1, -1))])
def test_a_record_that_is_not_there_yet_is_awaited(state, its_time, before):
    (state / "up.json").write_text(before)  # as one that was killed left it
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        its_time("flows.server.up_record", sleep=lambda _: (state / "up.json").write_text(json.dumps(UP)))
        assert running() == Running(os.getpid(), UP["url"])


def test_a_command_awaits_the_server_that_is_starting(state, monkeypatch, its_time):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(state))
    monkeypatch.setattr(prefect_address, "standing", lambda _: "answers")
    with up_record.only_one():
        its_time("flows.server.prefect_address", sleep=lambda _: up_record.write(UP["url"]))
        assert prefect_address.configured_api() == WITH_PASSWORD, "it is to do what is due"


@pytest.mark.parametrize("standings", [["gone", "answers"], ["silent"]], ids=["starting again", "hanging"])
def test_no_command_does_beside_up_what_it_is_to_do(state, monkeypatch, standings):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(state))
    monkeypatch.setattr(prefect_address, "standing", lambda *_: standings.pop(0))
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert prefect_address.configured_api() == WITH_PASSWORD


def test_the_address_of_up_alone_is_enough(state, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", UP["url"])
    assert prefect_address.configured_api() == UP["url"]
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert prefect_address.configured_api() == WITH_PASSWORD
        monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
        assert prefect_address.configured_api() == "http://127.0.0.1:1/api"


def test_a_state_folder_without_locks_is_one_sentence_of_up_and_none_of_other_commands(state, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert running() is None
    with refused(LockImpossible), up_record.only_one():
        pass


def test_two_commands_that_ask_at_once_do_not_take_each_other_for_up(state):
    with (state / "up.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as `running` does
        assert running() is None


def test_status_says_whether_up_runs_and_serves_the_project(state, built, monkeypatch, capsys):
    monkeypatch.chdir(built.folder)
    assert run(["status"]) == 0
    assert capsys.readouterr().out.endswith("\n`facetflow up` is not running.\n")
    assert run(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["service"] is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(["status"]) == 0
        runs = (
            f"\n`facetflow up` is running (process {os.getpid()}): http://127.0.0.1:4200 (its pages ask for what is in "
            f"{str(state / 'password')!r})"
        )
        assert capsys.readouterr().out.endswith(f"{runs}; `facetflow up` adds this project to it\n")
        up_record.record_project(built.folder / "facetflow.toml", None)
        assert run(["status"]) == 0
        assert capsys.readouterr().out.endswith(f"{runs}\n")
        assert run(["status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["service"] == UP


def test_a_project_that_deploy_adds_to_the_server_of_up_is_registered_again_too(state, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("flows.commands.up.configured_api", lambda: WITH_PASSWORD)
    monkeypatch.setattr("flows.commands.up.prefect_api", nullcontext)
    monkeypatch.setattr("flows.commands.up.running", lambda: Running(1, UP["url"]))
    monkeypatch.setattr("flows.deployments.deploy", lambda *_, **__: Deployed(("refresh/p",), ()))
    file = tmp_path / "facetflow.toml"
    assert run(["deploy", "--project", str(file), "--cron", "0 3 * * *"]) == 0
    assert up_record.projects() == {str(file): "0 3 * * *"}
    assert "prefect worker start" not in capsys.readouterr().out, "that of `up` runs"
    assert run(["deploy", "--project", str(file), "--pool", "gpu"]) == 0
    assert "prefect worker start --pool gpu" in capsys.readouterr().out


@pytest.mark.parametrize("damaged", ["{", "null"])
def test_a_project_that_is_registered_again_keeps_its_schedule(state, monkeypatch, tmp_path, damaged):
    (state / "projects.json").write_text(damaged)
    up_record.record_project(tmp_path / "facetflow.toml", "0 3 * * *")
    monkeypatch.chdir(tmp_path)
    up_record.record_project(Path("facetflow.toml"), None)
    assert up_record.projects() == {str(tmp_path / "facetflow.toml"): "0 3 * * *"}


def test_projects_that_are_registered_at_the_same_moment_are_all_recorded(state, tmp_path):
    files = [tmp_path / f"{number}.toml" for number in range(6)]
    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(lambda file: up_record.record_project(file, None), files))
    assert up_record.projects().keys() == set(map(str, files))
