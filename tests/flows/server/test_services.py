"""What `facetflow up` keeps running, starts again and ends, and how."""

import errno
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from types import SimpleNamespace

import psutil
import pytest
from sentences import refused

from features.core.faults import ProcessStays, ServerNotStarted, StoreUnreachable
from flows.command_line import run
from flows.server import services, up_record
from flows.server.own_server import OwnServer
from flows.server.services import running
from flows.server.up_record import Running
from tests.flows.server.conftest import UP, Server


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
def test_a_server_that_stands_still_for_minutes_is_started_again(silences, state, keep_running, capsys):
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

    keep_running(Standing(), answers=lambda *_, **__: looks.pop(0))
    assert len(restarts) == (silences == 6)
    assert ("did not answer 6 times in a row and is restarted" in capsys.readouterr().err) == (silences == 6)


@pytest.mark.parametrize("lost", ["deleted", "replaced"])
@pytest.mark.parametrize(("answers", "every"), [([], 30.0), ([True, False], 0.0)], ids=["at once", "later"])
def test_a_server_that_lost_its_database_is_started_again_once_and_told_its_projects(
    state, keep_running, capsys, lost, answers, every
):
    database, looks, events = state / "prefect" / "prefect.db", iter(range(9)), []
    database.parent.mkdir()
    database.touch()
    answering = iter(answers)

    class Losing(Server):
        """A server that goes on without its database after the second look at its process."""

        def ended(self):
            if (look := next(looks)) == 1:
                if lost == "replaced":
                    (state / "other.db").touch()
                    (state / "other.db").replace(database)
                else:
                    database.unlink()
            if look == 8:
                raise KeyboardInterrupt
            return False

        def restart(self):
            database.touch()
            events.append("restarted")

    keep_running(
        Losing(),
        on_restart=lambda: events.append("told"),
        answers=lambda *_, **__: next(answering, True),
        _LOOK_EVERY=every,
    )
    assert events == ["restarted", "told"]
    assert capsys.readouterr().err.count("The Prefect server lost its database and is restarted") == 1


def test_a_worker_starts_once_the_runs_of_its_predecessor_are_marked_as_dead(state, keep_running):
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

    keep_running(Unsure(), _start_worker=Worker, _end=lambda _: events.append("end"), _mark_dead_runs=mark)
    refused_twice = [("refused", False)] * 2
    assert events == [("marked", False), "start", "end", *refused_twice, ("marked", False), "start", "end"]


def test_what_ran_is_scheduled_again_once_it_has_ended_and_before_the_server_does(state, keep_running, capsys):
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

    keep_running(
        Ending(),
        SystemExit,
        _mark_dead_runs=services._mark_dead_runs,
        mark_dead_runs=lambda **_: [],
        _schedule_again=services._schedule_again,
        schedule_again=schedule_again,
        runs_of_processes=lambda url: set() if steps or url != UP["url"] else {run},
        _end=lambda _: steps.append("worker"),
        _LOOK_EVERY=30.0,
    )
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


def test_a_server_that_is_started_again_leaves_the_log_of_the_one_before(tmp_path, monkeypatch):
    class Process:
        def __init__(self, *_, stdout, env, start_new_session, **__):
            assert start_new_session, "an interrupt at the terminal is for the flow"
            environments.append(env)
            stdout.write(b"why it ended")

        def terminate(self):
            pass

        def wait(self, *_):
            return 0

    environments = []
    monkeypatch.setenv("PREFECT_SERVER_API_PORT", "1")
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    monkeypatch.setattr("flows.server.own_server.subprocess.Popen", Process)
    server = OwnServer(tmp_path)
    server.restart()
    server.stop()
    assert environments[0] == environments[1]
    assert environments[0] | {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"} == environments[0]
    assert "PREFECT_SERVER_API_PORT" not in environments[0], "it may be that of another server"
    assert {log.name: log.read_text() for log in tmp_path.glob("server.log*")} == {
        "server.log": "why it ended",
        "server.log.1": "why it ended",
    }


def test_what_ends_often_is_restarted_after_a_pause(its_time, capsys):
    now, pauses, restarts = [0.0], [], []
    its_time("flows.server.services", monotonic=lambda: now[0], sleep=pauses.append)
    for now[0], often in ((0, False), (10, False), (20, False), (30, False), (40, False), (290, True), (400, False)):
        services._count(restarts, "The worker ended by itself", None)
        assert ("in 60 s, because that happens often" in capsys.readouterr().err) == often
    assert pauses == [60.0]


def test_a_worker_writes_where_a_reader_that_is_gone_is_found_out(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", "echo")
    services._start_worker("pool", tmp_path / "w").wait()
    told = capfd.readouterr()
    assert (told.out, "prefect worker start --pool pool" in told.err) == ("", True)


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
