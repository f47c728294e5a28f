"""Training and evaluation run in a process of their own, which takes torch's memory and threads with it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from features.errors import RunError
from training.jobs import EvaluationJob, TrainingJob

_ERROR = "error: "
"""How a training process begins the line that says why it failed."""
_TRACEBACK = "Traceback (most recent call last):"
_SLEEPING_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}
"""torch's threads wait for each other by sleeping, not by spinning: beside other work on the same cores that is ten
times faster, and alone on them it costs nothing that was measurable."""


def run_job(module: str, job: TrainingJob | EvaluationJob) -> None:
    """Run a module with a job, and pass on what it prints.

    Args:
        module: such as `training.s3bert.train`; takes `--settings FILE.json`.
        job: what it is to do.

    Raises:
        RunError: it failed; the message is its own, or names the file with its traceback.
    """
    with tempfile.TemporaryDirectory(prefix="facetflow-") as folder:
        settings = Path(folder) / "job.json"
        settings.write_text(job.model_dump_json(), encoding="utf-8")
        command = [sys.executable, "-m", "flows.watchdog", str(os.getpid()), module, "--settings", str(settings)]
        environment = _SLEEPING_THREADS | os.environ  # what the user set is left alone
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            try:
                withheld = _pass_on(process)
            except BaseException:
                process.terminate()
                raise
    if process.returncode == 0:
        return
    if withheld and withheld[0].startswith(_ERROR):
        raise RunError(withheld[0].removeprefix(_ERROR))
    reason = withheld[-1] if withheld else f"exit code {process.returncode}"
    job.output.mkdir(parents=True, exist_ok=True)
    log = job.output / "error.log"
    log.write_text("\n".join(withheld) + "\n", encoding="utf-8")
    raise RunError(f"{module} ended with {reason}; the traceback is in {str(log)!r}.")


def _pass_on(process: "subprocess.Popen[str]") -> list[str]:
    """Write each line to our standard error up to an error; return the error's lines."""
    withheld: list[str] = []
    for line in process.stderr or ():
        if withheld or line.startswith((_ERROR, _TRACEBACK)):
            withheld.append(line.rstrip("\n"))
        else:
            sys.stderr.write(line)
            sys.stderr.flush()
    return withheld
