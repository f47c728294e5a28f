"""Train the embedded AMR parser: `python -m training.parsers.amr.train --settings FILE.json`.

When stopped by a signal, it writes a checkpoint first; restarted with the same settings, it continues from there. After
the last step: write the model, choose its thresholds on dev, score it, and write its card.
"""

import hashlib
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from features import models
from features.core.durable import sync_all
from features.parsers.bert import read_shape
from features.parsers.embedded.inputs import SentenceReader
from features.parsers.embedded.network import Network
from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, Description, Thresholds, save_model
from features.parsers.settings import AmrSettings
from training.jobs import read_parser_job
from training.loop.settings import decisive
from training.loop.together import all_processes, only_trainer
from training.markdown import render_card
from training.parsers.amr.corpus import Sentence, read_source
from training.parsers.amr.preparing import PreparedGraphs, prepare
from training.parsers.amr.scoring import score_graphs, unspelt
from training.parsers.amr.settings import AmrParserJob, GraphSource, HeldOut
from training.process import run_process
from training.progress import log
from training.runs import TRAINING_FILE, TRAINING_LOCK, finished_identity, flattened, is_done
from training.writing import require_writable, write_json

MODEL = "model"
"""Folder of the finished model, in the output folder."""

_MODULE = "training.parsers.amr.train"
_OF_THE_CARD = frozenset({"name", "note", "backbone"})
_SHAPE = ("width", "node_layers", "dropout", "word_dropout")
_STEPS = {"wrapper": (-0.3, -0.6, -0.9), "primary": (0.2, -0.2), "arc": (0.25, 0.75, 1.0)}


def train(job: AmrParserJob) -> Path:
    """Train a parser, from the checkpoint in the output folder if there is one, and return the folder of the model."""
    base = models.locate(job.settings.backbone)
    identity = identity_of(job, models.digest(base))
    if is_done(job.output, finished_identity(identity, job.settings)):
        log.info("%s is done already", job.output / MODEL)
        return job.output / MODEL
    require_writable(job.output)
    with only_trainer(job.output / TRAINING_LOCK), all_processes(job.settings.loop, _MODULE, job):
        _train(job, base, identity)
    return job.output / MODEL


def _train(job: AmrParserJob, base: Path, identity: str) -> None:
    from training.loop.loop import Loop, Outcome
    from training.loop.machine import prepare_machine
    from training.parsers.amr.task import AmrParserTask

    settings = job.settings
    encoder = read_shape(base)
    prepared = prepare(job.source, SentenceReader(base, encoder.positions), max_words=settings.max_words)
    shape = {name: getattr(settings, name) for name in _SHAPE}
    description = Description(
        settings.name, settings.backbone, models.digest(base), prepared.vocabulary, Thresholds(), shape
    )
    machine = prepare_machine(settings.loop, job.output)
    torch.manual_seed(settings.loop.seed)
    network = Network(description.network_shape(), encoder)
    network.fill_tables(base)
    network.fill_layers(base)
    task = AmrParserTask(network.to(machine.device), prepared.train, prepared.dev, settings, machine)
    written = settings.model_dump(mode="json")
    loop = Loop(task, settings.loop, machine, folder=job.output, identity=identity, described=flattened(written))
    log.info("%d examples, %d of dev, %d steps", len(prepared.train), len(prepared.dev), loop.total_steps)

    def write(_: Outcome) -> None:
        _finish(job, prepared, description, network)
        report = {"identity": finished_identity(identity, settings), "settings": written}
        write_json(job.output / TRAINING_FILE, report)

    loop.run_and_write(write)


def _finish(job: AmrParserJob, prepared: PreparedGraphs, description: Description, network: Network) -> None:
    settings, folder = job.settings, job.output / MODEL
    weights = dict(network.named_parameters())
    save_model(folder, description, weights, settings.storage)
    parser = load_parser(folder, AmrSettings(device=settings.loop.device, batch_size=64))
    every = -(-len(prepared.dev_sentences) // settings.dev_examples)
    parser.thresholds = _choose_thresholds(parser, prepared.dev_sentences[::every])
    save_model(folder, replace(description, thresholds=parser.thresholds), weights, settings.storage)
    files = {"dev": job.source.dev, **job.source.evaluations}
    wrappers = {label for wrapper in description.vocabulary.wrappers for label in wrapper}
    scores, speeds = {}, {}
    for name, sources in files.items():
        sentences = [sentence for source in sources for sentence in read_source(source)]
        begun = time.perf_counter()
        parsed = parser.parse([sentence.text for sentence in sentences])
        speeds[name] = len(sentences) / (time.perf_counter() - begun)
        scores[name] = score_graphs(parsed, [sentence.penman for sentence in sentences], further=unspelt(wrappers))
        log.info("%s: Smatch %.4f", name, scores[name]["smatch"].f1.value)
    text = render_card(
        "training.parsers.amr/card.md",
        settings=settings,
        source=job.source,
        size=sum((folder / name).stat().st_size for name in (DESCRIPTION_FILE, WEIGHTS_FILE)) / 1e6,
        vocabulary=description.vocabulary,
        scores=scores,
        speeds=speeds,
        reports=prepared.reports,
        points=lambda number: f"{100 * number:.1f}",
        names=lambda files: ", ".join(dict.fromkeys(file.label for file in files)) or "no other file",
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    sync_all(folder)  # before the record that says it is done


def _choose_thresholds(parser: EmbeddedParser, dev: Sequence[Sentence]) -> Thresholds:
    texts, gold = [sentence.text for sentence in dev], [sentence.penman for sentence in dev]
    tried: dict[Thresholds, float] = {}

    def smatch(thresholds: Thresholds) -> float:
        if thresholds not in tried:
            parser.thresholds = thresholds
            tried[thresholds] = score_graphs(parser.parse(texts), gold, ["smatch"])["smatch"].f1.value
            log.info("%s: Smatch %.4f on %d sentences of dev", thresholds, tried[thresholds], len(texts))
        return tried[thresholds]

    best = parser.thresholds
    for name, values in _STEPS.items():
        for value in values:
            best = max(best, replace(best, **{name: value}), key=smatch)
    return best


def identity_of(job: AmrParserJob, base_digest: str) -> str:
    """Return a hash of everything that the weights depend on: settings, base encoder, and files, wherever they are.

    The epochs are not part of it: a stopped training continues with more or fewer, at the rates of the new schedule.
    """
    source = job.source
    shares = [(file.kind, file.skip_first, file.skip_last, file.share) for file in source.train]
    scored = [file for files in source.evaluations.values() for file in files]
    files: list[GraphSource | HeldOut] = [*source.train, *source.dev, *source.held_out, *scored]
    read = [file.model_dump(include={"kind", "skip_first", "skip_last"}, exclude_defaults=True) for file in files]
    chosen = flattened(decisive(job.settings, exclude=_OF_THE_CARD))
    del chosen["loop.epochs"]
    parts = [
        repr(chosen),
        base_digest,
        repr(shares),
        *([repr(held)] if any(held := read[len(shares) :]) else []),  # those read otherwise than by default
        *(models.digest(file.path) for file in files if file.path.is_file()),
        models.digest(source.frames) if source.frames and source.frames.is_file() else "",
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings, train, and return the exit code."""
    about = "Train the embedded AMR parser from a TrainingJob as JSON; see training.parsers.amr.settings."
    return run_process(_MODULE, about, _train_alone, arguments)


def _train_alone(path: Path) -> None:
    job = read_parser_job(AmrParserJob, path)
    torch.set_flush_denormal(True)  # for the whole process, so not in `train`: denormal numbers only cost time
    train(job)


if __name__ == "__main__":
    sys.exit(main())
