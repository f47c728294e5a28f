"""Train an encoder with a graph in a process of its own: `python -m training.encoders.rgcn.train --settings FILE`."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from features import models
from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Parses
from training.encoders.judging import ChosenRatings, chosen_ratings
from training.encoders.plan import TrainingPlan
from training.encoders.rgcn.data import PairTable, learnt_from, resolved, warn_of_little
from training.encoders.rgcn.model_card import write_card
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.running import corpora_of, report_of, train_once, write_encoder
from training.jobs import Source, TrainingJob, read_job
from training.process import run_process
from training.runs import ENCODER
from training.writing import writing

if TYPE_CHECKING:
    from torch import Tensor

    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.learning import Learnt
    from training.encoders.rgcn.task import RgcnTask
    from training.loop.machine import Machine

_log = logging.getLogger("training")  # not __name__, which is __main__ in the process of its own

RgcnJob = TrainingJob[Source, RgcnSettings]
MODULE = "training.encoders.rgcn.train"


def train(job: RgcnJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one.

    Args:
        job: what to do. A job that is already done does nothing.

    Returns:
        Folder of the encoder.

    Raises:
        InputError: when there are no pairs to learn from, no trees, or nothing that tells pairs apart.
        SettingsError: when a corpus or a label is not there, or the folder holds another training.
        ModelError: when the backbone or the parser is missing or unsuitable.
        RunError: when a loss is not finite, another process trains in the folder, or it cannot be written.
    """
    data = job.source.read_judged()
    settings = resolved(data, job.settings)
    data = learnt_from(data, settings)
    parses = job.source.read_parses(data.texts) if settings.graph else None
    ratings = chosen_ratings(job)
    folder = models.locate(settings.backbone, job.base)
    plan = TrainingPlan(
        settings,
        data_digest=data.digest() + (f"+{parses.digest()}" if parses else ""),
        backbone_digest=models.digest(folder),
        source=data.source,
        ratings_digest=ratings.digest if ratings else "",
    )
    return train_once(job, plan, MODULE, lambda: _train(job, plan, data, parses, ratings, folder))


def _train(
    job: RgcnJob,
    plan: TrainingPlan,
    data: LabelledPairs,
    parses: Parses | None,
    ratings: ChosenRatings | None,
    folder: Path,
) -> None:
    """Train the encoder of a plan and write it.

    Args:
        job: what to do.
        plan: the same, with all that follows from the data.
        data: pairs to learn from and to choose the best model by.
        parses: trees of their sentences; None without a graph.
        ratings: what the best model is chosen by instead of its loss.
        folder: of the backbone.
    """
    from training.encoders.judged_task import Prepared
    from training.encoders.learning import learn
    from training.encoders.rgcn.task import RgcnTask
    from training.loop.machine import prepare_machine

    settings = cast("RgcnSettings", plan.settings)
    train_pairs, dev_pairs = (PairTable(data, split, settings) for split in settings.splits)
    warn_of_little(train_pairs, dev_pairs, settings, rated=ratings is not None)
    if ratings:
        _log.info("the best model is chosen by %d rated pairs of %r", len(ratings.rated.scores), ratings.rated.name)
    machine = prepare_machine(settings.loop, job.output)
    known = set(data.texts)
    further = [text for text in (ratings.texts if ratings else ()) if text not in known]
    backbone, tokens = _prepare(settings, folder, machine, data, parses, further)
    if backbone.keep_states(tokens):
        _log.info("the outputs of the frozen layers are kept")
    prepared = Prepared(
        tokens=tokens,
        train=train_pairs,
        dev=dev_pairs,
        ratings=ratings,
        places={text: place for place, text in enumerate((*data.texts, *further))} if ratings else {},
    )
    teacher = _teacher(backbone, tokens, settings) if settings.objective == "distillation" else None
    learn(
        plan,
        machine,
        job.output,
        lambda settings: RgcnTask(backbone, prepared, settings, teacher),
        lambda learnt: _complete(job, plan, data, parses, learnt),
        about=f"{len(train_pairs)} training pairs, {len(dev_pairs)} dev pairs, {len(data.texts)} sentences",
    )


def _prepare(
    settings: RgcnSettings,
    folder: Path,
    machine: "Machine",
    data: LabelledPairs,
    parses: Parses | None,
    further: Sequence[str],
) -> "tuple[Backbone, Tokens]":
    """Return the encoder that is to learn, and the word pieces of all sentences, those it is chosen by last."""
    from training.encoders.backbone import Backbone
    from training.encoders.rgcn.encoder import start_model
    from training.encoders.rgcn.inputs import read_sentences
    from training.modules.parsing_transformer import ParsingTransformer

    backbone = Backbone(
        start_model(folder, settings, parses, str(machine.device)),
        layers_tuned=settings.layers_tuned,
        precision=machine.precision,
        dropout=settings.dropout,
        cache_gib=settings.cache_gib,
        disk_gib=settings.disk_gib,
    )
    if parses is None:
        return backbone, backbone.tokenize([*data.texts, *further], max_tokens=settings.max_tokens)
    if missing := len(data.texts) - len(parses):
        _log.warning(
            "%s of %s sentences have no dependency tree and are learnt from without one (`facetflow rejects` says why)",
            *(f"{missing:,}", f"{len(data.texts):,}"),
        )
    transformer = cast("ParsingTransformer", backbone.model[0])
    tokens, backbone.beside = read_sentences(transformer, data.texts, parses, further)
    return backbone, tokens


def _teacher(backbone: "Backbone", tokens: "Tokens", settings: RgcnSettings) -> "Tensor":
    """Return what the start model says of all sentences, before anything is learnt, (n_texts, t)."""
    import torch
    from sentence_transformers import SentenceTransformer

    from training.encoders.backbone import Backbone

    start = Backbone(
        SentenceTransformer(modules=list(backbone.model)[:2], device=str(backbone.device)),
        layers_tuned=settings.layers_tuned,
        precision=backbone.precision,
        dropout=settings.dropout,
        cache_gib=0.0,
    )
    start.states = backbone.states
    return torch.from_numpy(start.embed_many(tokens, np.arange(len(tokens.lengths))))


def _complete(
    job: RgcnJob,
    plan: TrainingPlan,
    data: LabelledPairs,
    parses: Parses | None,
    learnt: "Learnt[RgcnTask]",
) -> None:
    """Write the encoder of a training that has come to its end."""
    task = learnt.task
    prepared, backbone = task.prepared, task.backbone
    task.eval()
    report: dict[str, Any] = report_of(plan, backbone, learnt) | {
        "corpora": corpora_of(data.pairs, task.settings, job.licences),
        "chosen_by": prepared.ratings.recorded() if prepared.ratings else {"set": None},
        "pairs": {"train": len(prepared.train), "dev": len(prepared.dev), "with_hard": prepared.train.with_hard},
        "parser": parses and {"identity": parses.parser, "trees": len(parses), "sentences": len(data.texts)},
    }
    head = task.classifier.save if task.classifier else None
    with writing(job.output / ENCODER):
        write_encoder(backbone.model, report, job.output / ENCODER, card=write_card(report), head=head)
    _log.info("%s is done: %.0f pairs/s", job.output / ENCODER, learnt.outcome.per_second)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train an encoder with dependency trees: TrainingJob as JSON."
    return run_process(MODULE, about, lambda path: train(read_job(RgcnJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
