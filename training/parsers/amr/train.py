"""Train the embedded AMR parser: `python -m training.parsers.amr.train --settings FILE.json`.

When stopped by a signal, it writes a checkpoint first; restarted with the same settings, it continues from there.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from features import models
from features.parsers.embedded.inputs import SentenceReader
from training.loop.launching import all_processes, only_trainer
from training.loop.settings import decisive
from training.parsers.amr.finishing import MODEL, describe, finish
from training.parsers.amr.preparing import prepare
from training.parsers.amr.settings import AmrParserJob, GraphSource, HeldOut, read_amr_job
from training.process import run_process
from training.progress import log
from training.runs import TRAINING_FILE, TRAINING_LOCK, finished_identity, flattened, is_done
from training.writing import require_writable, write_json

if TYPE_CHECKING:
    from training.loop.loop import Outcome

_MODULE = "training.parsers.amr.train"
_OF_THE_CARD = frozenset({"name", "note", "backbone"})


def train(job: AmrParserJob) -> Path:
    """Train a parser, from the checkpoint in the output folder if there is one, and return the folder of the model."""
    base = models.locate(job.settings.backbone)
    identity = identity_of(job, models.digest(base))
    if is_done(job.output / TRAINING_FILE, finished_identity(identity, job.settings)):
        log.info("%s is done already", job.output / MODEL)
        return job.output / MODEL
    require_writable(job.output)
    with only_trainer(job.output / TRAINING_LOCK), all_processes(job.settings.loop, _MODULE, job):
        _train(job, base, identity)
    return job.output / MODEL


def _train(job: AmrParserJob, base: Path, identity: str) -> None:
    import torch

    from features.parsers.embedded.network import Network, fill_layers, fill_tables, read_shape
    from training.loop.loop import Loop
    from training.loop.machine import prepare_machine
    from training.parsers.amr.task import AmrParserTask

    settings = job.settings
    encoder = read_shape(base)
    prepared = prepare(job.source, SentenceReader(base, encoder.positions), max_words=settings.max_words)
    description = describe(settings, prepared.vocabulary, models.digest(base))
    machine = prepare_machine(settings.loop, job.output)
    torch.manual_seed(settings.loop.seed)
    network = Network(description.network_shape(), encoder)
    fill_tables(network, base)
    fill_layers(network, base)
    task = AmrParserTask(network.to(machine.device), prepared.train, prepared.dev, settings, machine)
    written = settings.model_dump(mode="json")
    loop = Loop(task, settings.loop, machine, folder=job.output, identity=identity, described=flattened(written))
    log.info("%d examples, %d of dev, %d steps", len(prepared.train), len(prepared.dev), loop.total_steps)

    def write(_: "Outcome") -> None:
        finish(job, prepared, description, network)
        report = {"identity": finished_identity(identity, settings), "settings": written}
        write_json(job.output / TRAINING_FILE, report)

    loop.run_and_write(write)


def identity_of(job: AmrParserJob, base_digest: str) -> str:
    """Return a hash of everything that the weights depend on: settings, base encoder, and files, wherever they are.

    The epochs are not part of it: a stopped training continues with more or fewer, at the rates of the new schedule.
    """
    source = job.source
    shares = [(file.kind, file.skip_first, file.skip_last, file.share) for file in source.train]
    scored = [file for files in source.evaluations.values() for file in files]
    files: list[GraphSource | HeldOut] = [*source.train, *source.dev, *source.held_out, *scored]
    chosen = flattened(decisive(job.settings, exclude=_OF_THE_CARD))
    del chosen["loop.epochs"]
    parts = [
        repr(chosen),
        base_digest,
        repr(shares),
        *(models.digest(file.path) for file in files),
        models.digest(source.frames) if source.frames else "",
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings, train, and return the exit code."""
    about = "Train the embedded AMR parser from a TrainingJob as JSON; see training.parsers.amr.settings."
    return run_process(_MODULE, about, _train_alone, arguments)


def _train_alone(path: Path) -> None:
    job = read_amr_job(path)
    import torch

    torch.set_flush_denormal(True)  # for the whole process, so not in `train`: denormal numbers only cost time
    train(job)


if __name__ == "__main__":
    sys.exit(main())
