"""The cluster: what its workers get, that nobody else reaches it, that it ends, and what is refused at once."""

import contextlib
import errno
import logging
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from types import SimpleNamespace

import dask
import psutil
import pytest
from dask.utils import parse_timedelta
from distributed import Client, Nanny
from distributed.security import Security
from sentences import refused
from tqdm import tqdm

from features.core.faults import NoGpu, NoScheduler, NoWorkers
from flows.clusters import cluster, cluster_watch
from flows.clusters.cluster_watch import WAIT_FOR_WORKERS
from flows.project import ClusterSettings
from flows.terminal import Verbosity, set_verbosity

CODE = """
import sys, time
from pathlib import Path
from flows.clusters.cluster import local_cluster
from flows.project import ClusterSettings
if __name__ == "__main__":
    with local_cluster(ClusterSettings(workers=2, memory_limit="2GiB"), Path(sys.argv[1])) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
def test_workers_get_what_they_are_meant_to_have(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # what the shell says of other programs
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    monkeypatch.setattr(cluster, "gpus", lambda: ["3", "5"])  # those of CUDA_VISIBLE_DEVICES

    def look(*names):
        return {name: os.environ.get(name) for name in names}

    def listening():
        found = set()
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # one that a worker asked what machine this is
                connections = process.net_connections()
                found |= {each.laddr for each in connections if each.status == psutil.CONN_LISTEN}
        return found

    before = listening()  # what other tests of this process left open
    elsewhere = {
        "distributed.scheduler.contact-address": "tcp://192.0.2.1:8786",
        "distributed.worker.lifetime.duration": "1 hour",
    }
    with (
        dask.config.set(elsewhere | cluster.DASK),
        cluster.local_cluster(
            ClusterSettings(workers=1, gpu_workers=1, threads_per_worker=3, memory_limit="2GiB"), tmp_path
        ) as started,
        Client(started) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        names = (
            "OMP_NUM_THREADS",
            "NUMBA_NUM_THREADS",
            "POLARS_MAX_THREADS",
            "CUDA_VISIBLE_DEVICES",
            "MALLOC_TRIM_THRESHOLD_",  # a fifth of a build's time: benchmarks/worker_memory.py
        )
        seen = {
            kind: client.submit(look, *names, resources={kind: 1}, key=kind).result(timeout=60)
            for kind in ("CPU", "GPU")
        }
        locks = client.run(lambda: type(tqdm.get_lock()))
        client.run(lambda: logging.getLogger("features").warning("compiling"))
        lifetimes = client.run(lambda dask_worker: dask_worker.lifetime)
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        addresses = [worker["host"] for worker in workers]
        ours = {ip for ip, _ in listening() - before}
    everywhere = {**dict.fromkeys(names[:3], "3"), "MALLOC_TRIM_THRESHOLD_": None}
    assert seen["CPU"] == everywhere | {"CUDA_VISIBLE_DEVICES": ""}
    assert seen["GPU"] == everywhere | {"CUDA_VISIBLE_DEVICES": "3"}
    assert set(locks.values()) == {type(threading.RLock())}  # one of processes is "leaked" where Python 3.13 ends them
    assert set(lifetimes.values()) == {None}
    assert {worker["nthreads"] for worker in workers} == {1}
    assert {worker["memory_limit"] for worker in workers} == {2 << 30}
    assert set(addresses) | ours == {"127.0.0.1"}
    logged = {path.name: " compiling\n" in path.read_text() for path in tmp_path.iterdir()}  # after a time
    assert logged == {"worker-0.log": True, "gpu-0.log": True}


@pytest.mark.slow
@pytest.mark.parametrize("deaths", [1, 2])
def test_a_cluster_of_which_a_worker_dies_while_it_starts_is_started_once_more(deaths, tmp_path, monkeypatch, capsys):
    start = Nanny.start

    async def killed(nanny):
        nonlocal deaths
        if nanny.name == "worker-1" and deaths:
            deaths -= 1
            raise RuntimeError("Nanny failed to start.")  # so it says when its process is gone
        return await start(nanny)

    monkeypatch.setattr(Nanny, "start", killed)
    settings = ClusterSettings(workers=2, memory_limit="2GiB")
    if deaths == 2:
        with refused(NoScheduler):
            cluster.local_cluster(settings, tmp_path)
    else:
        with cluster.local_cluster(settings, tmp_path) as started, Client(started) as client:
            client.wait_for_workers(2, timeout=60)
            assert sum(client.submit(int, 1, pure=False).result(timeout=60) for _ in range(4)) == 4
    assert capsys.readouterr().err.count("is started once more") == 1
    assert not [child for child in psutil.Process().children() if "spawn_main" in _command(child)]


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (RuntimeError("can't start new thread"), "ulimit"),
        (PermissionError(errno.EACCES, "Permission denied", "/scratch/dask"), "/scratch/dask"),
    ],
    ids=["no more threads", "a folder"],
)
def test_a_cluster_that_does_not_start_says_what_the_system_refused(tmp_path, monkeypatch, cause, said):
    async def start(_nanny):
        raise RuntimeError("Nanny failed to start.") from cause

    monkeypatch.setattr(Nanny, "start", start)
    with refused(NoScheduler) as told:
        cluster.local_cluster(ClusterSettings(workers=1, memory_limit="2GiB"), tmp_path)
    assert said in str(told.value)


def _command(process):
    """Return the command line of a process; empty if it has ended, even if its parent has not collected it yet."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def test_the_watch_ends_a_build_without_workers_before_dask_calls_its_shards_failed():
    assert parse_timedelta(cluster.DASK["distributed.scheduler.no-workers-timeout"]) > WAIT_FOR_WORKERS


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_flow(how, tmp_path, wait_until, workers):
    script = tmp_path / "flow.py"
    script.write_text(CODE)
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as flow:
        assert flow.stdout.readline().startswith("tls://127.0.0.1:")
        found = wait_until(lambda: len(workers(flow.pid)) == 2 and workers(flow.pid), "two workers")
        flow.send_signal(how)
    wait_until(lambda: not any(psutil.pid_exists(worker.pid) for worker in found), "the workers to end")


def test_a_gpu_that_no_worker_has_is_refused_at_once():
    settings = ClusterSettings()
    with refused(NoGpu):
        cluster.check_gpu(settings, cluster.capacity(settings), ["amr"])
    cluster.check_gpu(settings, cluster.capacity(settings), [])
    cluster.check_gpu(settings, cluster.Capacity(2, 1, 1, reserved=True), ["amr"])


def test_the_capacity_of_an_existing_cluster_is_what_its_workers_advertise():
    address = "tcp://host:8786"
    plain, for_cpu, for_gpu = ({"resources": each} for each in ({}, {"CPU": 1}, {"GPU": 1}))
    unreserved = cluster.capacity_of([plain, plain], address)
    assert unreserved == cluster.Capacity(2, 0, 2, reserved=False)
    assert unreserved.resources(on_gpu=False) == {}
    reserved = cluster.capacity_of([for_cpu, for_gpu], address)
    assert reserved == cluster.Capacity(2, 1, 1, reserved=True)
    assert [reserved.resources(on_gpu=each) for each in (False, True)] == [{"CPU": 1}, {"GPU": 1}]
    with refused(NoWorkers):
        cluster.capacity_of([], address)


def test_only_workers_of_an_existing_cluster_that_have_joined_since_are_checked():
    asked = []
    preflight = SimpleNamespace(fit={"one"}, check=lambda *given: asked.append(given))
    for address in (None, "tcp://host:8786"):
        joined = cluster.JoinedCluster(None, "client", address, None, preflight)
        joined.inspect({"one"})
        joined.inspect({"one", "two"})
    assert asked == [("client", "tcp://host:8786", {"two"})]


def test_workers_share_the_memory_of_the_machine():
    settings = ClusterSettings(workers=2, gpu_workers=1)
    assert cluster.memory_of(settings) == cluster.MEMORY_LIMIT // 3
    assert cluster.memory_of(settings.model_copy(update={"memory_limit": "2GiB"})) == 2 << 30


@pytest.mark.parametrize("level", [Verbosity.NORMAL, Verbosity.VERBOSE])
def test_what_dask_says_is_in_a_log_and_on_the_terminal_with_verbose_only(tmp_path, capsys, level):
    logger = logging.getLogger("distributed")
    before = (logger.level, logger.propagate, logger.handlers[:])
    set_verbosity(level)
    try:
        with cluster.logged(tmp_path):
            logger.info("a worker comes")
            logger.warning("a worker is slow")
    finally:
        set_verbosity(Verbosity.NORMAL)
    assert (tmp_path / "scheduler.log").read_text().split(maxsplit=2)[2] == "WARNING distributed: a worker is slow\n"
    assert ("a worker is slow" in capsys.readouterr().err) == (level == Verbosity.VERBOSE)
    assert (logger.level, logger.propagate, logger.handlers[:]) == before


def test_gpus_that_the_machine_lacks_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(cluster, "gpus", lambda: ["0"])
    assert cluster.capacity(ClusterSettings(workers=3, gpu_workers=1)) == cluster.Capacity(4, 1, 3, reserved=True)
    with refused(NoGpu):
        cluster.capacity(ClusterSettings(gpu_workers=2))


def test_gpus_that_no_worker_would_use_are_told(monkeypatch):
    devices = {"amr": "auto", "embeddings": "cpu", "srl": "auto"}
    chain = SimpleNamespace(device=devices.get)
    assert cluster.unused_gpus(ClusterSettings(), chain, ["amr"]) == ""  # there is none here
    monkeypatch.setattr(cluster, "gpus", lambda: ["0"])
    assert cluster.unused_gpus(ClusterSettings(), chain, [*devices]) == (
        "No worker uses the GPU of this machine: set gpu_workers = 1 in [cluster] for [amr], [srl]."
    )
    assert cluster.unused_gpus(ClusterSettings(), chain, ["embeddings"]) == ""
    assert cluster.unused_gpus(ClusterSettings(gpu_workers=1), chain, [*devices]) == ""


def test_no_more_workers_are_started_than_there_are_shards():
    assert cluster.no_more_than(ClusterSettings(workers=8, gpu_workers=1), 3) == ClusterSettings(
        workers=3, gpu_workers=1
    )
    assert cluster.no_more_than(ClusterSettings(workers=2), 3).workers == 2
    assert cluster.no_more_than(ClusterSettings(), 1).workers == cluster.no_more_than(ClusterSettings(), 0).workers == 1
    elsewhere = ClusterSettings(address="tcp://host:8786")
    assert cluster.no_more_than(elsewhere, 1) == elsewhere


def test_gpus_are_those_of_the_driver_that_the_user_lets_us_see(monkeypatch, tmp_path):
    command = tmp_path / "nvidia-smi"
    command.write_text('#!/bin/sh\necho "GPU 0: NVIDIA A (UUID: GPU-1)"\necho "GPU 1: NVIDIA A (UUID: GPU-2)"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cluster.gpus() == ["0", "1"]
    for visible, ours in {
        "1": ["1"],
        "0,1,2": ["0", "1"],
        "GPU-2, GPU-1": ["GPU-2", "GPU-1"],
        "": [],
        "-1": [],
    }.items():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert cluster.gpus() == ours
    command.write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr(cluster, "_LISTED_WITHIN", 0.2)
    assert cluster.gpus() == []
    command.unlink()
    assert cluster.gpus() == []


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 0.5)
    settings = ClusterSettings(address="tcp://127.0.0.1:9")
    with refused(NoScheduler), cluster.connected(settings):
        pass


@pytest.mark.slow
def test_workers_are_reached_by_nobody_but_the_process_that_started_them(tmp_path, monkeypatch):
    """Any user of this machine may connect to 127.0.0.1, and a Dask client runs code."""
    with (
        dask.config.set(cluster.DASK),
        cluster.local_cluster(ClusterSettings(workers=1, memory_limit="2GiB"), tmp_path) as of,
        Client(of) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        (worker,) = client.scheduler_info(n_workers=-1)["workers"].values()
        (port,) = worker["services"].values()
        for page in ("info/main/workers.html", "json/counts.json", "metrics", "health"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10)
        for address in (of.scheduler_address, worker["nanny"], *client.scheduler_info(n_workers=-1)["workers"]):
            assert address.startswith("tls://127.0.0.1:")
            for security, scheme in ((None, "tcp"), (Security.temporary(), "tls")):
                with pytest.raises(OSError, match=r"Timed out|timed out|certificate|SSL|closed"):
                    Client(address.replace("tls", scheme), security=security, timeout=1, set_as_default=False)
        assert client.submit(int, "7").result(timeout=60) == 7


@pytest.mark.slow
@pytest.mark.soak
def test_a_local_worker_that_rests_at_its_limit_is_started_again(tmp_path, monkeypatch, wait_until, capsys):
    monkeypatch.setattr(cluster_watch, "SAY_AFTER", 0.5)

    def fill(dask_worker):
        import psutil

        used = psutil.Process().memory_info().rss
        dask_worker.hoard = b"x" * int(dask_worker.memory_manager.memory_limit * 0.89 - used)

    with (
        dask.config.set(cluster.DASK),
        cluster.local_cluster(ClusterSettings(workers=1, memory_limit="800MiB"), tmp_path) as of,
        Client(of) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        before = client.run(os.getpid)
        client.run(fill)
        watch = cluster_watch.ClusterWatch(client, None, lambda _: None)

        def started_again():
            watch.check()
            return "it is restarted" in capsys.readouterr().err

        try:
            wait_until(started_again, "the worker to be started again", 60)
        finally:
            watch.stop()
        client.wait_for_workers(1, timeout=60)
        assert set(client.run(os.getpid).values()) != set(before.values())
        assert client.submit(int, "7").result(timeout=60) == 7, "it takes shards again"


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_shards_for_a_gpu_go_to_the_worker_that_has_one(project, build_with):
    """The others do the rest meanwhile; the GPU here is a resource without a card, which is the same to Dask."""
    project.write(20, sentences=8, per_shard=16, more="gpu_workers = 1")
    record = build_with(
        project,
        """
        def told(of):
            @task(persist_result=False)
            def tell(job, settings):
                import gc
                from pathlib import Path
                from distributed import get_worker
                copied = "copied" if gc.get_freeze_count() else "imported"
                with open(Path(job.store).parent / "seen.txt", "a") as file:
                    file.write(f"{job.stage} {get_worker().name} {copied}\\n")
                return of.fn(job, settings)
            return tell

        run_shards.MAKE_SHARD = told(run_shards.MAKE_SHARD)
        cluster.gpus = lambda: ["0"]
        stages.Chain.device = lambda _, stage: "auto" if stage == "amr" else "cpu"
        """,
    )
    assert record.state == "done"
    assert set((project.folder / "seen.txt").read_text().splitlines()) == {
        "amr gpu-0 copied",
        "label_vectors worker-0 copied",
        "metrics worker-0 copied",
    }, "though no command started the process that workers are copied from"
