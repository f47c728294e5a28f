"""Where tasks run: a cluster of processes on this machine, or an existing one by its address.

    flow process: scheduler ──┬── worker 0   one shard at a time, its own threads, its own log
                              ├── worker 1
                              └── gpu 0      resource GPU=1, sees one GPU

A local cluster lives and dies with the flow: when that process is gone, each worker ends by itself.
"""

import logging
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster
from distributed.system import CPU_COUNT, MEMORY_LIMIT
from distributed.utils import parse_bytes
from prefect_dask import DaskTaskRunner

from features.errors import RunError
from flows.project import ClusterSettings

LOCALHOST = "127.0.0.1"
GPU = {"GPU": 1}
"""The resource that a GPU worker advertises and a GPU shard asks for."""
CONNECT_TIMEOUT = 10.0
"""Seconds in which the scheduler of an existing cluster must answer."""

DASK = {
    # A shard that takes this many workers with it is at fault, not the workers.
    "distributed.scheduler.allowed-failures": 3,
    "distributed.scheduler.worker-ttl": "30 minutes",
    # Not much less: it would fire while a dead worker is being replaced.
    "distributed.scheduler.no-workers-timeout": "5 minutes",
    # Tasks return receipts of some hundred bytes: nothing is worth spilling.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": 0.85,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.comm.retry.count": 3,
    "distributed.comm.timeouts.tcp": "120 seconds",
    "distributed.worker.daemon": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}
"""Settings that held under load and under dying workers."""


def worker_count(settings: ClusterSettings) -> int:
    """Return how many workers a cluster has, those with a GPU included."""
    if settings.address is not None:
        return len(_workers_at(settings.address))
    return (settings.workers or CPU_COUNT) + settings.gpu_workers


def check(settings: ClusterSettings, *, gpu_stages: list[str]) -> None:
    """Refuse a cluster on which some shard would wait for ever.

    Args:
        settings: `[cluster]` of the project file.
        gpu_stages: the stages of the plan that ask for a GPU.

    Raises:
        RunError: the scheduler does not answer or has no workers, or a stage asks for a GPU and no worker has one.
    """
    if settings.address is not None:
        workers = _workers_at(settings.address)
        if not workers:
            raise RunError(f"the Dask cluster at {settings.address!r} has no workers: start some with `dask worker`")
        if gpu_stages and not any(worker.get("resources", {}).get("GPU", 0) >= 1 for worker in workers):
            raise RunError(
                f"{_names(gpu_stages)} asks for a GPU and no worker of the Dask cluster at {settings.address!r} has one: "
                "start workers with `--resources GPU=1`, or set device = \"cpu\""
            )
        return
    if gpu_stages and not settings.gpu_workers:
        raise RunError(
            f"{_names(gpu_stages)} asks for a GPU and the local cluster has no GPU worker: "
            'set gpu_workers in [cluster], or device = "cpu"'
        )
    if settings.gpu_workers and (found := gpu_count()) < settings.gpu_workers:
        raise RunError(
            f"[cluster] asks for gpu_workers = {settings.gpu_workers} and this machine has {found or 'no'} "
            f"GPU{'' if found == 1 else 's'}: lower it, or give the address of a cluster that has them"
        )


def task_runner(settings: ClusterSettings, log_folder: Path) -> DaskTaskRunner:
    """Return the task runner for a project: it starts or joins the cluster with the first shard that is submitted.

    Args:
        settings: `[cluster]` of the project file.
        log_folder: where workers of a local cluster write what they print.
    """
    if settings.address is not None:
        return DaskTaskRunner(address=settings.address)
    kwargs = {
        "workers": settings.workers or CPU_COUNT,
        "gpu_workers": settings.gpu_workers,
        "threads": settings.threads_per_worker,
        "memory_limit": settings.memory_limit,
        "log_folder": str(log_folder),
    }
    return DaskTaskRunner(cluster_class=local_cluster, cluster_kwargs=kwargs)


def local_cluster(
    *, workers: int, gpu_workers: int, threads: int, memory_limit: str | None, log_folder: str
) -> SpecCluster:
    """Start a scheduler in this process and workers beside it, reachable from this machine only.

    Args:
        workers: number of workers without a GPU.
        gpu_workers: number of workers with one GPU each.
        threads: threads of the numeric libraries in each worker. A worker does one shard at a time in any case:
            the parsers' models are not made to be shared by threads.
        memory_limit: bytes of one worker, such as "4GiB"; an equal share of the machine's memory when None.
        log_folder: where the workers write what they print.
    """
    limit = parse_bytes(memory_limit) if memory_limit else int(MEMORY_LIMIT / (workers + gpu_workers))
    spec = {f"worker-{i}": _worker(threads, limit, log_folder, {"CUDA_VISIBLE_DEVICES": ""}) for i in range(workers)}
    for i in range(gpu_workers):
        spec[f"gpu-{i}"] = _worker(threads, limit, log_folder, {"CUDA_VISIBLE_DEVICES": str(i)}, resources=GPU)
    # Without an address on purpose Dask's HTTP server would listen on every interface.
    scheduler = {"cls": Scheduler, "options": {"host": LOCALHOST, "dashboard": False, "dashboard_address": f"{LOCALHOST}:0"}}
    with dask.config.set({"distributed.nanny.pre-spawn-environ": _threads(threads)}):
        return SpecCluster(scheduler=scheduler, workers=spec, silence_logs=logging.CRITICAL)


def gpu_count() -> int:
    """Return how many NVIDIA GPUs this machine shows, 0 without their driver."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return 0
    listing = subprocess.run([command, "-L"], capture_output=True, text=True, timeout=30, check=False)
    return sum(line.startswith("GPU ") for line in listing.stdout.splitlines())


def _worker(threads: int, limit: int, log_folder: str, environment: dict[str, str], **options: Any) -> dict[str, Any]:
    options |= {
        "host": LOCALHOST,
        "nthreads": 1,
        "memory_limit": limit,
        "dashboard": False,
        "worker_dashboard_address": f"{LOCALHOST}:0",
        "env": environment | {"FACETFLOW_WORKER_LOG": log_folder},
        "preload": ["flows.worker_process"],
        "silence_logs": logging.CRITICAL,
    }
    return {"cls": Nanny, "options": options}


def _threads(threads: int) -> dict[str, str]:
    # The libraries read these when they are loaded, so they must stand before a worker starts.
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA", "RAYON")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {
        "POLARS_MAX_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "false",
        "MALLOC_TRIM_THRESHOLD_": "65536",
    }


def _workers_at(address: str) -> list[dict[str, Any]]:
    try:
        with Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False) as client:
            return list(client.scheduler_info(n_workers=-1)["workers"].values())
    except (OSError, ValueError) as error:
        raise RunError(
            f"no Dask scheduler answers at {address!r} within {CONNECT_TIMEOUT:.0f} s: check --dask-address"
        ) from error


def _names(stages: list[str]) -> str:
    return f"the stage {stages[0]}" if len(stages) == 1 else f"each of the stages {', '.join(stages)}"
