"""How a process of a training or an evaluation begins and ends: `python -m MODULE --settings FILE.json`."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from features.errors import FacetflowError


def run_process(module: str, description: str, run: Callable[[Path], object], arguments: Sequence[str] | None) -> int:
    """Run one job; progress and errors go to standard error.

    Args:
        module: the module that was called, for its help.
        description: what it does.
        run: does the job of a file of settings.
        arguments: the command line; that of the process when None.

    Returns:
        The exit code: 0 done, 1 an error, which one sentence tells.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--settings", type=Path, required=True, metavar="FILE.json", help="what to do")
    settings: Path = parser.parse_args(arguments).settings
    begin()
    try:
        run(settings)
    except FacetflowError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def begin() -> None:
    """Show progress, and keep the libraries that a job will import from asking anybody for models."""
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("training").setLevel(logging.INFO)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
