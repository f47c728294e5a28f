"""Train an S3BERT in a separate process: `python -m training.encoders.s3bert.train --settings train.json`."""

import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from features import models
from training.data.apart import apart
from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.plan import TrainingPlan
from training.encoders.ratings import ChosenRatings, Embed, chosen_ratings
from training.encoders.running import corpora_of, report_of, train_once, write_encoder
from training.encoders.s3bert.checks import check_pairs, warn_of_little
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout, plan_layout
from training.encoders.s3bert.model_card import write_card
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.start_embeddings import StartEmbeddings
from training.encoders.s3bert.targets import Targets, make_targets
from training.jobs import Source, TrainingJob, read_job
from training.loop.batches import number_groups
from training.loop.settings import LoopSettings
from training.process import run_process
from training.runs import ENCODER, MAP
from training.writing import writing

if TYPE_CHECKING:
    from training.encoders.backbone import Backbone
    from training.encoders.learning import Learnt
    from training.encoders.s3bert.task import S3bertTask
    from training.loop.loop import Outcome
    from training.loop.machine import Machine
    from training.objectives.decomposition import DecompositionObjective

_log = logging.getLogger("training")  # not __name__, which is __main__ in a separate process

S3bertJob = TrainingJob[Source, S3bertSettings]

MODULE = "training.encoders.s3bert.train"


def train(job: S3bertJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one.

    Args:
        job: the job. A finished job does nothing.

    Returns:
        Folder of the encoder.

    Raises:
        InputError: when there is no pair to train on.
        SettingsError: when the folder holds another training, finished or begun.
        ModelError: when the backbone is missing or unsuitable.
        RunError: when the loss is not finite, another process trains in the folder, or it cannot be written.
    """
    settings = job.settings
    data = job.source.read(MeasuredPairs)
    check_pairs(data, settings)
    ratings = chosen_ratings(job)
    data = data.select(corpora=settings.corpora)
    kept = apart(data, settings.splits[0])
    dropped = len(data) - len(kept)
    data = kept.select(splits=settings.splits)
    settings = settings.model_copy(update={"facets": settings.facets or data.metric_names})
    folder = models.locate(settings.backbone, job.base)
    plan = TrainingPlan(
        settings,
        data_digest=data.digest(),
        backbone_digest=models.digest(folder),
        source=data.source,
        ratings_digest=ratings.digest if ratings else "",
        dropped=dropped,
    )
    return train_once(job, plan, MODULE, lambda: _train(job, plan, data, ratings, folder))


def _train(
    job: S3bertJob, plan: TrainingPlan, data: MeasuredPairs, ratings: ChosenRatings | None, folder: Path
) -> None:
    """Train the encoder of a plan and write it.

    Args:
        job: the job.
        plan: the job, with everything that follows from the data.
        data: pairs to train on and to choose the best model by.
        ratings: ratings to choose it by instead of its loss.
        folder: folder of the backbone.
    """
    import torch

    from training.encoders.frozen_states import SharedStates
    from training.encoders.learning import learn, learn_first
    from training.encoders.s3bert.embedders import MappedEmbeddings, TunedLayers
    from training.encoders.s3bert.facet_map import add_map, few_threads
    from training.encoders.s3bert.task import Prepared, S3bertTask
    from training.loop.machine import prepare_machine
    from training.objectives.decomposition import DecompositionObjective

    settings = cast("S3bertSettings", plan.settings)
    facets = settings.facets or ()
    train_pairs, dev_pairs = (_positions(data, split) for split in settings.splits)
    warn_of_little(data, settings)
    placed = ratings.among(data.texts) if ratings else None
    machine = prepare_machine(settings.loop, job.output)
    backbone = load_backbone(settings, folder, machine)
    start = StartEmbeddings(data, placed.further if placed else (), backbone, settings, plan.backbone_digest)
    targets = make_targets(
        data.metrics(facets), train_pairs, scaling=settings.targets, weighting=settings.facet_weights
    )
    prepared = Prepared(
        teacher=torch.from_numpy(start.of_teacher),
        first=data.first,
        second=data.second,
        targets=torch.from_numpy(targets.values),
        groups=number_groups(*(data.pairs[name].fill_null("").to_numpy() for name in ("pair_id", "positive_id"))),
        train=train_pairs,
        drawn=train_pairs[(data.pairs["kind"] != "neighbour").to_numpy()[train_pairs]],
        dev=dev_pairs,
        ratings=placed,
    )
    vectors, first = (start.vectors, backbone.dimension) if settings.map_epochs else (None, 0)
    width = settings.facet_dimensions
    dense = None if vectors is None else add_map(backbone.model, len(facets) * width, seed=settings.loop.seed)
    layout = plan_layout(
        facets, width=width, dimension=backbone.dimension, first=first, similarity=settings.similarity
    ).model_copy(update={"maps_start": not settings.layers_tuned})
    decomposition = DecompositionObjective(layout.membership(), layout.similarity, targets.weights.tolist())

    def map_loop(settings: S3bertSettings) -> LoopSettings:
        return settings.map_loop(len(train_pairs))

    def map_task(settings: S3bertSettings) -> S3bertTask:
        assert vectors is not None  # noqa: S101 - this and the next tell mypy
        assert dense is not None  # noqa: S101
        return S3bertTask(MappedEmbeddings(vectors, dense), decomposition, prepared, settings, map_loop(settings))

    about = f"{len(train_pairs)} training pairs, {len(dev_pairs)} dev pairs, {len(data.texts)} sentences"
    if not settings.layers_tuned:
        with few_threads(settings.loop):
            learn(
                plan,
                machine,
                job.output,
                map_task,
                lambda learnt: _complete(job, plan, data, learnt, backbone, layout, targets),
                about=about,
                loop_of=map_loop,
            )
        return
    mapped = None
    if dense is not None:
        with few_threads(settings.loop):
            mapped = learn_first(plan, machine, job.output / MAP, map_task(settings), map_loop)
    backbone.keep_states(start.tokens, SharedStates.of(job.shared, plan.backbone_digest))
    learn(
        plan,
        machine,
        job.output,
        lambda settings: S3bertTask(
            TunedLayers(backbone, start.tokens, dense), decomposition, prepared, settings, settings.loop
        ),
        lambda learnt: _complete(job, plan, data, learnt, backbone, layout, targets, mapped),
        about=about,
    )


def _complete(
    job: S3bertJob,
    plan: TrainingPlan,
    data: MeasuredPairs,
    learnt: "Learnt[S3bertTask]",
    backbone: "Backbone",
    layout: FacetLayout,
    targets: Targets,
    mapped: "Outcome | None" = None,
) -> None:
    """Write the encoder of a finished training."""
    from training.encoders.s3bert.task import recorded

    task, outcome = learnt.task, learnt.outcome
    ratings = task.prepared.ratings
    backbone.eval()
    layout = _calibrated(
        _scaled(layout, task.decomposition, targets),
        _embedding(task, data, backbone),
        data.select(splits=task.settings.splits[1:]),
    )
    report = report_of(plan, backbone, learnt) | {
        "corpora": corpora_of(data.pairs, task.settings, job.licences),
        "facets": [facet.model_dump(exclude={"usual", "calibration"}) for facet in layout.facets],
        "history": [recorded(look) for look in outcome.history],
        "dev": None if outcome.best_scores is None else recorded(outcome.best_scores),
        "chosen_by": ratings.chosen.recorded() if ratings else {"set": None},
    }
    if mapped is not None:
        history = [recorded(look) for look in mapped.history]
        report["map"] = {"steps": mapped.steps, "seconds": mapped.seconds, "history": history}
    with writing(job.output / ENCODER):
        files = {FILE_NAME: layout.text()}
        write_encoder(backbone.model, report, job.output / ENCODER, card=write_card(report), further=files)
    shutil.rmtree(job.output / MAP, ignore_errors=True)
    _log.info("%s is done: %.0f pairs/s", job.output / ENCODER, outcome.per_second)


def _calibrated(layout: FacetLayout, embed: Embed, pairs: MeasuredPairs) -> FacetLayout:
    """Return a layout calibrated on pairs.

    Args:
        layout: the facets.
        embed: embeds texts as a user of the encoder does.
        pairs: pairs that it was not trained on. Only the positive ones are used: dev splits have no others unless a
            project asks for them. With negatives as well, BAMBOO's dev pairs are predicted slightly worse (mean
            absolute error 0.185 instead of 0.182), unrelated pairs better (0.092 instead of 0.116; 0.269 without
            calibration).
    """
    positive = pairs.select(kinds=("positive",))
    if not len(positive):
        return layout.calibrated(np.empty((0, len(layout.facets))), np.empty((0, len(layout.facets))))
    vectors = embed(positive.texts)
    similarities = layout.similarities(vectors[positive.first], vectors[positive.second])
    return layout.calibrated(similarities, positive.metrics(layout.names))


def _embedding(task: "S3bertTask", data: MeasuredPairs, backbone: "Backbone") -> Embed:
    """Return a function that embeds dev texts as a user of the encoder does."""
    if task.settings.layers_tuned:
        return lambda texts: backbone.model.encode(
            list(texts), batch_size=64, convert_to_numpy=True, show_progress_bar=False
        )
    position = {text: n for n, text in enumerate(data.texts)}
    return lambda texts: task.embedder.embed_many(np.array([position[text] for text in texts], dtype=np.int64))


def load_backbone(settings: S3bertSettings, folder: Path, machine: "Machine") -> "Backbone":
    """Load the start model as a backbone to tune.

    Args:
        settings: settings with the layers to tune.
        folder: folder of the start model.
        machine: machine to train on.
    """
    import torch

    from training.encoders.backbone import Backbone

    # Embeddings that a map is learnt from are those of the start model to the last digits.
    precision = machine.precision if settings.layers_tuned else torch.float32
    backbone = Backbone.of(load_encoder(folder, device=str(machine.device)), settings, precision)
    if settings.layers_tuned:  # the finished encoder reads as much as was trained and chosen on
        model = backbone.model
        model.max_seq_length = min(settings.max_tokens, model.max_seq_length or settings.max_tokens)
    return backbone


def _positions(data: MeasuredPairs, split: str) -> NDArray[np.int64]:
    return np.flatnonzero((data.pairs["split"] == split).to_numpy()).astype(np.int64)


def _scaled(layout: FacetLayout, decomposition: "DecompositionObjective", targets: Targets) -> FacetLayout:
    """Return the layout with the learnt scales."""
    slopes = decomposition.scales.detach().cpu().numpy() * targets.ranges
    facets = tuple(
        facet.model_copy(update={"slope": float(slopes[k]), "offset": float(targets.offsets[k])})
        for k, facet in enumerate(layout.facets)
    )
    return layout.model_copy(update={"facets": facets})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Train an S3BERT: TrainingJob as JSON."
    return run_process(MODULE, about, lambda path: train(read_job(S3bertJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
