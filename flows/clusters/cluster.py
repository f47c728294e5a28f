"""Where tasks run: a cluster of processes on this machine, or an existing one, joined when it is fit for the stages.

    flow process: scheduler ──┬── worker 0   one shard at a time, its own threads, its own log
                              ├── worker 1
                              └── gpu 0      resource GPU=1, sees one GPU

    local       GPUs there? ── memory? ──────────> start
    existing    address safe? ──> connect ──> workers there? ── GPUs there? ── fit? (`flows.clusters.preflight`)

A local cluster lives and dies with the flow: when the flow's process is gone, each worker ends by itself. Only that
process and its workers can connect to it (`flows.clusters.cluster_security`).
"""

import logging
import os
import subprocess
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_bytes
from distributed import Client, Nanny, Scheduler, SpecCluster
from distributed.system import MEMORY_LIMIT
from distributed.versions import VersionMismatchWarning
from prefect_dask.task_runners import DaskTaskRunner

from features.core.faults import NoGpu, NoScheduler, NoWorkers
from features.core.file_errors import advice, first_line
from features.store.store import Store
from flows.clusters import cluster_security
from flows.clusters.cluster_watch import WAIT_FOR_WORKERS, workers_of
from flows.clusters.preflight import Preflight
from flows.clusters.worker_start import environment, starting
from flows.project import ClusterSettings
from flows.stages import Chain
from flows.terminal import Verbosity, detail, say, verbosity, warn

LOCALHOST = "127.0.0.1"
GPU = {"GPU": 1.0}
CPU = {"CPU": 1.0}
"""The resources that workers advertise and shards ask for."""
CONNECT_TIMEOUT = 10.0
"""Seconds within which the scheduler of an existing cluster must answer."""
_LISTED_WITHIN = 30.0
PAUSE = 0.85
"""Share of its memory limit at which a local worker is paused."""

DASK = {
    # A shard that kills this many workers is at fault, not the workers.
    "distributed.scheduler.allowed-failures": 3,
    # A nanny restarts its worker. A local cluster would drop it for good if that took longer than 15 s.
    "distributed.deploy.lost-worker-timeout": "1 day",
    "distributed.scheduler.worker-ttl": "30 minutes",
    # After this, waiting tasks fail: long after a dead worker is replaced, and after the watch has ended the build.
    "distributed.scheduler.no-workers-timeout": f"{2 * WAIT_FOR_WORKERS:.0f} s",
    # Tasks return receipts of a few hundred bytes: nothing is worth spilling.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": PAUSE,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.comm.retry.count": 3,
    "distributed.comm.timeouts.tcp": "120 seconds",
    "distributed.worker.daemon": False,
    # Copies of a process that has imported what they need: `flows.clusters.worker_start`.
    "distributed.worker.multiprocessing-method": "forkserver",
    # Nobody reads what these collect: a stack every 10 ms, and the lag of each event loop 50 times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500 ms",
    "distributed.admin.system-monitor.gil.enabled": False,
    # What a user's settings say of a cluster elsewhere.
    "distributed.scheduler.contact-address": None,
    "distributed.worker.lifetime.duration": None,
    # These pages could be read by any user of this machine.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Settings that proved stable under load and with dying workers."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many workers there are: all, those that advertise a GPU, and those that do everything else.

    `reserved`: the latter advertise CPU=1, so that GPU workers can be kept free for what needs them.
    """

    workers: int
    gpu: int
    cpu: int
    reserved: bool

    def resources(self, *, on_gpu: bool) -> dict[str, float]:
        """Return the Dask resources that a shard asks for."""
        if on_gpu:
            return dict(GPU)
        return dict(CPU) if self.reserved else {}


def capacity(settings: ClusterSettings) -> Capacity:
    """Return the capacity of a local cluster before it is started."""
    n_gpus = len(gpus()) if settings.gpu_workers else 0
    if n_gpus < settings.gpu_workers:
        raise NoGpu(
            f"[cluster] asks for gpu_workers = {settings.gpu_workers}, but this machine has {n_gpus or 'no'} "
            f"GPU{'' if n_gpus == 1 else 's'}: lower it, or give the address of a cluster that has them."
        )
    cpu = settings.workers or CPU_COUNT
    return Capacity(cpu + settings.gpu_workers, settings.gpu_workers, cpu, reserved=True)


def capacity_of(workers: Collection[Mapping[str, Any]], address: str) -> Capacity:
    """Return the capacity of an existing cluster, by what its scheduler knows of the workers."""
    if not workers:
        raise NoWorkers(f"The Dask cluster at {address!r} has no workers: start some with `dask worker {address}`.")
    gpu = sum(worker["resources"].get("GPU", 0) >= 1 for worker in workers)
    cpu = sum(worker["resources"].get("CPU", 0) >= 1 for worker in workers)
    return Capacity(len(workers), gpu, cpu or len(workers), reserved=cpu > 0)


def memory_of(settings: ClusterSettings) -> int:
    """Return the bytes that a worker of a local cluster may use."""
    workers = (settings.workers or CPU_COUNT) + settings.gpu_workers
    return parse_bytes(settings.memory_limit) if settings.memory_limit else int(MEMORY_LIMIT / workers)


def no_more_than(settings: ClusterSettings, shards: int) -> ClusterSettings:
    """Return the settings of a cluster, without local workers that would have nothing to do."""
    if settings.address is not None:
        return settings
    return settings.model_copy(update={"workers": min(settings.workers or CPU_COUNT, max(shards, 1))})


def check_gpu(settings: ClusterSettings, available: Capacity, stages: Sequence[str]) -> None:
    """Refuse stages that ask for a GPU if no worker has one: their shards would wait for ever."""
    if not stages or available.gpu:
        return
    where = "the local cluster" if settings.address is None else f"the Dask cluster at {settings.address!r}"
    how = "set gpu_workers in [cluster]" if settings.address is None else "start workers with `--resources GPU=1`"
    raise NoGpu(f'[{stages[0]}] asks for device = "cuda", but no worker of {where} has a GPU: {how}, or use "auto".')


def unused_gpus(settings: ClusterSettings, chain: Chain, stages: Sequence[str]) -> str:
    """Return a sentence on GPUs of this machine that no worker would use, though a stage could; else nothing."""
    able = [stage for stage in stages if chain.device(stage) == "auto"]
    if settings.gpu_workers or not able or not (count := len(gpus())):
        return ""
    return (
        f"No worker uses the GPU{'s' if count > 1 else ''} of this machine: set gpu_workers = {count} in [cluster] for "
        f"{', '.join(f'[{stage}]' for stage in able)}."
    )


@dataclass(frozen=True, slots=True)
class JoinedCluster:
    """A cluster that has been started or joined, with its capacity then; the address is None for the local one."""

    runner: DaskTaskRunner
    client: Client
    address: str | None
    capacity: Capacity
    preflight: Preflight

    def inspect(self, workers: Collection[str]) -> None:
        """Check workers that have joined since, for a RunError; those of a local cluster are known."""
        new = set(workers) - self.preflight.fit
        if self.address is not None and new:
            self.preflight.check(self.client, self.address, new)


@contextmanager
def joined_cluster(
    settings: ClusterSettings, store: Store, chain: Chain, stages: Sequence[str], logs: Path
) -> Iterator[JoinedCluster]:
    """Start or join the cluster of a build, checked for the named stages; it ends afterwards if it was started."""
    on_gpu = [stage for stage in stages if chain.device(stage).startswith("cuda")]

    def preflight(available: Capacity) -> Preflight:
        check_gpu(settings, available, on_gpu)
        return Preflight(store, chain, stages, gpu=available.gpu > 0)

    if settings.address is None:
        available = capacity(settings)
        checked = preflight(available)
        checked.check_local(memory_of(settings), PAUSE, shared=settings.memory_limit is None)
        if unused := unused_gpus(settings, chain, stages):
            say(unused)
        with DaskTaskRunner(cluster_class=lambda: local_cluster(settings, logs)) as runner:
            yield JoinedCluster(runner, runner.client, None, available, checked)
        return
    with connected(settings) as (runner, client):
        available = capacity_of(workers_of(client).values(), settings.address)
        checked = preflight(available)
        checked.check(client, settings.address)
        yield JoinedCluster(runner, client, settings.address, available, checked)


@contextmanager
def connected(settings: ClusterSettings) -> Iterator[tuple[DaskTaskRunner, Client]]:
    """Connect to the existing cluster; yield what submits shards to it, and its client."""
    address, security = settings.address or "", cluster_security.of_existing(settings)
    with DaskTaskRunner(address=address, client_kwargs={"security": security, "timeout": CONNECT_TIMEOUT}) as runner:
        try:
            # Differences are reported or refused by `flows.clusters.preflight`.
            with warnings.catch_warnings(action="ignore", category=VersionMismatchWarning):
                client = runner.client
        except (OSError, ValueError) as error:
            certificates = (
                " and the certificates (tls_ca, tls_cert, tls_key), which must be signed by the authority of the "
                "cluster"
                if cluster_security.is_encrypted(address)
                else ", and that the cluster does not ask for tls://"
            )
            raise NoScheduler(
                f"No Dask scheduler answers at {address!r} within {CONNECT_TIMEOUT:.0f} s: check the address "
                f"(--dask-address, or [cluster]){certificates}."
            ) from error
        yield runner, client


def local_cluster(settings: ClusterSettings, log_folder: Path) -> SpecCluster:
    """Start a scheduler in this process and workers next to it, which only this process can reach.

    A worker makes one shard at a time, however many threads its numeric libraries have: the parsers' models are not
    meant to be shared by threads.
    """
    security = cluster_security.OwnSecurity.temporary()  # type: ignore[no-untyped-call]
    shared = {
        "host": LOCALHOST,
        "protocol": "tls",
        "security": security,
        "dashboard": False,
        "dashboard_address": f"{LOCALHOST}:0",  # else Dask's HTTP server would listen on every interface
    }

    def worker(gpu: str, resources: dict[str, float]) -> dict[str, Any]:
        options = {
            "nthreads": 1,
            "resources": resources,
            "memory_limit": memory_of(settings),
            "env": {"CUDA_VISIBLE_DEVICES": gpu, "FACETFLOW_WORKER_LOG": str(log_folder)},
            "preload": ["flows.clusters.worker_process"],
            "silence_logs": False,
        }
        return {"cls": Nanny, "options": shared | options}

    spec = {f"worker-{i}": worker("", CPU) for i in range(settings.workers or CPU_COUNT)}
    if settings.gpu_workers:
        spec |= {f"gpu-{i}": worker(gpu, GPU) for i, gpu in enumerate(gpus()[: settings.gpu_workers])}
    scheduler = {"cls": Scheduler, "options": shared}
    variables = environment(settings.threads_per_worker)
    start = partial(SpecCluster, scheduler=scheduler, workers=spec, security=security, silence_logs=False)
    # Dask takes the names from its configuration, and prefers the values that this process has.
    with starting(variables), dask.config.set({"distributed.nanny.pre-spawn-environ": variables}):
        try:
            return start()
        except (RuntimeError, OSError) as error:
            # A nanny restarts a worker that dies at work, but gives up on one that dies while starting.
            warn(f"The local Dask cluster did not start ({str(error).rstrip('.')}) and is started once more.")
        try:
            return start()
        except (RuntimeError, OSError) as error:
            origin = error.__cause__ or error  # a nanny's own says only that it failed
            raise NoScheduler(
                f"The local Dask cluster did not start ({first_line(origin).rstrip('.')}): "
                f"{advice(origin) or f'see the logs in {str(log_folder)!r}'}."
            ) from error


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Log warnings and errors of Dask's scheduler and nannies to `scheduler.log` in a folder.

    With `--verbose` they are also shown, along with every worker that comes and goes.
    """
    logger = logging.getLogger("distributed")
    handler = logging.FileHandler(folder / "scheduler.log", delay=True, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    before = (logger.level, logger.propagate, logger.handlers[:])
    verbose = verbosity() >= Verbosity.VERBOSE
    logger.handlers[:] = [handler, _Shown()] if verbose else [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    detail(f"Logs of this run: {folder}")
    try:
        yield
    finally:
        logger.handlers[:] = before[2]
        logger.propagate = before[1]
        logger.setLevel(before[0])
        handler.close()


class _Shown(logging.Handler):
    """Shows log lines, above the progress bars if there are any."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line for a record."""
        detail(f"{record.name}: {record.getMessage()}")


def gpus() -> list[str]:
    """Return the NVIDIA GPUs of this machine that the user lets us use, as CUDA names them; none without a driver."""
    command = ["nvidia-smi", "-L"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, timeout=_LISTED_WITHIN, check=False)
    except OSError:
        return []
    except subprocess.TimeoutExpired:
        warn(f"`nvidia-smi -L` did not answer within {_LISTED_WITHIN:.0f} s, so no GPU is used: restart its driver.")
        return []
    every = [str(i) for i in range(sum(line.startswith("GPU ") for line in listing.stdout.splitlines()))]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(every)).replace(" ", "").split(",")
    return [gpu for gpu in visible if gpu not in {"", "-1"}][: len(every)]
