"""Train an encoder of aspects."""

from pathlib import Path

import numpy as np
import polars as pl

from training.data.labelled_texts import LabelledTexts
from training.encoders.aspect.data import learnt_from, plan_lessons, resolved
from training.encoders.aspect.settings import AspectSettings
from training.encoders.aspect.task import AspectTask, position_of_layers, start_model
from training.encoders.backbone import Backbone
from training.encoders.learning import learn
from training.encoders.running import Learnt, TrainingPlan, corpora_of, train_once, write_encoder
from training.jobs import Source, TrainingJob
from training.loop.machine import prepare_machine

AspectJob = TrainingJob[Source, AspectSettings]


def train(job: AspectJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one, and return its folder."""
    data = job.source.read(LabelledTexts)
    settings = resolved(data, job.settings)
    data = learnt_from(data, settings)
    plan = TrainingPlan.of(job, settings, data.digest(), data.source)
    return train_once(plan, lambda: _train(plan, settings, data))


def _train(plan: TrainingPlan, settings: AspectSettings, data: LabelledTexts) -> None:
    curriculum = plan_lessons(data, settings)
    machine = prepare_machine(settings.loop, plan.job.output)
    routes = [lesson.route for lesson in curriculum.lessons if lesson.route is not None]
    model = start_model(plan.backbone, settings, routes, str(machine.device))
    backbone = Backbone(model, settings, machine.precision)
    tokens = backbone.tokenize(data.texts)
    texts, dev = curriculum.texts, curriculum.dev
    used = np.union1d(texts, dev)
    position = position_of_layers(model, settings)
    if settings.layers_tuned or position is None:
        backbone.keep_states(tokens, plan.shared)
    else:
        backbone.keep_embeddings(tokens, used, before=position)
    cut = f"{int(tokens.cut[used].sum())} of these {len(used)} truncated at {backbone.model.max_seq_length} tokens"

    def complete(learnt: Learnt[AspectTask]) -> None:
        drawn = [lesson.maker.draw(seed=0, epoch=0) for lesson in curriculum.lessons]
        # Of a split, what was trained on or chosen by; others lack the label for it.
        splits = zip(settings.splits, (texts, dev), strict=True)
        used = ((pl.col("split") == split) & pl.col("text").is_in(some) for split, some in splits)
        rows = data.labels.select("corpus", "split", "text").unique().filter(pl.any_horizontal(used))
        facts = {
            "corpora": corpora_of(plan, rows, unit="texts"),
            "labels": {aspect: dict(counts) for aspect, counts in curriculum.chosen.counts.items()},
            "held_out_labels": {aspect: list(labels) for aspect, labels in curriculum.chosen.held_out.items()},
            "routes": routes,
            "anchors": [{"texts": len(np.unique(some.anchors)), **some.counts} for some in drawn],
        }
        write_encoder(plan, learnt, backbone, facts)

    learn(
        plan,
        machine,
        lambda settings: AspectTask(backbone, tokens, curriculum, settings),
        complete,
        about=f"{len(texts)} training texts, {len(dev)} dev texts, {cut}, {backbone.computing}",
    )
