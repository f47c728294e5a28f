"""Train an encoder with spans in a process of its own: `python -m training.encoders.pas.train --settings FILE`."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from features import models
from training.data.frames import Frames
from training.data.labelled_pairs import LabelledPairs
from training.encoders.judged import PairTable
from training.encoders.judging import ChosenRatings, chosen_ratings
from training.encoders.pas.data import learnt_from, resolved, warn_of_little
from training.encoders.pas.model_card import write_card
from training.encoders.pas.settings import PasSettings
from training.encoders.plan import TrainingPlan
from training.encoders.running import corpora_of, report_of, train_once, write_encoder
from training.jobs import Source, TrainingJob, read_job
from training.process import run_process
from training.runs import ENCODER
from training.writing import writing

if TYPE_CHECKING:
    from training.encoders.backbone import Backbone, Tokens
    from training.encoders.learning import Learnt
    from training.encoders.pas.task import PasTask
    from training.encoders.structures import Structures
    from training.loop.machine import Machine

_log = logging.getLogger("training")  # not __name__, which is __main__ in the process of its own

PasJob = TrainingJob[Source, PasSettings]
MODULE = "training.encoders.pas.train"


def train(job: PasJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one.

    Args:
        job: what to do. A job that is already done does nothing.

    Returns:
        Folder of the encoder.

    Raises:
        InputError: when there are no pairs to learn from, no frames, or nothing that tells pairs apart.
        SettingsError: when a corpus or a label is not there, or the folder holds another training.
        ModelError: when the backbone or the tagger is missing or unsuitable.
        RunError: when a loss is not finite, another process trains in the folder, or it cannot be written.
    """
    data = job.source.read_judged()
    settings = resolved(data, job.settings)
    data = learnt_from(data, settings)
    frames = job.source.read_frames(data.texts) if settings.spans != "none" else None
    ratings = chosen_ratings(job)
    folder = models.locate(settings.backbone, job.base)
    plan = TrainingPlan(
        settings,
        data_digest=data.digest() + (f"+{frames.digest()}" if frames else ""),
        backbone_digest=models.digest(folder),
        source=data.source,
        ratings_digest=ratings.digest if ratings else "",
    )
    return train_once(job, plan, MODULE, lambda: _train(job, plan, data, frames, ratings, folder))


def _train(
    job: PasJob,
    plan: TrainingPlan,
    data: LabelledPairs,
    frames: Frames | None,
    ratings: ChosenRatings | None,
    folder: Path,
) -> None:
    """Train the encoder of a plan and write it.

    Args:
        job: what to do.
        plan: the same, with all that follows from the data.
        data: pairs to learn from and to choose the best model by.
        frames: of their sentences; None without spans.
        ratings: what the best model is chosen by instead of the dev pairs.
        folder: of the backbone.
    """
    from training.encoders.judged_task import Prepared
    from training.encoders.learning import learn
    from training.encoders.pas.task import PasTask
    from training.loop.machine import prepare_machine

    settings = cast("PasSettings", plan.settings)
    train_pairs, dev_pairs = (PairTable(data, split, settings.labels) for split in settings.splits)
    warn_of_little(train_pairs, dev_pairs, settings, rated=ratings is not None)
    if ratings:
        _log.info("the best model is chosen by %d rated pairs of %r", len(ratings.rated.scores), ratings.rated.name)
    machine = prepare_machine(settings.loop, job.output)
    known = set(data.texts)
    further = [text for text in (ratings.texts if ratings else ()) if text not in known]
    backbone, tokens = _prepare(settings, folder, machine, data, frames, further)
    if backbone.keep_states(tokens):
        _log.info("the outputs of the frozen layers are kept")
    prepared = Prepared(
        tokens=tokens,
        train=train_pairs,
        dev=dev_pairs,
        ratings=ratings,
        places={text: place for place, text in enumerate((*data.texts, *further))} if ratings else {},
    )
    learn(
        plan,
        machine,
        job.output,
        lambda settings: PasTask(backbone, prepared, settings),
        lambda learnt: _complete(job, plan, data, frames, learnt),
        about=f"{len(train_pairs)} training pairs, {len(dev_pairs)} dev pairs, {len(data.texts)} sentences",
    )


def _prepare(
    settings: PasSettings,
    folder: Path,
    machine: "Machine",
    data: LabelledPairs,
    frames: Frames | None,
    further: Sequence[str],
) -> "tuple[Backbone, Tokens]":
    """Return the encoder that is to learn, and the word pieces of all sentences, those it is chosen by last."""
    from training.encoders.backbone import Backbone
    from training.encoders.pas.encoder import start_model
    from training.encoders.pas.inputs import read_sentences
    from training.modules.tagging_transformer import TaggingTransformer

    backbone = Backbone(
        start_model(folder, settings, frames, str(machine.device)),
        layers_tuned=settings.layers_tuned,
        precision=machine.precision,
        dropout=settings.dropout,
        cache_gib=settings.cache_gib,
        disk_gib=settings.disk_gib,
    )
    if frames is None:
        return backbone, backbone.tokenize([*data.texts, *further], max_tokens=settings.max_tokens)
    if missing := len(data.texts) - len(frames):
        _log.warning(
            "%s of %s sentences have no semantic roles and are learnt from without spans; `facetflow rejects` says why",
            *(f"{missing:,}", f"{len(data.texts):,}"),
        )
    transformer = cast("TaggingTransformer", backbone.model[0])
    tokens, backbone.beside = read_sentences(transformer, data.texts, frames, further)
    return backbone, tokens


def _complete(
    job: PasJob,
    plan: TrainingPlan,
    data: LabelledPairs,
    frames: Frames | None,
    learnt: "Learnt[PasTask]",
) -> None:
    """Write the encoder of a training that has come to its end."""
    task = learnt.task
    prepared, backbone = task.prepared, task.backbone
    task.eval()
    report: dict[str, Any] = report_of(plan, backbone, learnt) | {
        "corpora": corpora_of(data.pairs, task.settings, job.licences),
        "chosen_by": prepared.ratings.recorded() if prepared.ratings else {"set": None},
        "pairs": {"train": len(prepared.train), "dev": len(prepared.dev)},
        "tagger": frames and _tagger(frames, backbone, len(data.texts)),
    }
    with writing(job.output / ENCODER):
        write_encoder(backbone.model, report, job.output / ENCODER, card=write_card(report), head=task.classifier.save)
    _log.info("%s is done: %.0f pairs/s", job.output / ENCODER, learnt.outcome.per_second)


def _tagger(frames: Frames, backbone: "Backbone", sentences: int) -> dict[str, Any]:
    """Return what training.json says of the tagger and its spans."""
    from training.modules.frames import ROLES

    spans = cast("Structures", backbone.beside).counts(ROLES, sentences)
    return {
        "identity": frames.parser,
        "weights": frames.weights,
        "predicates": frames.predicates_by,
        "sentences": sentences,
        "tagged": len(frames),
        "with_spans": int((spans > 0).sum()),
        "spans": int(spans.sum()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train an encoder with predicate-argument spans: TrainingJob as JSON."
    return run_process(MODULE, about, lambda path: train(read_job(PasJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
