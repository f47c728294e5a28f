"""Run one facetflow command after another in one process: a script that a fixture starts.

A separate process for each would spend most of its time on imports, and so would workers, trainings and evaluations:
here, workers are threads of this process, and trainings and evaluations its functions. It reads one command per line
from standard input, `{"folder": …, "arguments": […], "output": …}`, writes what the command says to the file `output`,
and answers with its exit code.
"""

import importlib
import json
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from features.core.errors import FacetflowError
from features.core.faults import TrainingFailed
from features.core.leftovers import scratch
from flows.command_line import run
from flows.project import ClusterSettings
from flows.server.own_server import QUIET
from flows.terminal import verbosity
from flows.trainings.training_process import _WORDS
from training.jobs import EvaluationJob, TrainingJob


def start_threads(settings: ClusterSettings, log_folder: Path) -> LocalCluster:
    """Start a cluster whose workers are threads, instead of `flows.clusters.cluster.local_cluster`."""
    assert log_folder.is_dir()
    return LocalCluster(
        n_workers=settings.workers, threads_per_worker=1, processes=False, resources={"CPU": 1}, dashboard_address=None
    )


def run_job(module: str, *jobs: TrainingJob[Any, Any] | EvaluationJob) -> None:
    """Do the work of `flows.trainings.training_process.run_job` here."""
    with scratch("job") as folder:
        files = [folder / f"job-{number}.json" for number in range(len(jobs))]
        for file, job in zip(files, jobs, strict=True):
            file.write_text(job.model_dump_json(), encoding="utf-8")
        try:
            importlib.import_module(module).main(["--settings", *map(str, files), *_WORDS[verbosity()]])
        except FacetflowError as error:
            raise TrainingFailed(str(error)) from error


def stay_in_this_process() -> None:
    """Replace what starts processes, before the flows import it."""
    os.environ.update({name: value for name, value in QUIET.items() if name not in os.environ})  # read by Prefect
    from flows.clusters import cluster, worker_start
    from flows.trainings import training_process
    from training import process

    cluster.local_cluster = start_threads
    worker_start.get_ready = lambda *_, **__: None
    training_process.run_job = run_job
    process.reported = lambda work: work() or 0
    log, shown = logging.getLogger("training"), logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
    log.addHandler(shown)
    log.propagate = False


def main() -> None:
    """Run commands until there are no more."""
    stay_in_this_process()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    lines = os.fdopen(os.dup(0))
    os.dup2(nothing, 0)
    for line in lines:
        asked = json.loads(line)
        os.chdir(asked["folder"])
        output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        try:
            code = run(asked["arguments"])
        except BaseException:  # noqa: BLE001 (a separate process would end with it)
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(f"{code}\n")


if __name__ == "__main__":
    main()
