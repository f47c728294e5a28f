"""Start and end of a training or evaluation process: `python -m MODULE --settings FILE.json …`.

    exit code   0   done
                1   an error:                                   `error: one sentence` is its last line
              130   interrupted (143: asked to end by SIGTERM): `interrupted: one sentence`

A request to end is an exception here; a training holds it back until its step is done and written
(`features.core.interruption`).
"""

import argparse
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from features.core.errors import FacetflowError
from features.core.faults import TrainingFailed
from features.core.interruption import handled
from features.core.libraries import not_installed

ERROR = "error: "
"""Prefix of the line that says why a process failed."""
INTERRUPTED = "interrupted: "
"""Prefix of the line that says what is left of a process that was asked to end."""
LEVELS = "FACETFLOW_LOG_LEVELS"
"""Environment variable that makes log lines begin with their level, `<20>12:00:00 step 1`, for the flow that reads
them."""
FOLLOWS = "FACETFLOW_FOLLOWS"
"""Environment variable of processes that train together with the one that started them, and end with it."""

_OBJECTS_A_COLLECTION = 100_000
"""Libraries leave many objects that stay. With the interpreter's threshold of 700, looking for garbage among them takes
0.7 of the 9 processor seconds of their imports."""


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end. Its message is one sentence on what is left, ready to print."""

    def __init__(self, number: int) -> None:
        super().__init__("Interrupted; run the same command again.")
        self.number = number


def run_process(module: str, description: str, run: Callable[[Path], object], arguments: Sequence[str] | None) -> int:
    """Run the job of each settings file, also after one has failed, and return the exit code; stderr has the errors."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--settings", type=Path, required=True, nargs="+", metavar="FILE.json", help="job to run")
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument("--quiet", action="store_true", help="log only warnings and errors")
    verbosity.add_argument("--verbose", action="store_true", help="log more")
    options = parser.parse_args(arguments)
    if FOLLOWS in os.environ:
        threading.Thread(target=_leave_with_the_first, daemon=True).start()
    begin(logging.WARNING if options.quiet else logging.DEBUG if options.verbose else logging.INFO)
    return reported(lambda: _run_all(run, options.settings))


def _run_all(run: Callable[[Path], object], files: Sequence[Path]) -> None:
    failures = []
    for file in files:
        try:
            run(file)
        except FacetflowError as error:
            if len(files) == 1:
                raise
            failures.append(str(error).rstrip("."))
            logging.getLogger("training").warning("failed: %s", error.with_code())
    if failures:
        raise TrainingFailed(f"{len(failures)} of {len(files)} jobs failed ({'; '.join(dict.fromkeys(failures))}).")


def _leave_with_the_first() -> None:
    """Exit when the process that started this one has ended in any way, which closes its end of the pipe."""
    sys.stdin.buffer.read()
    os._exit(1)


def reported(run: Callable[[], object]) -> int:
    """Do the work of a process, report an error on standard error, and return the exit code."""
    try:
        with handled(signal.SIGINT, signal.SIGTERM, by=_interrupt):
            run()
    except (FacetflowError, ModuleNotFoundError) as error:
        fault = error if isinstance(error, FacetflowError) else not_installed(error)
        if fault is None:
            raise
        sys.stderr.write(f"{ERROR}{fault.with_code()}\n")
        return 1
    except KeyboardInterrupt as interrupt:  # without a number where another of several processes was asked to end
        sys.stderr.write(f"{INTERRUPTED}{interrupt}\n")
        return 128 + getattr(interrupt, "number", signal.SIGINT)
    return 0


def begin(level: int = logging.INFO) -> None:
    """Set up logging from a level on, and the process for the libraries that a job will import."""
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    shown = logging.StreamHandler(sys.stderr)
    formatter = _Levelled if os.environ.get(LEVELS) else logging.Formatter
    shown.setFormatter(formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
    logging.basicConfig(handlers=[shown])
    logging.getLogger("training").setLevel(level)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    share_no_bars()


class _Levelled(logging.Formatter):
    """Begins every line of a record with its level."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return "\n".join(f"<{record.levelno}>{line}" for line in super().format(record).splitlines())


def share_no_bars() -> None:
    """Let tqdm lock its bars between threads only.

    The libraries make bars even if none is shown, and each process that does so makes a lock between processes. If
    processes are started by spawn or a fork server (the default since Python 3.14), that is a system semaphore, which a
    process ended by a signal or by `os._exit` leaves behind ("resource_tracker: ... leaked semaphore objects").
    """
    with suppress(ModuleNotFoundError):  # without the libraries of models there are no bars
        from tqdm import tqdm  # type: ignore[import-untyped]  # it comes with no types

        tqdm.set_lock(threading.RLock())


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)
