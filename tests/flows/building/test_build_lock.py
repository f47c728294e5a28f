"""What the lock of a store says about the build that holds it."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import AnotherProcess
from features.core.locks import only_one
from features.store.runs import RunRecord
from features.store.store import Store
from flows.building.store_access import SILENCE, fate, only_writer, this_process
from flows.clusters import worker_start
from flows.server import local_run


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store", create=True)


def record(process: str) -> RunRecord:
    return RunRecord("run", "build_features", "2026-01-01T00:00:00+00:00", process=process)


def test_a_run_is_running_while_its_process_holds_the_lock(store):
    with only_writer(store):
        assert fate(store, record(this_process())) == "running"
        assert fate(store, record("elsewhere:1")) == "killed", "another run holds the lock"
        assert fate(store, record("")) == "killed", "a record of before there were processes in it"
    assert fate(store, record(this_process())) == "ended", "in order, but how was not recorded: the disk was full"
    assert fate(store, record("")) == "killed"
    with only_writer(store):
        assert fate(store, record(this_process())) == "running"


def test_a_killed_run_is_not_taken_for_one_of_the_same_host_and_process_id():
    code = (
        "import os; from flows.building.store_access import this_process\n"
        "os.getpid = lambda: 1\n"  # as in a container that is started again
        "print(this_process() == this_process(), this_process())"
    )
    first, second = (subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2))
    assert first.startswith(f"True {socket.gethostname()}:1")
    assert first != second


def test_a_second_writer_is_told_who_the_first_is(store):
    with only_writer(store), refused(AnotherProcess), only_writer(store):
        pass


@pytest.mark.parametrize("words", [("build",), ("refresh",), ("retry", "--failed")])
def test_a_second_build_is_refused_before_its_server_is_there(words, project, refuses, monkeypatch):
    project.write(1)
    store = Store.open(project.folder / "store", create=True, project="generated")
    monkeypatch.setattr(Store, "committed", lambda *_: True)
    monkeypatch.setattr(local_run, "prefect_api", lambda: nullcontext(object()))  # of which nothing can be asked
    monkeypatch.setattr(worker_start, "get_ready", lambda *_: None)
    with only_writer(store):
        refuses(AnotherProcess, *words, "--project", str(project.folder))


def test_a_process_that_was_killed_is_gone(store):
    code = (
        "import os, signal, sys\nfrom features.store.store import Store\n"
        "from flows.building.store_access import only_writer\n"
        "with only_writer(Store.open(sys.argv[1])):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, store.location]) as process:
        process.wait()
    assert fate(store, record(f"{socket.gethostname()}:{process.pid}")) == "killed"


def test_a_process_on_another_host_is_silent_when_its_lock_grows_old(store):
    lock = Path(store.location) / "build.lock"
    with only_one(lock, "", "elsewhere:1"):
        assert fate(store, record("elsewhere:1")) == "running"
        then = time.time() - SILENCE - 1
        os.utime(lock, (then, then))
        assert fate(store, record("elsewhere:1")) == "silent"


def test_a_copy_of_a_store_that_is_being_built_is_not_being_built(store, tmp_path):
    with only_writer(store):
        copy = Store.open(shutil.copytree(store.location, tmp_path / "copy"))
        assert fate(copy, record(this_process())) == "killed"
        assert fate(store, record(this_process())) == "running"


def test_a_holder_gives_signs_of_life(store, monkeypatch):
    monkeypatch.setattr("features.store.storage.HEARTBEAT", 0.01)
    lock = Path(store.location) / "build.lock"
    with only_writer(store):
        os.utime(lock, (0, 0))
        while lock.stat().st_mtime < 1:  # pytest's timeout ends a test in which there is none
            time.sleep(0.01)
        assert fate(store, record(this_process())) == "running"
