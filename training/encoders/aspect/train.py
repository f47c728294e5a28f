"""Train an encoder of aspects in a separate process: `python -m training.encoders.aspect.train --settings FILE`."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from features import models
from training.data.labelled_texts import LabelledTexts
from training.encoders.aspect.data import Curriculum, learnt_from, plan_lessons, resolved
from training.encoders.aspect.encoder import start_model
from training.encoders.aspect.model_card import write_card
from training.encoders.aspect.settings import AspectSettings
from training.encoders.plan import TrainingPlan
from training.encoders.running import corpora_of, report_of, train_once, write_encoder
from training.jobs import Source, TrainingJob, read_job
from training.process import run_process
from training.runs import ENCODER
from training.writing import writing

if TYPE_CHECKING:
    from training.encoders.aspect.task import AspectTask
    from training.encoders.learning import Learnt

_log = logging.getLogger("training")  # not __name__, which is __main__ in a separate process

AspectJob = TrainingJob[Source, AspectSettings]
MODULE = "training.encoders.aspect.train"


def train(job: AspectJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one.

    Args:
        job: the job. A finished job does nothing.

    Returns:
        Folder of the encoder.

    Raises:
        InputError: when there are no labels to train on, or all texts have the same.
        SettingsError: when a corpus or an aspect does not exist, or the folder holds another training.
        ModelError: when the backbone is missing or unsuitable.
        RunError: when a loss is not finite, another process trains in the folder, or it cannot be written.
    """
    data = job.source.read(LabelledTexts)
    settings = resolved(data, job.settings)
    data = learnt_from(data, settings)
    folder = models.locate(settings.backbone, job.base)
    plan = TrainingPlan(settings, data_digest=data.digest(), backbone_digest=models.digest(folder), source=data.source)
    return train_once(job, plan, MODULE, lambda: _train(job, plan, settings, data, folder))


def _train(job: AspectJob, plan: TrainingPlan, settings: AspectSettings, data: LabelledTexts, folder: Path) -> None:
    """Train the encoder of a plan and write it.

    Args:
        job: the job.
        plan: the job, with everything that follows from the data.
        settings: of the plan.
        data: texts to train on and to choose the best model by.
        folder: folder of the backbone.
    """
    from training.encoders.aspect.task import AspectTask
    from training.encoders.backbone import Backbone
    from training.encoders.frozen_states import SharedStates
    from training.encoders.learning import learn
    from training.loop.machine import prepare_machine

    curriculum = plan_lessons(data, settings)
    machine = prepare_machine(settings.loop, job.output)
    routes = [lesson.route for lesson in curriculum.lessons if lesson.route is not None]
    model = start_model(folder, settings, routes, str(machine.device))
    backbone = Backbone.of(model, settings, machine.precision)
    tokens = backbone.tokenize(data.texts, max_tokens=settings.max_tokens)
    backbone.keep_states(tokens, SharedStates.of(job.shared, plan.backbone_digest))
    texts, dev = curriculum.texts, curriculum.dev
    used = np.union1d(texts, dev)
    cut = f"{int(tokens.cut[used].sum())} of these {len(used)} truncated at {backbone.model.max_seq_length} tokens"
    learn(
        plan,
        machine,
        job.output,
        lambda settings: AspectTask(backbone, tokens, curriculum, settings),
        lambda learnt: _complete(job, plan, data, learnt),
        about=f"{len(texts)} training texts, {len(dev)} dev texts, {cut}",
    )


def _complete(job: AspectJob, plan: TrainingPlan, data: LabelledTexts, learnt: "Learnt[AspectTask]") -> None:
    """Write the encoder of a finished training."""
    task = learnt.task
    backbone, curriculum = task.backbone, task.curriculum
    backbone.eval()
    drawn = [lesson.maker.draw(seed=0, epoch=0) for lesson in curriculum.lessons]
    report: dict[str, Any] = report_of(plan, backbone, learnt) | {
        "corpora": corpora_of(_learnt_from(data, curriculum, task.settings), task.settings, job.licences, unit="texts"),
        "labels": {aspect: dict(counts) for aspect, counts in curriculum.chosen.counts.items()},
        "held_out_labels": {aspect: list(labels) for aspect, labels in curriculum.chosen.held_out.items()},
        "routes": [lesson.route for lesson in curriculum.lessons if lesson.route is not None],
        "anchors": [{"texts": len(np.unique(some.anchors)), **some.counts} for some in drawn],
    }
    with writing(job.output / ENCODER):
        write_encoder(backbone.model, report, job.output / ENCODER, card=write_card(report))
    _log.info("%s is done: %.0f triplets/s", job.output / ENCODER, learnt.outcome.per_second)


def _learnt_from(data: LabelledTexts, curriculum: Curriculum, settings: AspectSettings) -> pl.DataFrame:
    """Return corpus, split and text of what was trained on and chosen by; others lack the label for it."""
    rows = data.labels.select("corpus", "split", "text").unique()
    of = zip(settings.splits, (curriculum.texts, curriculum.dev), strict=True)
    return rows.filter(pl.any_horizontal((pl.col("split") == split) & pl.col("text").is_in(used) for split, used in of))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train an encoder of aspects: TrainingJob as JSON."
    return run_process(MODULE, about, lambda path: train(read_job(AspectJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
