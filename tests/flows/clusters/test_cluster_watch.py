"""Cluster faults in the middle of a build: a sentence each, and no shard is blamed."""

import json
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import dask
import pytest
from distributed import Client, LocalCluster

from features.core.errors import RunError
from flows.clusters import cluster_watch
from flows.clusters.cluster_watch import ClusterWatch

PAUSED = {"name": "worker-0", "status": "paused", "memory_limit": 4 << 30, "metrics": {"executing": 0, "memory": 3.6e9}}
BUSY = {**PAUSED, "metrics": {"executing": 1, "memory": 3.6e9}}


class Watched:
    """A cluster that is watched, by a clock that stands still until the test lets time pass."""

    def __init__(self, monkeypatch, look, restart=lambda _: None, address=None, inspect=lambda _: None):
        self._now = 1000.0
        self._looks = 0
        self._look = look
        monkeypatch.setattr(cluster_watch, "time", SimpleNamespace(monotonic=lambda: self._now))
        monkeypatch.setattr(cluster_watch, "_LOOK_EVERY", 0.001)
        monkeypatch.setattr(cluster_watch, "workers_of", self._counted)
        client = SimpleNamespace(restart_workers=lambda workers, **_: restart(*workers))
        self._watch = ClusterWatch(client, address, inspect)

    def _counted(self, _):
        try:
            return self._look()
        finally:
            self._looks += 1

    def let_pass(self, seconds, looks=2):
        """Check once a second, each time after the watch has looked; pytest's timeout ends a test where it does not."""
        for _ in range(seconds):
            before = self._looks
            while self._looks < before + looks:  # the first of them may have begun before the test changed anything
                time.sleep(0.001)
            self._now += 1
            self._watch.check()

    def suspend(self, seconds):
        """Let time pass in which neither the build nor its watch does anything."""
        self._now += seconds
        self._watch.check()

    def end(self):
        """Return why the watch gives up."""
        with pytest.raises(RunError) as error:
            self.let_pass(1000)
        return str(error.value)

    def stop(self):
        self._watch.stop()


@pytest.fixture
def watch_over(monkeypatch):
    started = []

    def start(*arguments, **named):
        started.append(Watched(monkeypatch, *arguments, **named))
        return started[-1]

    yield start
    for watched in started:
        watched.stop()


def silent():
    raise OSError("Timed out")


def test_a_scheduler_that_does_not_answer_ends_the_build(watch_over):
    sentence = watch_over(silent, address="tcp://host:8786").end()
    assert sentence.startswith("The Dask scheduler of the Dask cluster at 'tcp://host:8786' no longer answers, or ")
    assert "no shard is to blame" in sentence


def test_a_scheduler_that_a_suspended_build_did_not_ask_is_not_gone(watch_over):
    watched = watch_over(silent, address="tcp://host:8786")
    watched.let_pass(15)
    watched.suspend(3600)
    watched.let_pass(15)
    assert "no longer answers" in watched.end()


def test_a_scheduler_that_goes_once_its_workers_were_asked_ends_the_build(watch_over):
    answers = [{"tcp://1": BUSY}]
    assert "no longer answers" in watch_over(lambda: answers.pop() if answers else silent(), address="tcp://1").end()


def test_a_scheduler_of_this_process_is_slow_and_not_gone(watch_over):
    watch_over(silent).let_pass(60)


def test_a_cluster_without_workers_is_told_before_the_build_ends(watch_over, capsys):
    sentence = watch_over(dict, address="tcp://host:8786").end()
    said = capsys.readouterr().err
    assert said.count("No worker of the Dask cluster at 'tcp://host:8786' is left; the build waits") == 1
    assert "`dask worker tcp://host:8786`" in said
    assert sentence.startswith("No worker of the Dask cluster at 'tcp://host:8786' has come back within")


def test_workers_that_come_back_are_waited_for_anew(watch_over, capsys):
    now = [{}]
    watched = watch_over(lambda: now[-1], address="tcp://host:8786")
    watched.let_pass(10)
    assert capsys.readouterr().err == "", "a nanny may be restarting them"
    for _ in range(2):
        watched.let_pass(200)
        now.append({"tcp://1": BUSY})
        watched.let_pass(2)
        now.append({})
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(" of ")[0] for line in said] == ["No worker"] * 2, "which of them is gone is not told, too"


def test_a_worker_has_time_to_go_on_by_itself_and_after_a_restart(watch_over):
    now, restarted = [{**PAUSED, "status": "running"}], []
    watched = watch_over(lambda: {"tcp://1": now[-1]}, restarted.append)
    watched.let_pass(20)
    now.append(PAUSED)
    watched.let_pass(10)
    assert restarted == []
    watched.let_pass(18)
    assert restarted == ["tcp://1"]


def test_a_worker_that_rests_at_its_limit_is_started_again_twice(watch_over, capsys):
    restarted = []
    sentence = watch_over(lambda: {"tcp://1": PAUSED}, restarted.append).end()
    assert restarted == ["tcp://1", "tcp://1"]
    assert (
        capsys.readouterr().err.count("is paused at 3.35 GiB of its 4.00 GiB of memory, so Dask gives it no shard") == 2
    )
    assert sentence.endswith(": raise memory_limit or lower workers in [cluster], and run the same command.")


def test_a_worker_that_cannot_be_started_again_ends_the_build(watch_over):
    tried = []

    def restart(worker):
        tried.append(worker)
        raise ValueError("it has no nanny")

    sentence = watch_over(lambda: {"tcp://1": PAUSED}, restart, "tcp://host:8786").end()
    assert sentence.endswith(
        ": start workers with a higher `--memory-limit`, or fewer of them, and run the same command."
    )
    assert tried == ["tcp://1"]


def test_a_lost_worker_is_told_unless_it_or_another_has_come_instead(watch_over, capsys):
    fit = {**PAUSED, "status": "running"}
    now = [("one", "two", "three")]
    watched = watch_over(lambda: {name: {**fit, "name": name} for name in now[-1]}, address="tcp://host:8786")
    watched.let_pass(20)
    now.append(("two", "three"))
    watched.let_pass(10)
    now.append(("one again", "two", "three"))
    watched.let_pass(20)
    now.append(("one again", "two"))
    watched.let_pass(10)
    now.append(("one again", "two", "three"))
    watched.let_pass(20)
    assert capsys.readouterr().err == ""
    now.append(("one again", "three"))
    watched.let_pass(20)
    assert capsys.readouterr().err.splitlines() == [
        "The worker 'two' of the Dask cluster at 'tcp://host:8786' is gone; the others make its shards."
    ]
    now.append(("one again", "three again"))
    watched.let_pass(20)
    assert capsys.readouterr().err == ""


def test_a_worker_of_the_local_cluster_comes_again_and_is_not_told(watch_over, capsys):
    now = [("one", "two")]
    watched = watch_over(lambda: {name: {**BUSY, "name": name} for name in now[-1]})
    watched.let_pass(5)
    now.append(("one",))
    watched.let_pass(30)
    assert capsys.readouterr().err == ""


def test_a_worker_that_joins_and_cannot_make_the_shards_ends_the_build(watch_over):
    now = {"tcp://1": {**PAUSED, "status": "running"}}
    seen = []

    def inspect(workers):
        seen.extend(workers)
        if "tcp://2" in workers:
            raise RunError("The worker 'tcp://2' has other code.")

    watched = watch_over(lambda: dict(now), address="tcp://host:8786", inspect=inspect)
    watched.let_pass(5)
    now["tcp://2"] = now["tcp://1"]
    assert watched.end() == "The worker 'tcp://2' has other code."
    assert seen[-2:] == ["tcp://1", "tcp://2"]


def test_a_scheduler_is_not_gone_while_a_worker_that_joins_is_asked(watch_over):
    asked, answered = threading.Event(), threading.Event()

    def inspect(_):
        asked.set()
        answered.wait(60)

    watched = watch_over(lambda: {"tcp://1": BUSY}, address="tcp://host:8786", inspect=inspect)
    assert asked.wait(60)
    watched.suspend(3600)
    watched.let_pass(60, looks=0)
    answered.set()


def test_a_watch_that_was_stopped_looks_no_more(watch_over):
    watched = watch_over(dict)
    watched.stop()
    time.sleep(0.1)
    looks = watched._looks
    time.sleep(0.1)
    assert watched._looks == looks


def test_a_paused_worker_that_makes_a_shard_is_left_alone(watch_over):
    watch_over(lambda: {"tcp://1": BUSY}).let_pass(40)


@pytest.mark.slow
def test_the_workers_are_those_that_there_are_and_a_scheduler_that_is_gone_has_none():
    often = {"distributed.client.scheduler-info-interval": "1 ms", "distributed.comm.timeouts.connect": "500 ms"}
    with (
        dask.config.set(often),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        assert all(cluster_watch.workers_of(client) for _ in range(2000))
        cluster.close()
        with pytest.raises(OSError):  # noqa: PT011 - Dask has no class of its own for a scheduler that is gone
            cluster_watch.workers_of(client)


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_scheduler_that_is_killed_in_the_middle_is_named_and_shards_are_not_blamed(
    project, facetflow, wait_until, tmp_path
):
    project.write(120, sentences=8, per_shard=8)
    told = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m"]
    at = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told)]
    started = {"stderr": subprocess.DEVNULL, "env": facetflow.environment, "cwd": tmp_path}
    with subprocess.Popen([*dask, *at, "--no-dashboard"], **started) as scheduler:
        wait_until(lambda: told.exists() and told.read_text().endswith("}"), "the scheduler")
        address = json.loads(told.read_text())["address"]
        joins = ["distributed.cli.dask_worker", address, "--nthreads", "4", "--no-nanny", "--no-dashboard"]
        with subprocess.Popen([*dask, *joins], **started) as worker:
            try:
                with facetflow.start(project, "build", "--dask-address", address) as build:
                    wait_until(lambda: project.has_committed("amr"), "the first commit of graphs")
                    scheduler.kill()
                    output, _ = build.communicate(timeout=400)
            finally:
                worker.kill()
                scheduler.kill()
    assert build.returncode == 1
    assert f"The Dask scheduler of the Dask cluster at '{address}' no longer answers" in output
    assert "Traceback" not in output
    assert project.store.runs()[0].failed == ()
    assert project.store.runs()[0].state == "failed"
