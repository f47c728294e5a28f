"""Train an encoder of any kind in a separate process: `python -m training.train --settings JOB.json`."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from training.jobs import TRAIN
from training.kinds import KINDS, read_encoder_job
from training.process import run_process


def train(path: Path) -> Path:
    """Train the encoder of a job, from a checkpoint in the run's folder if there is one, and return its folder."""
    job = read_encoder_job(path)
    folder: Path = import_module(KINDS[job.settings.kind].module).train(job)
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    return run_process(TRAIN, "Train an encoder: TrainingJob as JSON.", train, arguments)


if __name__ == "__main__":
    sys.exit(main())
