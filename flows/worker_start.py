"""Workers of a local cluster begin as copies of one process that has imported what they need.

    command ──┬── Prefect's server                         flow: ingest, plan ── cluster ── shards ──>
              ├── imports of the flow ─────────────────────┘                        │
              └── this process: Dask, Prefect, torch, … ── copied for each worker ──┘

Imports are most of what a small refresh costs; so they are made once, while the flow gets ready. The process is the
`forkserver` of Python. It may not have threads when it is copied: libraries that start some when they are imported
(polars, pyarrow, deltalake) are left to the workers.
"""

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import forkserver

from features.leftovers import scratch
from flows.exported import exported
from flows.project import Project
from flows.wanted import stages_of, wanted_of

_ALWAYS = ("distributed", "distributed.nanny", "distributed.worker", "prefect_dask.task_runners", "prefect.task_engine")
_COMPILED = ("numba",)
_FIRST, _LAST = "flows.preload_begins", "flows.preload_ends"
_LONGEST = 80
"""Bytes of the path of a folder for sockets, whose own paths may have 104."""
_VARIABLES: dict[str, str] = {}
"""With which the process was started that runs now."""


def get_ready(project: Project, dask_address: str | None = None) -> Project:
    """Start the process that workers are copied from unless it runs, without waiting for it.

    A command calls this before anything is known of the work, because the imports take longer than finding that out; a
    build that finds nothing to do ends it in the middle.

    Args:
        project: says which libraries the stages need.
        dask_address: scheduler of an existing cluster, which has its own workers: nothing is started.

    Returns:
        The project.
    """
    if dask_address is None and project.cluster.address is None:
        forkserver.set_forkserver_preload([_FIRST, *modules(project), _LAST])
        with starting(environment(project.cluster.threads_per_worker)), _deaf_to_interrupts():
            forkserver.ensure_running()
        atexit.register(_end)
    return project


@contextmanager
def starting(variables: Mapping[str, str]) -> Iterator[None]:
    """Let workers that are started in this context have these variables.

    They have those that the process had when it began of which they are copies; one that has others is ended first.
    """
    _keep_sockets_in_scratch()
    if variables != _VARIABLES:
        _end(wait=True)
        _VARIABLES.clear()
        _VARIABLES.update(variables)
    with exported(variables):
        yield


def _keep_sockets_in_scratch() -> None:
    """Let multiprocessing keep its sockets in a folder that the next build removes if this process is killed."""
    known = getattr(multiprocessing.current_process(), "_config")  # noqa: B009 (Python has no public name for it)
    if "tempdir" in known:
        return
    folder = ExitStack()
    path = folder.enter_context(scratch("mp"))
    if len(os.fsencode(path)) > _LONGEST:  # Python finds a place of its own
        folder.close()
        return
    known["tempdir"] = str(path)
    atexit.register(folder.close)


def _end(*, wait: bool = False) -> None:
    """End the process at once, also in the middle of its imports: it holds this one's standard error open.

    Args:
        wait: until it is gone, so that another one can be started.
    """
    process = getattr(forkserver, "_forkserver", None)  # Python has no public name for it
    if (number := getattr(process, "_forkserver_pid", None)) is not None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(number, signal.SIGTERM)
            if wait:  # and leave its exit code to Python, which asks for it before it starts another
                os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let a process that is started in this context ignore interrupts at the terminal, which are for the flow."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def modules(project: Project) -> tuple[str, ...]:
    """Return what workers of a project import in any case, as far as it can be imported ahead of them."""
    needed = list(_ALWAYS)
    # Tables that only a metric of the project's own reads are not known before its file has been run.
    made = stages_of(project, wanted_of(project))
    if "metrics" in made:
        needed += _COMPILED
    if project.cluster.gpu_workers:
        # Torch is imported by each worker, which sees other GPUs than this process.
        return tuple(needed)
    encodes = "label_vectors" in made and project.label_vectors.backend == "encoder"
    if "embeddings" in made or encodes:
        needed.append("sentence_transformers")
    if "srl" in made:
        needed += ["torch", "transformers.models.bert.modeling_bert"]
    if "amr" in made and project.amr.backend != "penman":
        needed.append("torch")
    if not made.keys().isdisjoint({"dependencies", "srl"}):
        needed.append("spacy")
    return tuple(dict.fromkeys(needed))


def environment(threads: int) -> dict[str, str]:
    """Return the environment of local workers.

    The libraries read it when they are loaded. It replaces Dask's own, of which MALLOC_TRIM_THRESHOLD_ is left out on
    purpose: with any value glibc no longer raises the size from which it maps memory anew for each tensor, and that
    costs a quarter of a build.

    Args:
        threads: of the numeric libraries in a worker.
    """
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA", "RAYON")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {
        "POLARS_MAX_THREADS": str(threads),
        "DASK_LOGGING__DISTRIBUTED": "warning",
        "TOKENIZERS_PARALLELISM": "false",
    }
