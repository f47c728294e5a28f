"""What a worker of the local cluster does first: send its output to its own log.

Loaded by Dask before the worker takes its first shard (`preload`). Parsers print progress bars and warnings, which
would disrupt the progress of the build on the user's terminal. In the log, lines with the shard's name enclose its
output.
"""

import atexit
import logging
import os
import sys
from pathlib import Path

from distributed import Worker

from training.process import share_no_bars


def dask_setup(worker: Worker) -> None:
    """Append standard output and error to `<FACETFLOW_WORKER_LOG>/<worker>.log`."""
    log = (Path(os.environ["FACETFLOW_WORKER_LOG"]) / f"{worker.name}.log").open("ab", buffering=0)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        # At descriptor level, because C libraries write there too.
        os.dup2(log.fileno(), stream.fileno())
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for ours in map(logging.getLogger, ("tasks", "features")):
        ours.addHandler(shown)
        ours.setLevel(logging.INFO)
        ours.propagate = False
    share_no_bars()
    atexit.register(_leave)


def _leave() -> None:
    """End the process; tearing down loaded models would take four seconds, after which Dask kills the worker anyway."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
