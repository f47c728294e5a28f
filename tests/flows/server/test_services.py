"""What other commands learn about `facetflow up` from its lock and its file."""

import errno
import fcntl
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from sentences import refused

from features.core.faults import AnotherProcess, LockImpossible, ProcessStays, ServerNotStarted, StoreUnreachable
from flows.command_line import run
from flows.deployments import Deployed
from flows.server import prefect_address, services, up_record
from flows.server.own_server import OwnServer
from flows.server.passwords import with_credentials
from flows.server.services import Running, describe, running

UP = {"process": os.getpid(), "url": "http://127.0.0.1:4200/api"}
WITH_PASSWORD = with_credentials(UP["url"], "facetflow:secret")


class Server:
    """A server that runs and answers until a test says otherwise."""

    url, address, credentials = UP["url"], WITH_PASSWORD, "facetflow:secret"
    log_before = Path("server.log.1")

    def wait_until_ready(self):
        pass

    def stop(self):
        pass


@pytest.fixture
def state(tmp_path, monkeypatch):
    """The state folder of a user whose `facetflow up` ran and was killed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "facetflow"
    folder.mkdir(parents=True)
    (folder / "up.lock").touch()
    (folder / "up.json").write_text(json.dumps(UP))
    (folder / "password").write_text("facetflow:secret\n")
    return folder


def test_up_runs_while_its_lock_is_held(state):
    assert running() is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
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
        assert describe(running()) == f"`facetflow up` is starting (process {os.getpid()})."
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


def test_a_port_that_cannot_be_had_is_refused_with_its_reason(tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with refused(ServerNotStarted):
            OwnServer(tmp_path, port)

    class Forbidden(socket.socket):
        def bind(self, _):
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("socket.socket", Forbidden)
    with refused(ServerNotStarted):
        OwnServer(tmp_path, 80)


def test_a_state_folder_that_cannot_be_written_is_not_called_a_port_that_is_taken(state, monkeypatch):
    (state / "prefect").touch()
    with refused(StoreUnreachable):
        services.keep_running("pool", 4200, lambda _: None, lambda: None)
    assert running() is None


@pytest.mark.parametrize("silences", [5, 6])
def test_a_server_that_stands_still_for_minutes_is_started_again(silences, state, monkeypatch, capsys):
    looks = [False] * silences + [True]
    restarts = []

    class Standing(Server):
        """A server process that runs, whether it answers or not."""

        def ended(self):
            if not looks:
                raise KeyboardInterrupt
            return False

        def restart(self):
            restarts.append(self)

    def sleeping():
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    monkeypatch.setattr(services, "_start_server", lambda *_: Standing())
    monkeypatch.setattr(services, "_start_worker", lambda *_: sleeping())
    monkeypatch.setattr(services, "_mark_dead_runs", lambda **_: True)
    monkeypatch.setattr(services, "answers", lambda *_, **__: looks.pop(0))
    monkeypatch.setattr(services, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(services, "_POLL", 0.0)
    with pytest.raises(KeyboardInterrupt):
        services.keep_running("pool", 0, lambda _: None, lambda: None)
    assert len(restarts) == (silences == 6)
    assert ("did not answer 6 times in a row and is restarted" in capsys.readouterr().err) == (silences == 6)


@pytest.mark.parametrize(("answers", "every"), [([], 30.0), ([True, False], 0.0)], ids=["at once", "later"])
def test_a_server_that_lost_its_database_is_started_again_once_and_told_its_projects(
    state, monkeypatch, capsys, answers, every
):
    database, looks, restarted, told = state / "prefect" / "prefect.db", iter(range(9)), [], []
    database.parent.mkdir()
    database.touch()

    class Losing(Server):
        """A server whose database is replaced after the second look at its process."""

        def ended(self):
            if (look := next(looks)) == 1:
                (state / "other.db").touch()
                (state / "other.db").replace(database)
            if look == 8:
                raise KeyboardInterrupt
            return False

        def restart(self):
            restarted.append(self)

    monkeypatch.setattr(services, "_start_server", lambda *_: Losing())
    monkeypatch.setattr(services, "_start_worker", lambda *_: SimpleNamespace(poll=lambda: None))
    monkeypatch.setattr(services, "_end", lambda _: None)
    monkeypatch.setattr(services, "_mark_dead_runs", lambda **_: True)
    monkeypatch.setattr(services, "_schedule_again", lambda _: None)
    monkeypatch.setattr(services, "answers", lambda *_, **__: answers.pop(0) if answers else True)
    monkeypatch.setattr(services, "_LOOK_EVERY", every)
    monkeypatch.setattr(services, "_POLL", 0.0)
    with pytest.raises(KeyboardInterrupt):
        services.keep_running("pool", 0, lambda _: None, lambda: told.append("projects"))
    assert (len(restarted), told) == (1, ["projects"])
    assert capsys.readouterr().err.count("The Prefect server lost its database and is restarted") == 1


def test_a_worker_starts_once_the_runs_of_its_predecessor_are_marked_as_dead(state, monkeypatch):
    events, marks = [], [True, False, False, True]

    class Unsure(Server):
        """A server that answers, but not always what it holds to be running."""

        def ended(self):
            if not marks:
                raise KeyboardInterrupt
            return False

    class Worker:
        """One that has ended by itself as often as it is looked at."""

        def __init__(self, *_):
            events.append("start")

        def poll(self):
            return 1

    def mark(*, worker_runs):
        events.append(("marked" if marks.pop(0) else "refused", worker_runs))
        return events[-1][0] == "marked"

    monkeypatch.setattr(services, "_start_server", lambda *_: Unsure())
    monkeypatch.setattr(services, "_start_worker", Worker)
    monkeypatch.setattr(services, "_end", lambda _: events.append("end"))
    monkeypatch.setattr(services, "_mark_dead_runs", mark)
    monkeypatch.setattr(services, "answers", lambda *_, **__: True)
    monkeypatch.setattr(services, "_schedule_again", lambda _: None)
    monkeypatch.setattr(services, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(services, "_POLL", 0.0)
    with pytest.raises(KeyboardInterrupt):
        services.keep_running("pool", 0, lambda _: None, lambda: None)
    refused_twice = [("refused", False)] * 2
    assert events == [("marked", False), "start", "end", *refused_twice, ("marked", False), "start", "end"]


def test_what_ran_is_scheduled_again_once_it_has_ended_and_before_the_server_does(state, monkeypatch, capsys):
    run, steps, looks = uuid.uuid4(), [], []

    class Ending(Server):
        """A server that runs until `facetflow up` ends."""

        def ended(self):
            if looks:
                raise SystemExit(143)
            looks.append(self)
            return False

        def wait_until_ready(self):
            assert up_record.running()

        def stop(self):
            steps.append("server")

    def schedule_again(runs):
        steps.extend(runs)
        return ["hasty-heron"]

    worker = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(services, "_start_server", lambda *_: Ending())
    monkeypatch.setattr(services, "_start_worker", lambda *_: subprocess.Popen(worker, start_new_session=True))
    monkeypatch.setattr(services, "answers", lambda *_, **__: True)
    monkeypatch.setattr(services, "mark_dead_runs", lambda **_: [])
    monkeypatch.setattr(services, "runs_of_processes", lambda url: set() if steps or url != UP["url"] else {run})
    monkeypatch.setattr(services, "_end", lambda worker: (worker.kill(), worker.wait(), steps.append("worker")))
    monkeypatch.setattr(services, "schedule_again", schedule_again)
    monkeypatch.setattr(services, "_POLL", 0.0)
    with pytest.raises(SystemExit):
        services.keep_running("pool", 0, lambda _: None, lambda: None)
    assert steps == ["worker", run, "server"]
    assert "'hasty-heron' was ended, and goes on when `facetflow up` runs again." in capsys.readouterr().err


FLOW = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("in order"))
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(flush=True)
while True:  # a signal just before one long sleep would be noticed after it
    time.sleep(0.1)
"""


def test_flows_end_in_order_although_each_has_its_own_session(monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", UP["url"])
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    environment = {**os.environ, "PREFECT__FLOW_RUN_ID": str(uuid.uuid4())}
    with (
        subprocess.Popen(
            [sys.executable, "-c", FLOW],
            env=environment,
            start_new_session=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as flow,
        subprocess.Popen(
            [sys.executable, "-c", "input()"],
            env=environment | {"PREFECT_API_URL": "http://127.0.0.1:4201/api"},
            stdin=subprocess.PIPE,
        ) as of_another_server,
    ):
        assert flow.stdout.readline() == "\n"
        (started,) = psutil.Process(flow.pid).children()
        threading.Thread(target=flow.wait, daemon=True).start()
        monkeypatch.setattr(services, "STOP_TIMEOUT", 120.0)
        ending = threading.Thread(target=services._end, args=[worker])
        ending.start()
        assert flow.wait(120) == 1
        started.kill()
        ending.join()
        assert flow.stderr.read() == "in order\n"
        assert of_another_server.poll() is None
        of_another_server.communicate(b"\n")
    assert worker.returncode == -signal.SIGTERM


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


def test_up_that_does_not_end_is_named(state, monkeypatch, its_time):
    monkeypatch.setattr(services, "running", lambda: Running(4711, UP["url"]))
    monkeypatch.setattr("os.kill", lambda *_: None)
    now = itertools.count(0.0, 60.0)
    its_time("flows.server.services", monotonic=lambda: next(now), sleep=lambda _: None)
    with refused(ProcessStays):
        services.stop()


def test_status_says_whether_up_runs(state, built, monkeypatch, capsys):
    monkeypatch.chdir(built.folder)
    assert run(["status"]) == 0
    assert capsys.readouterr().out.endswith("\n`facetflow up` is not running.\n")
    assert run(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["service"] is None
    with (state / "up.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(["status"]) == 0
        assert capsys.readouterr().out.endswith(
            f"\n`facetflow up` is running (process {os.getpid()}): http://127.0.0.1:4200 (its pages ask for what is in "
            f"{str(state / 'password')!r})\n"
        )
        assert run(["status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["service"] == UP


def test_a_server_that_is_started_again_leaves_the_log_of_the_one_before(tmp_path, monkeypatch):
    class Process:
        def __init__(self, *_, stdout, **__):
            stdout.write(b"why it ended")

        def terminate(self):
            pass

        def wait(self, *_):
            return 0

    monkeypatch.setattr("flows.server.own_server.subprocess.Popen", Process)
    server = OwnServer(tmp_path)
    server.restart()
    server.stop()
    assert {log.name: log.read_text() for log in tmp_path.glob("server.log*")} == {
        "server.log": "why it ended",
        "server.log.1": "why it ended",
    }


def test_a_port_that_was_given_is_that_of_the_next_server_too(state, monkeypatch):
    monkeypatch.setattr(services, "OwnServer", lambda _, port=0: SimpleNamespace(port=port or 1))
    assert [services._start_server(state, port).port for port in (0, 4321, 0)] == [1, 4321, 4321]
    assert (state / "prefect").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("before", ["taken", "4321"])
def test_a_port_that_cannot_be_had_again_is_followed_by_any(state, monkeypatch, before):
    def start(_, port=0):
        if port:
            raise ServerNotStarted("Port 4321 of 127.0.0.1 is taken.")
        return SimpleNamespace(port=1)

    (state / "port").write_text(before)
    (state / "prefect").mkdir(mode=0o755)
    monkeypatch.setattr(services, "OwnServer", start)
    assert services._start_server(state, 0).port == 1
    assert (state / "port").read_text() == "1"
    assert (state / "prefect").stat().st_mode & 0o777 == 0o700, "what an earlier version made"


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


def test_other_projects_are_served_where_the_one_that_up_is_started_with_is_gone(state, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("flows.commands.up.configured_api", lambda: None)
    monkeypatch.setattr("flows.deployments.deploy_lost", lambda: None)
    monkeypatch.setattr(services, "keep_running", lambda pool, port, on_ready, on_restart: on_ready("http://up/api"))
    gone = ["up", "--project", str(tmp_path / "gone.toml")]
    up_record.record_project(tmp_path / "gone.toml", None)
    assert run(gone) == 1
    up_record.record_project(tmp_path / "other.toml", None)
    assert run(gone) == 1  # deleted, too
    (tmp_path / "other.toml").touch()
    assert run(gone) == 0
    assert "Other projects are served: http://up" in capsys.readouterr().err
