"""Train an encoder in a process of its own: `python -m training.s3bert.train --settings train.json`."""

import hashlib
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features import models
from features.errors import InputError, SettingsError
from training.facets import FacetLayout, plan_layout
from training.jobs import ENCODER, TrainingJob, read_job, read_json, write_json
from training.process import run_process
from training.s3bert.batches import number_groups
from training.s3bert.data import MeasuredPairs
from training.s3bert.encoder import TRAINING_FILE, calibrated, recalibrate, save_encoder
from training.s3bert.targets import Targets, make_targets
from training.settings import TrainingSettings

if TYPE_CHECKING:
    from training.objectives.decomposition import DecompositionObjective
    from training.s3bert.backbone import Backbone, Tokens

_log = logging.getLogger("training")  # not __name__, which is __main__ in the process of its own

_NO_INFLUENCE = {"log_every", "checkpoint_every", "threads", "device"}


def train(job: TrainingJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one.

    Args:
        job: what to do. A job that is already done does nothing.

    Returns:
        Folder of the encoder.

    Raises:
        InputError: when there is no pair to learn from.
        SettingsError: when the folder holds another training.
        ModelError: when the backbone is missing or unsuitable.
        RunError: when the loss is no number any more.
    """
    settings = job.training
    data = job.source.read().select(splits=settings.splits, corpora=settings.corpora)
    facets = _facets(settings, data)
    settings = settings.model_copy(update={"facets": facets})
    train_pairs, dev_pairs = (_positions(data, split) for split in settings.splits)
    if not len(train_pairs):
        raise InputError(
            f"no measured pair is in split {settings.splits[0]!r} of {settings.corpora or 'any corpus'!r}; "
            "check the splits and corpora of [training]"
        )
    if not len(dev_pairs):
        _log.warning("no pair is in split %r: the last model is kept", settings.splits[1])
    folder = models.locate(settings.backbone, job.base)
    backbone_digest = models.digest(folder)
    identity = _identity(settings, data=data.digest(), backbone=backbone_digest)
    if (job.output / ENCODER).is_dir() and read_json(job.output / ENCODER / TRAINING_FILE)["identity"] == identity:
        if FacetLayout.load(job.output / ENCODER).format == 1:
            recalibrate(job.output / ENCODER, data.select(splits=settings.splits[1:]))
            _log.info("%s was done already; its predictions are calibrated now", job.output / ENCODER)
        else:
            _log.info("%s is done already", job.output / ENCODER)
        return job.output / ENCODER
    job.output.mkdir(parents=True, exist_ok=True)
    write_json(job.output / "train.json", job.model_dump(mode="json"))

    from training.objectives.decomposition import DecompositionObjective
    from training.s3bert import checkpoints
    from training.s3bert.loop import Loop, Prepared

    backbone = load_backbone(settings, folder)
    tokens = backbone.tokenize(data.texts, max_tokens=settings.max_tokens)
    layout = plan_layout(
        facets,
        width=settings.facet_dimensions,
        dimension=backbone.dimension,
        similarity=settings.similarity,
    )
    targets = make_targets(
        data.metrics(facets), train_pairs, scaling=settings.targets, weighting=settings.facet_weights
    )
    decomposition = DecompositionObjective(layout, targets.weights.tolist())
    import torch

    prepared = Prepared(
        tokens=tokens,
        teacher=torch.from_numpy(_teacher(data, settings, backbone, tokens)),
        first=data.first,
        second=data.second,
        targets=torch.from_numpy(targets.values),
        groups=number_groups(*(data.pairs[name].fill_null("").to_numpy() for name in ("pair_id", "positive_id"))),
        train=train_pairs,
        dev=dev_pairs,
    )
    loop = Loop(backbone, decomposition, prepared, settings, folder=job.output, identity=identity)
    _log.info(
        "%d training pairs, %d dev pairs, %d sentences, %d steps, %s on %s",
        *(len(train_pairs), len(dev_pairs), len(data.texts), loop.total_steps, backbone.precision, backbone.device),
    )
    outcome = loop.run()
    backbone.eval()
    layout = _scaled(layout, decomposition, targets)
    layout = calibrated(layout, backbone.model, data.select(splits=settings.splits[1:]))
    report: dict[str, Any] = {
        "identity": identity,
        "settings": settings.model_dump(mode="json"),
        "source": data.source,
        "corpora": _corpora(data, settings, job.licences),
        "data_digest": data.digest(),
        "backbone_digest": backbone_digest,
        "backbone_licence": models.MODELS[settings.backbone].licence if settings.backbone in models.MODELS else "",
        "precision": str(backbone.precision).removeprefix("torch."),
        "device": backbone.device.type,
        "dimension": layout.dimension,
        "facets": [facet.model_dump(exclude={"usual", "calibration"}) for facet in layout.facets],
        **{name: value for name, value in asdict(outcome).items() if name != "best_dev"},
        "dev": None if outcome.best_dev is None else asdict(outcome.best_dev),
    }
    save_encoder(backbone.model, layout, report, job.output / ENCODER)
    (job.output / checkpoints.FILE_NAME).unlink(missing_ok=True)
    _log.info("%s is done: %.0f pairs/s", job.output / ENCODER, outcome.pairs_per_second)
    return job.output / ENCODER


def load_backbone(settings: TrainingSettings, folder: Path) -> "Backbone":
    """Load the encoder to start from, ready to learn.

    Args:
        settings: which layers learn, and on what.
        folder: of the encoder.
    """
    import torch

    from training.explain import load_encoder
    from training.s3bert.backbone import Backbone, choose_device, choose_precision

    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = choose_device(settings.device)
    return Backbone(
        load_encoder(folder, device=str(device)),
        layers_tuned=settings.layers_tuned,
        precision=choose_precision(settings.precision, device),
        dropout=settings.dropout,
        cache_gib=settings.cache_gib,
    )


def _facets(settings: TrainingSettings, data: MeasuredPairs) -> tuple[str, ...]:
    """Return the metrics that get a facet.

    Raises:
        SettingsError: when the pairs were not measured with one of them.
    """
    if unknown := settings.unknown_facets(data.metric_names):
        raise SettingsError(
            f"the pairs were not measured with {unknown[0]!r}, which training.facets names; there are "
            f"{', '.join(data.metric_names)}: correct the name, or build the features again"
        )
    return settings.facets or data.metric_names


def _positions(data: MeasuredPairs, split: str) -> NDArray[np.int64]:
    return np.flatnonzero((data.pairs["split"] == split).to_numpy()).astype(np.int64)


def _identity(settings: TrainingSettings, *, data: str, backbone: str) -> str:
    """Return a hash of all that decides the result."""
    decisive = settings.model_dump(mode="json", exclude=_NO_INFLUENCE)
    return hashlib.sha256(json.dumps([decisive, data, backbone], sort_keys=True).encode()).hexdigest()


def _teacher(
    data: MeasuredPairs, settings: TrainingSettings, backbone: "Backbone", tokens: "Tokens"
) -> NDArray[np.float32]:
    """Return the teacher's embeddings of all sentences, and let the backbone keep its states on the way."""
    if backbone.keep_states(tokens):
        _log.info("the outputs of the frozen layers are kept in memory")
    if settings.teacher == "store" and data.teacher is not None:
        return data.teacher
    return backbone.embed_many(tokens, np.arange(len(data.texts)))


def _scaled(layout: FacetLayout, decomposition: "DecompositionObjective", targets: Targets) -> FacetLayout:
    """Return the layout with the scales that were learnt."""
    slopes = decomposition.scales.detach().cpu().numpy() * targets.ranges
    facets = tuple(
        facet.model_copy(update={"slope": float(slopes[k]), "offset": float(targets.offsets[k])})
        for k, facet in enumerate(layout.facets)
    )
    return layout.model_copy(update={"facets": facets})


def _corpora(data: MeasuredPairs, settings: TrainingSettings, licences: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the number of pairs and the licence of each corpus."""
    counts = {
        (corpus, split): count for corpus, split, count in data.pairs.group_by("corpus", "split").len().iter_rows()
    }
    return {
        corpus: {
            "train": counts.get((corpus, settings.splits[0]), 0),
            "dev": counts.get((corpus, settings.splits[1]), 0),
            "licence": licences.get(corpus, ""),
        }
        for corpus in sorted({corpus for corpus, _ in counts})
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one training job."""
    about = "Run one training job: TrainingJob as JSON."
    return run_process("training.s3bert.train", about, lambda path: train(read_job(TrainingJob, path)), arguments)


if __name__ == "__main__":
    sys.exit(main())
