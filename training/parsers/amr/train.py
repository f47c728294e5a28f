"""Train the embedded AMR parser: `python -m training.parsers.amr.train --settings FILE.json`.

Stopped by a signal, it writes a checkpoint first; started again with the same settings, it goes on from there.
"""

import hashlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from features import models
from features.interruption import held_back
from features.parsers.embedded.base_encoder import fill_layers, fill_tables, read_shape
from features.parsers.embedded.inputs import WordPieces
from training.parsers.amr.finishing import finish
from training.parsers.amr.preparing import prepare
from training.parsers.amr.settings import GraphSource, HeldOut, ParserTraining
from training.process import run_process

_log = logging.getLogger("training")

# With more or fewer epochs a training that was stopped goes on, at the rates of the new schedule.
_MAY_CHANGE = ("epochs", "log_every", "checkpoint_every", "dev_examples", "threads", "device", "output")
_OF_THE_CARD = ("name", "storage", "evaluations", "note")
_BY_CONTENT = ("train", "dev", "held_out", "frames", "base")


def train(settings: ParserTraining) -> Path | None:
    """Train a parser, from the checkpoint in the output folder if there is one.

    Returns:
        Folder of the model; None when `Loop.stop` stopped the training.

    Raises:
        InputError: when files cannot be read or hold nothing to learn from.
        ModelError: when the base encoder is missing.
        SettingsError: when the folder holds another training.
        RunError: when the loss is no number any more.
    """
    import torch

    from features.parsers.embedded.network import Network
    from training.encoders.s3bert.backbone import choose_device, choose_precision
    from training.parsers.amr.finishing import describe
    from training.parsers.amr.loop import Loop

    if settings.threads:
        torch.set_num_threads(settings.threads)
    base = models.locate(settings.base)
    encoder = read_shape(base)
    base_digest = models.digest(base)
    identity = identity_of(settings, base_digest)
    prepared = prepare(settings, WordPieces(base, encoder.positions))
    description = describe(settings, prepared.vocabulary, base_digest)
    torch.manual_seed(settings.seed)
    network = Network(description.network_shape(), encoder)
    fill_tables(network, base)
    fill_layers(network, base)
    device = choose_device(settings.device)
    precision = choose_precision(settings.precision, device)
    loop = Loop(
        network.to(device),
        prepared.train,
        prepared.dev,
        settings,
        precision=precision,
        device=device,
        identity=identity,
    )
    _log.info("%d examples, %d of dev, %d steps", len(prepared.train), len(prepared.dev), loop.steps)

    # A first signal waits for the checkpoint, and is delivered at the end of this block; a second does not wait.
    with held_back() as interruption:
        finished = loop.run(lambda: interruption.pending)
    return finish(settings, prepared, description, network) if finished else None


def identity_of(settings: ParserTraining, base_digest: str) -> str:
    """Return a hash of all that the weights depend on: settings, base encoder, and files, wherever they lie."""
    shares = [(source.kind, source.skip_first, source.skip_last, source.share) for source in settings.train]
    files: list[GraphSource | HeldOut] = [*settings.train, *settings.dev, *settings.held_out]
    parts = [
        settings.model_dump_json(exclude={*_MAY_CHANGE, *_OF_THE_CARD, *_BY_CONTENT}),
        base_digest,
        repr(shares),
        *(models.digest(file.path) for file in files),
        models.digest(settings.frames) if settings.frames else "",
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings, train, and return the exit code."""
    about = "Train the embedded AMR parser on files of graphs; see training.parsers.amr.settings."
    return run_process("training.parsers.amr.train", about, _train_alone, arguments)


def _train_alone(path: Path) -> None:
    settings = ParserTraining.read(path)
    import torch

    torch.set_flush_denormal(True)  # of the whole process, so not in `train`: numbers next to 0 only cost time
    train(settings)


if __name__ == "__main__":
    sys.exit(main())
