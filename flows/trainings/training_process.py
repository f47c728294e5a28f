"""Training and evaluation run in their own process, which takes torch's memory and threads with it when it ends.

An interrupt at the terminal reaches only the flow's process, which passes it on once and waits: the training finishes
its step and writes a checkpoint. A second one ends the training at once.

Its log goes to standard error unchanged, and with its level to listeners of the flow (`flows.server.outbox`).
"""

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from features.core.code import check_code
from features.core.faults import TrainingFailed
from features.core.leftovers import scratch
from flows.terminal import Verbosity, keep_traceback, overheard, verbosity, visible, warn, write_error
from training.jobs import EvaluationJob, TrainingJob
from training.process import ERROR, INTERRUPTED, LEVELS

AGAIN = "Interrupted. Started again, a training continues from its last checkpoint, if it has one."
"""What holds whenever a training or an evaluation is interrupted."""
_TRACEBACK = "Traceback (most recent call last):"
_LEVELLED = re.compile(r"<(\d+)>(.*)", re.DOTALL)
_CODE = re.compile(r" \((FF\d{3})\)(?=\.?$)")
_TIME = re.compile(r"\d\d:\d\d:\d\d ")
_SLEEPING_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}
"""torch's threads wait for each other by sleeping, not spinning: ten times faster when the cores are shared with other
work, and without measurable cost when they are not."""
_WORDS = {Verbosity.QUIET: ["--quiet"], Verbosity.NORMAL: [], Verbosity.VERBOSE: ["--verbose"]}


def run_job(module: str, *jobs: TrainingJob[Any, Any] | EvaluationJob) -> None:
    """Run a module with one or several jobs in one process, and pass its output on to standard error.

    If one fails, the others still run. The module takes `--settings FILE.json …`.

    Raises:
        RunError: the module failed, with its own message or the file of its traceback; or an upgrade came before it.
        KeyboardInterrupt: the flow was interrupted; the message says what is left of the job.
    """
    check_code()
    with scratch("job") as folder:
        files = [folder / f"job-{number}.json" for number in range(len(jobs))]
        for file, job in zip(files, jobs, strict=True):
            file.write_text(job.model_dump_json(), encoding="utf-8")
        watched = [sys.executable, "-m", "flows.server.watchdog", str(os.getpid())]
        with subprocess.Popen(
            [*watched, module, "--settings", *map(str, files), *_WORDS[verbosity()]],
            env=_SLEEPING_THREADS | os.environ | {LEVELS: "1"},  # what the user set takes precedence
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # our own standard output is for results
            process_group=0,  # an interrupt at the terminal is for us; see `_end`
            text=True,
            errors="replace",
        ) as process:
            try:
                withheld = _pass_on(process)
            except Exception:
                process.terminate()
                raise
            except BaseException as interrupt:
                left = _end(process, by=interrupt)
                if isinstance(interrupt, KeyboardInterrupt):
                    interrupt.args = (left,)
                else:
                    warn(left)
                raise
    if process.returncode != 0:
        reason = _reason(jobs, process.returncode, withheld)
        failure = TrainingFailed(_CODE.sub("", reason))
        if code := _CODE.search(reason):  # of the error that ended the process
            failure.code = code[1]
        raise failure


def _pass_on(process: "subprocess.Popen[str]") -> list[str]:
    """Write each line to our standard error, but those of an error, which are returned; a log may go on after one."""
    withheld: list[str] = []
    for line in process.stdout or ():
        levelled = _LEVELLED.match(line)
        if line.startswith((ERROR, INTERRUPTED, _TRACEBACK)) or (withheld and not levelled):
            withheld.append(line.rstrip("\n"))
        else:
            # Lines printed by a library have no level.
            level, text = (int(levelled[1]), levelled[2]) if levelled else (logging.INFO, line)
            write_error(visible(text))
            overheard(level, _TIME.sub("", text, count=1) if levelled else text)
    return withheld


def _end(process: "subprocess.Popen[str]", *, by: BaseException) -> str:
    """Ask a process to end, wait, and return its message on what is left; at once if this is interrupted too."""
    process.send_signal(signal.SIGINT if isinstance(by, KeyboardInterrupt) else signal.SIGTERM)
    try:
        withheld = _pass_on(process)
    except BaseException:  # noqa: BLE001 (whatever it is, the first interrupt is already on its way to the caller)
        process.kill()
        return AGAIN
    return _sentence(withheld) or AGAIN


def _sentence(withheld: list[str]) -> str | None:
    prefixes = (ERROR, INTERRUPTED)
    return next((line.removeprefix(each) for line in withheld for each in prefixes if line.startswith(each)), None)


def _reason(jobs: Sequence[TrainingJob[Any, Any] | EvaluationJob], code: int, withheld: list[str]) -> str:
    """Return why a process failed, as a sentence; a traceback goes to a file."""
    if sentence := _sentence(withheld):
        return sentence
    evaluates = all(isinstance(job, EvaluationJob) for job in jobs)
    what = "The evaluation" if evaluates else "The training"
    if not withheld:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        ended = f"{what} ended with {how} and without a message, as a process does that runs out of memory."
        return f"{ended} {'Run the same command again.' if evaluates else AGAIN.removeprefix('Interrupted. ')}"
    text = "\n".join(withheld) + "\n"
    overheard(logging.ERROR, text)
    log = Path(os.path.commonpath([job.output for job in jobs])) / "error.log"  # for one job, in its own folder
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)  # in a run of somebody else, it may be a link that leads to any file
        log.write_text(text, encoding="utf-8")
    except OSError:
        log = keep_traceback(text)
    return f"{what} ended with {withheld[-1]}; the traceback is in {str(log)!r}."
