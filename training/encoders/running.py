"""Steps around the loop that all kinds of encoders share: train once, under a lock, and write the encoder atomically.

done already? ── no ── lock ── other processes ── learn (the kind's own) ── encoder/ appears, complete
      └─ yes: nothing is done
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from features import models
from features.core.faults import WrongValue
from training.encoders.cards import write_card
from training.encoders.plan import TrainingPlan, is_finished, sizes_of
from training.encoders.search import with_values
from training.encoders.settings import EncoderSettings
from training.jobs import TRAIN, TrainingJob
from training.loop import together
from training.loop.together import all_processes, only_trainer
from training.progress import log
from training.runs import ENCODER, PER_SECOND, TRAINING_FILE, TRAINING_JOB, TRAINING_LOCK
from training.writing import require_writable, write_json, write_text, writing

if TYPE_CHECKING:
    from training.encoders.backbone import Backbone
    from training.encoders.learning import Learnt


def train_once(job: TrainingJob[Any, Any], plan: TrainingPlan, learn: Callable[[], None]) -> Path:
    """Train the encoder of a plan, unless it is there already, and return its folder."""
    settings = plan.settings
    if settings.by_ratings and not plan.ratings_digest:
        raise WrongValue(
            f"Encoders of kind {settings.kind!r} are chosen only by {' or '.join(settings.OWN_CHOICES)}, but "
            f"`choose_by` of {settings.name!r} is {settings.choose_by!r}: leave it out."
        )
    encoder = job.output / ENCODER
    if is_finished(encoder, plan):
        return encoder
    require_writable(job.output)
    if together.rank() > 0:  # the first process holds the lock and writes; the others only train
        learn()
        return encoder
    with only_trainer(job.output / TRAINING_LOCK):
        if not is_finished(encoder, plan):  # by the previous holder of the lock
            train, dev = settings.splits
            if train == dev and not settings.by_ratings and (settings.loop.keep != "last" or settings.search):
                log.warning(
                    "`splits` of %r names %r twice: the best model is chosen on its own training data; name another "
                    "split for the choice, or keep the last model (loop.keep)",
                    *(settings.name, train),
                )
            write_json(job.output / TRAINING_JOB, job.model_dump(mode="json", exclude={"shared"}))
            with all_processes(plan.settings.loop, TRAIN, job):
                learn()
    return encoder


def corpora_of(
    rows: pl.DataFrame, settings: EncoderSettings, licences: Mapping[str, str], *, unit: str = "pairs"
) -> dict[str, dict[str, Any]]:
    """Return the counts and the licence of each corpus, as in training.json, from `corpus` and `split` of each item."""
    counts = {(corpus, split): count for corpus, split, count in rows.group_by("corpus", "split").len().iter_rows()}
    train, dev = settings.splits
    return {
        corpus: {
            "train": counts.get((corpus, train), 0),
            "dev": counts.get((corpus, dev), 0),
            "unit": unit,
            "licence": licences.get(corpus, ""),
        }
        for corpus in sorted({corpus for corpus, _ in counts})
    }


def write_encoder(
    job: TrainingJob[Any, Any],
    plan: TrainingPlan,
    learnt: "Learnt[Any]",
    backbone: "Backbone",
    facts: Mapping[str, Any],
    *,
    further: Mapping[str, str] | None = None,
    head: Callable[[Path], None] | None = None,
) -> None:
    """Write model, training.json, README.md and the kind's own files; the folder appears when it is complete."""
    folder = job.output / ENCODER
    partial = folder.with_name(f".{folder.name}.partial")
    training = {**_report(plan, learnt, backbone), **facts}
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with writing(folder):
            backbone.model.save_pretrained(str(partial), create_model_card=False)
            for name, text in (further or {}).items():
                write_text(partial / name, text)
            if head is not None:
                head(partial)
            write_json(partial / TRAINING_FILE, {**training, "files": sizes_of(partial)})
            # Its size is not recorded: an evaluation adds scores.
            write_text(partial / "README.md", write_card(training))
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # a partial encoder would keep a full disk full
    log.info("%s is done: %.0f %s/s", folder, learnt.outcome.per_second, learnt.task.unit)


def _report(plan: TrainingPlan, learnt: "Learnt[Any]", backbone: "Backbone") -> dict[str, Any]:
    name, outcome, unit = plan.settings.backbone, learnt.outcome, learnt.task.unit
    asked = plan.settings.model_dump(mode="json")
    used = with_values(plan.settings, learnt.values).model_dump(mode="json", exclude={"search"})
    searched = {"chosen": learnt.values, "tried": [asdict(tried) for tried in learnt.tried]}
    return {
        "identity": plan.identity,
        "settings": asked | used,
        "source": dict(plan.source),
        "data_digest": plan.data_digest,
        "dropped": plan.dropped,
        "backbone_digest": plan.backbone_digest,
        "backbone_licence": models.MODELS[name].licence if name in models.MODELS else "",
        "precision": str(backbone.precision).removeprefix("torch."),
        "device": backbone.device.type,
        "dimension": backbone.dimension,
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "history": list(outcome.history),
        "seconds": outcome.seconds,
        unit + PER_SECOND: outcome.per_second,
        "dev": outcome.best_scores,
        **({"search": searched} if learnt.tried else {}),
    }
