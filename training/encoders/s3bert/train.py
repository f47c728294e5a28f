"""Train an S3BERT: first the map, then layers together with it, then further steps on other batches (`finish`)."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers.base.modules import Dense
from torch import Tensor

from features.core.wording import counted
from training.data.measured_pairs import MeasuredPairs
from training.data.pair_tables import apart
from training.encoders.backbone import Backbone, Tokens
from training.encoders.learning import learn, learn_first
from training.encoders.loading import load_start
from training.encoders.running import Learnt, TrainingPlan, corpora_of, train_once, write_encoder
from training.encoders.s3bert.data import (
    DrawnPairs,
    Targets,
    check_pairs,
    facets_before,
    make_targets,
    sample_pairs,
    warn_of_little,
    warn_of_teacher,
)
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout, plan_layout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.task import (
    MappedEmbeddings,
    S3bertPairs,
    S3bertTask,
    StartEmbeddings,
    TunedLayers,
    add_map,
    learn_facets,
    recorded,
    scale_facets,
)
from training.jobs import Source, TrainingJob
from training.loop.machine import Machine, prepare_machine
from training.loop.task import parameters_of
from training.objectives import DecompositionObjective
from training.progress import log
from training.runs import LAYERS, MAP
from training.writing import write_text

S3bertJob = TrainingJob[Source, S3bertSettings]

_SCALED_BY = 2000
"""Sentences whose embeddings say how long facets are."""


def train(job: S3bertJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one, and return its folder."""
    settings = job.settings
    data = job.source.read(MeasuredPairs)
    check_pairs(data, settings)
    if settings.kinds:
        data = data.keep((data.pairs["split"] != settings.splits[0]) | data.pairs["kind"].is_in(settings.kinds))
    kept, dropped = apart(data, settings.splits[0], settings.corpora)
    data = sample_pairs(kept.select(splits=settings.splits), settings)
    settings = settings.model_copy(update={"facets": settings.facets or data.metric_names})
    plan = TrainingPlan.of(job, settings, data.digest(), data.source, dropped)
    return train_once(plan, lambda: _train(plan, data))


def _train(plan: TrainingPlan, data: MeasuredPairs) -> None:
    settings = cast("S3bertSettings", plan.settings)
    facets, width = settings.facets or (), settings.facet_dimensions
    train_pairs, dev_pairs = (np.flatnonzero((data.pairs["split"] == split).to_numpy()) for split in settings.splits)
    warn_of_little(data, settings)
    placed = plan.ratings.among(data.texts) if plan.ratings else None
    machine = prepare_machine(settings.loop, plan.job.output)
    backbone = load_backbone(settings, plan.backbone, machine)
    start = StartEmbeddings(data, placed.further if placed else (), backbone, plan.backbone_digest)
    stored = data.teacher if settings.teacher == "store" else None
    targets = make_targets(data.metrics(facets), train_pairs, settings)
    prepared = S3bertPairs(
        teacher=torch.from_numpy(start.vectors[: len(data.texts)] if stored is None else stored),
        first=data.first,
        second=data.second,
        targets=torch.from_numpy(targets.values),
        train=train_pairs,
        drawn=DrawnPairs.of(data, train_pairs, settings),
        near=train_pairs[(data.pairs["kind"] != "negative").to_numpy()[train_pairs]],
        dev=dev_pairs,
        ratings=placed,
    )
    before = facets_before(plan.backbone, settings)
    if before is None:  # one with facets is a tuned form of the teacher
        warn_of_teacher(data, settings, plan.backbone_digest)
    mapped = None
    if settings.map_epochs and before is None:
        vectors = start.vectors  # before the model has a map
        mapped = MappedEmbeddings(vectors, add_map(backbone.model, len(facets) * width, seed=settings.loop.seed))
    first = before.facets[0].start if before else mapped.vectors.shape[1] if mapped else 0
    layout = plan_layout(facets, width=width, dimension=backbone.dimension, first=first, similarity=settings.similarity)
    slopes = [facet.slope for facet in before.facets] / targets.ranges if before else np.ones(len(facets))
    decomposition = DecompositionObjective(
        layout.membership(), layout.similarity, targets.weights.tolist(), slopes.tolist()
    )
    parts: dict[str, Callable[[S3bertSettings], S3bertTask]] = {}
    if mapped is not None:
        parts[MAP] = lambda settings: S3bertTask(
            mapped, decomposition, prepared, settings, settings.map_loop(len(train_pairs))
        )
    last = settings.finishing
    finished = replace(prepared, drawn=DrawnPairs.of(data, train_pairs, last)) if settings.finish else prepared

    @cache
    def layers() -> TunedLayers:  # once the map is learnt: the outputs of frozen layers take memory
        dense = mapped.dense if mapped else None
        if before and before.facets[0].start:
            dense = learn_facets(cast("Dense", backbone.model[-1]))
        return TunedLayers(backbone, _kept_tokens(plan, start, prepared, finished), dense)

    if settings.layers_tuned:
        parts[LAYERS] = lambda settings: S3bertTask(
            layers(), decomposition, prepared, settings, settings.loop, begins_learnt=mapped is not None
        )
    if settings.finish:
        parts["finish"] = lambda _: S3bertTask(layers(), decomposition, finished, last, last.loop)
    report: dict[str, object] = {}

    def complete(learnt: Learnt[S3bertTask]) -> None:
        _complete(plan, data, learnt, backbone, _scaled(layout, decomposition.scales, targets), report)

    counts = (
        f"{counted(len(train_pairs), 'training pair')}, {counted(len(dev_pairs), 'dev pair')}, "
        f"{len(data.texts):,} sentences"
    )
    for part, make_task in parts.items():
        with ExitStack() as stack:
            if part == MAP:  # its products are small: where another process works, two threads take nine times as long
                stack.callback(torch.set_num_threads, torch.get_num_threads())
                torch.set_num_threads(settings.loop.threads or 1)
            if part == [*parts][-1]:
                learn(plan, machine, make_task, complete, about=f"{counts}, {backbone.computing}", before=_draw_back)
            else:
                outcome = learn_first(plan, machine, part, make_task(settings))
                history = [recorded(look) for look in outcome.history]
                report[part] = {"steps": outcome.steps, "seconds": outcome.seconds, "history": history}


@torch.no_grad()
def _draw_back(learnt: Learnt[S3bertTask]) -> None:
    """Replace the final weights by the mean with those before that `share` asks for, and look at dev once more."""
    if learnt.task.settings.share < 1:
        for name, value in parameters_of(learnt.task.groups).items():
            value.lerp_(learnt.task.begun[name], 1 - learnt.task.settings.share)
        looked = learnt.task.judge()
        learnt.outcome.best_scores = dict(looked.scores) if looked else None


def _kept_tokens(plan: TrainingPlan, start: StartEmbeddings, prepared: S3bertPairs, finished: S3bertPairs) -> Tokens:
    """Return the word pieces of the sentences of batches, dev and ratings; the frozen layers' outputs are kept."""
    settings = cast("S3bertSettings", plan.settings)
    pairs = np.concatenate([prepared.drawn.all, finished.drawn.all, prepared.dev])
    rated = [prepared.ratings.positions] if prepared.ratings else []
    used = np.unique(np.concatenate([prepared.first[pairs], prepared.second[pairs], *rated]))
    tokens = start.tokens.only(used)
    trained_on = prepared.drawn.count(settings.loop)
    if settings.finish:
        trained_on += finished.drawn.count(settings.finishing.loop)
    if 2 * trained_on > len(used):  # else most states would never be used
        start.backbone.keep_states(tokens, plan.shared)
    return tokens


def _complete(
    plan: TrainingPlan,
    data: MeasuredPairs,
    learnt: Learnt[S3bertTask],
    backbone: Backbone,
    layout: FacetLayout,
    report: dict[str, object],
) -> None:
    task, outcome = learnt.task, learnt.outcome
    layout = layout.model_copy(update={"maps_start": not (task.settings.layers_tuned and outcome.best_step)})
    if not outcome.best_step:
        log.warning("no step of the layers bettered the map, which is kept alone: `layers_tuned = 0` saves their time")
    if layout.facets[0].start and layout.similarity == "cosine":
        some = data.texts[:_SCALED_BY]
        scale_facets(cast("Dense", backbone.model[-1]), _embed(some, task, data, backbone))
    # Dev splits have only positive pairs unless a project asks for others. With negatives as well, BAMBOO's dev pairs
    # are predicted slightly worse (mean absolute error 0.185 instead of 0.182), unrelated pairs better (0.092 instead
    # of 0.116; 0.269 without calibration).
    dev = data.select(splits=task.settings.splits[1:], kinds=("positive",))
    similarities = np.empty((0, len(layout.facets)))
    if len(dev):
        vectors = _embed(dev.texts, task, data, backbone)
        similarities = layout.similarities(vectors[dev.first], vectors[dev.second])
    layout = layout.calibrated(similarities, dev.metrics(layout.names))
    facts = {
        "corpora": corpora_of(plan, data.pairs),
        "facets": [facet.model_dump(exclude={"usual", "calibration"}) for facet in layout.facets],
        "history": [recorded(look) for look in outcome.history],
        "dev": None if outcome.best_scores is None else recorded(outcome.best_scores),
        **report,
    }
    write_encoder(plan, learnt, backbone, facts, further=lambda folder: write_text(folder / FILE_NAME, layout.text()))
    for part in (MAP, LAYERS):
        shutil.rmtree(plan.job.output / part, ignore_errors=True)


def _embed(texts: Sequence[str], task: S3bertTask, data: MeasuredPairs, backbone: Backbone) -> NDArray[np.float32]:
    if task.settings.layers_tuned:
        vectors: NDArray[np.float32] = backbone.model.encode(
            list(texts), batch_size=64, convert_to_numpy=True, show_progress_bar=False
        )
        return vectors
    position = {text: n for n, text in enumerate(data.texts)}
    return task.embedder.embed_many(np.array([position[text] for text in texts], dtype=np.int64))


def load_backbone(settings: S3bertSettings, folder: Path, machine: Machine) -> Backbone:
    """Load the start model from its folder as a backbone to tune."""
    model = load_start(folder, settings.backbone, device=str(machine.device))
    if settings.layers_tuned:  # the finished encoder reads as much as was trained and chosen on
        model.max_seq_length = min(settings.max_tokens, model.max_seq_length or settings.max_tokens)
    return Backbone(model, settings, machine.precision)


def _scaled(layout: FacetLayout, scales: Tensor, targets: Targets) -> FacetLayout:
    slopes = scales.detach().cpu().numpy() * targets.ranges
    facets = tuple(
        facet.model_copy(update={"slope": float(slopes[k]), "offset": float(targets.offsets[k])})
        for k, facet in enumerate(layout.facets)
    )
    return layout.model_copy(update={"facets": facets})
