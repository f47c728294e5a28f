"""Workers of a local cluster start as copies of one process that has imported what they need.

    command ──┬── Prefect's server                         flow: ingest, plan ── cluster ── shards ──>
              ├── imports of the flow ─────────────────────┘                        │
              └── this process: Dask, Prefect, torch, … ── copied for each worker ──┘

Imports are most of the cost of a small refresh, so they are done once, while the flow gets ready. The process is
Python's `forkserver`. It must not have threads when it is copied: libraries that start threads on import (polars,
pyarrow, deltalake) are left to the workers.
"""

import atexit
import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import forkserver

from features.core.exported import exported
from features.core.faults import FileSystem
from features.core.interruption import handled
from features.core.leftovers import scratch
from features.stages.registry import STAGES
from flows.project import Project
from flows.wanted import stages_of

_ALWAYS = ("distributed", "distributed.nanny", "distributed.worker", "prefect_dask.task_runners", "prefect.task_engine")
_WITHOUT_TORCH = frozenset({"numba"})
_FIRST, _LAST = "flows.clusters.preload_begins", "flows.clusters.preload_ends"
_LONGEST, _LONGEST_PARENT = 80, 70
"""Maximum bytes of the path of a folder for sockets, whose own paths may have 104, or of that around it."""
_VARIABLES: dict[str, str] = {}
"""Variables with which the current process was started."""


def get_ready(project: Project, dask_address: str | None = None) -> None:
    """Start the process that workers are copied from, unless it runs already, without waiting for it.

    A command calls this before it knows what there is to do, because the imports take longer than finding out; a build
    that finds nothing to do ends the process midway. An existing cluster has its own workers: nothing is started.
    """
    if dask_address is None and project.cluster.address is None:
        forkserver.set_forkserver_preload([_FIRST, *modules(project), _LAST])
        # It ignores interrupts at the terminal, which are for the flow.
        with starting(environment(project.cluster.threads_per_worker)), handled(signal.SIGINT, by=signal.SIG_IGN):
            forkserver.ensure_running()
        atexit.register(_end)


@contextmanager
def starting(variables: Mapping[str, str]) -> Iterator[None]:
    """Start workers in this context with these environment variables.

    Workers inherit the variables of the process they are copied from; if that has other values, it is ended first.
    """
    _keep_sockets_in_scratch()
    if variables != _VARIABLES:
        _end(wait=True)
        _VARIABLES.clear()
        _VARIABLES.update(variables)
    with exported(variables):
        yield


def _keep_sockets_in_scratch() -> None:
    """Make multiprocessing keep its sockets in a folder that the next build removes if this process is killed."""
    configuration = getattr(multiprocessing.current_process(), "_config")  # noqa: B009 (Python has no public name for it)
    if "tempdir" in configuration:
        return
    folder = ExitStack()
    path = folder.enter_context(scratch("mp"))
    if len(os.fsencode(path)) > _LONGEST:  # Python then chooses a place itself, with a shorter name, in the same folder
        folder.close()
        if len(os.fsencode(path.parent)) > _LONGEST_PARENT:
            where = "is too long for the sockets of workers: set TMPDIR to a shorter one"
            raise FileSystem(f"The path of the temporary folder {str(path.parent)!r} {where}.")
        return
    configuration["tempdir"] = str(path)
    atexit.register(folder.close)


def _end(*, wait: bool = False) -> None:
    """End the process at once, even during its imports: it holds this one's standard error open."""
    process = getattr(forkserver, "_forkserver", None)  # Python has no public name for it
    if (number := getattr(process, "_forkserver_pid", None)) is not None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(number, signal.SIGTERM)
            if wait:  # but leave its exit code to Python, which reads it before it starts another
                os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)


def modules(project: Project) -> tuple[str, ...]:
    """Return the modules that workers of a project always import, as far as they can be preloaded."""
    # Tables read only by the project's own metrics are unknown until their files have been run.
    stages = [STAGES[reading.name] for reading in stages_of(project.wanted, project.switches)]
    needed = [module for stage in stages for module in stage.imports(project.section(stage))]
    if project.cluster.gpu_workers:
        # Each worker imports torch itself, because it sees other GPUs than this process; spaCy imports it, too.
        needed = [module for module in needed if module in _WITHOUT_TORCH]
    return tuple(dict.fromkeys([*_ALWAYS, *needed]))


def environment(threads: int) -> dict[str, str]:
    """Return the environment of local workers, whose numeric libraries have so many threads.

    The libraries read it when they are loaded. It replaces Dask's own, without MALLOC_TRIM_THRESHOLD_ on purpose: with
    any value set, glibc no longer raises the size above which it maps new memory for each tensor, and a build takes a
    fifth longer.
    """
    names = ("OMP", "MKL", "OPENBLAS", "NUMBA", "RAYON")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {
        "POLARS_MAX_THREADS": str(threads),
        "DASK_LOGGING__DISTRIBUTED": "warning",
        "TOKENIZERS_PARALLELISM": "false",
    }
