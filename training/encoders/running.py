"""Around the loop of every kind of encoder: what determines the result, training once, writing it atomically.

done already? ── no ── lock ── other processes ── learn (the kind's own) ── encoder/ appears, complete
      └─ yes: nothing is done
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import polars as pl

from features import models
from features.core.faults import EncoderDamaged, OtherSettings
from training.encoders.backbone import Backbone
from training.encoders.frozen_states import SharedStates
from training.encoders.loading import resized
from training.encoders.ratings import ChosenRatings, chosen_ratings
from training.encoders.settings import EncoderSettings, is_chosen, score_in_words
from training.jobs import TRAIN, TrainingJob
from training.loop import together
from training.loop.loop import Outcome
from training.loop.settings import decisive
from training.loop.task import Task
from training.loop.together import all_processes, only_trainer
from training.markdown import render_card
from training.modules.calibration import NEEDED, Calibration
from training.progress import log
from training.runs import (
    ENCODER,
    PER_SECOND,
    TRAINING_FILE,
    TRAINING_JOB,
    TRAINING_LOCK,
    UNDECISIVE,
    flattened,
    training_of,
)
from training.thresholds import LabelThreshold
from training.types import USUAL_PARTS
from training.writing import require_writable, whole_folder, write_json, write_text

TaskT = TypeVar("TaskT", bound=Task)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A job, and everything that determines its result."""

    job: TrainingJob[Any, Any]
    settings: EncoderSettings  # settings, with everything that follows from the data
    data_digest: str  # digest of the training data (`MeasuredPairs.digest`, `LabelledTexts.digest`)
    backbone_digest: str  # digest of the files of the start model
    source: Mapping[str, Any]  # where the data came from; no part of the identity
    ratings: ChosenRatings | None = None  # ratings that choose the model; None if it is chosen on the dev pairs
    dropped: int = 0  # number of training pairs that are left out because they are also in another split
    backbone: Path = Path()  # folder of the start model

    @classmethod
    def of(
        cls,
        job: TrainingJob[Any, Any],
        settings: EncoderSettings,
        data_digest: str,
        source: Mapping[str, Any],
        dropped: int = 0,
    ) -> Self:
        """Return the plan of a job from its completed settings and its data; errors as in `chosen_ratings`."""
        ratings, folder = chosen_ratings(job), models.locate(settings.backbone, job.base)
        return cls(job, settings, data_digest, models.digest(folder), source, ratings, dropped, folder)

    @property
    def decisive(self) -> dict[str, Any]:
        """Settings that determine the result."""
        return flattened(decisive(self.settings, exclude=UNDECISIVE))

    @property
    def shared(self) -> SharedStates | None:
        """Outputs of frozen layers that trainings of one command share, if there are several."""
        return SharedStates(self.job.shared, self.backbone_digest) if self.job.shared else None

    @property
    def identity(self) -> str:
        """Hash of the plan."""
        parts = [self.decisive, self.data_digest, self.backbone_digest]
        parts += [self.ratings.rated.digest] if self.ratings else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of a point of a search."""

    values: Mapping[str, float]  # values that were tried
    value: float | None  # dev score of the best model; higher is better, as in `Judgement.value`; None if it diverged
    dev: Mapping[str, float]  # all its dev scores; empty if it diverged
    steps: int  # number of steps done
    best_step: int  # step with the best dev score
    seconds: float  # time in the loop


@dataclass(frozen=True, slots=True)
class Learnt(Generic[TaskT]):
    """Result of a training."""

    task: TaskT  # task whose model has the final weights
    outcome: Outcome  # outcome of its loop
    values: dict[str, float]  # values chosen by a search; empty if there was none
    tried: tuple[Tried, ...] = ()  # all points that were tried, in order


def train_once(plan: TrainingPlan, learn: Callable[[], None]) -> Path:
    """Train the encoder of a plan, unless it is there already, and return its folder."""
    job, settings = plan.job, plan.settings
    encoder = job.output / ENCODER
    if has_encoder(plan):
        return encoder
    require_writable(job.output)
    if together.rank() > 0:  # the first process holds the lock and writes; the others only train
        learn()
        return encoder
    with only_trainer(job.output / TRAINING_LOCK):
        if not has_encoder(plan):  # by the previous holder of the lock
            train, dev = settings.splits
            if train == dev and not settings.by_ratings and (settings.loop.keep != "last" or settings.search):
                log.warning(
                    "`splits` of %r names %r twice: the best model is chosen on its own training data; name another "
                    "split for the choice, or keep the last model (loop.keep)",
                    *(settings.name, train),
                )
            write_json(job.output / TRAINING_JOB, job.model_dump(mode="json", exclude={"shared"}))
            with all_processes(settings.loop, TRAIN, job):
                learn()
    return encoder


def has_encoder(plan: TrainingPlan) -> bool:
    """Return whether the run of a plan has its encoder; another one there, or a damaged one, is an error."""
    if not (encoder := plan.job.output / ENCODER).is_dir():
        return False
    training = training_of(encoder)
    try:
        difference = _difference(training, plan)
        if not difference:
            _check_files(encoder, training["files"])
    except KeyError as error:
        raise EncoderDamaged(
            f"{str(encoder / TRAINING_FILE)!r} has no {error}, so it is damaged, or of another version of facetflow: "
            f"delete the folder {str(encoder.parent)!r} to train it anew."
        ) from error
    if not difference:
        log.info("%s is done already", encoder)
        return True
    run = encoder.parent
    raise OtherSettings(
        f"The run {run.name!r} in {str(run.parent)!r} has a finished encoder with {difference}: give the encoder "
        f"another `name`, or delete the folder {str(run)!r} to train it anew."
    )


def sizes_of(encoder: Path) -> dict[str, int]:
    """Return path → bytes of all files of an encoder."""
    files = sorted(path for path in encoder.rglob("*") if path.is_file())
    return {path.relative_to(encoder).as_posix(): path.stat().st_size for path in files}


def _check_files(encoder: Path, sizes: Mapping[str, int]) -> None:
    """Check that the files of an encoder have the sizes in its training.json: none is missing, no weights truncated."""
    for name in resized(encoder, sizes):
        if name.endswith(".safetensors") or not (encoder / name).is_file():  # later commands may change JSON files
            raise EncoderDamaged(
                f"The encoder {str(encoder)!r} lacks the {sizes[name]} bytes of {name}, so it is damaged: delete the "
                "folder, then train it again."
            )


def _difference(training: Mapping[str, Any], plan: TrainingPlan) -> str:
    """Return how a finished training (`training.json`) differs from a plan; empty if it does not."""
    parts = []
    before, now = flattened(training["settings"]), plan.decisive
    # A searched setting has the value that was chosen; the values that were tried must be the same.
    searched = {name for name in plan.settings.search if f"search.{name}" in before}
    # Settings of both versions. A table among them, such as `finish`, may be missing on one side.
    in_both = (training["settings"].keys() & type(plan.settings).model_fields) - {"loop", *UNDECISIVE}
    changed = [
        # A list of facets or corpora would make the message too long.
        name if isinstance(value, list) else f"{name} {json.dumps(before.get(name))}, now {json.dumps(value)}"
        for name, value in (dict.fromkeys(before) | now).items()
        if (name.partition(".")[0] in in_both or (name in before and name in now))
        and before.get(name) != value
        and name.removeprefix("loop.") not in searched
    ]
    if changed:
        parts.append(f"other settings ({'; '.join(changed)})")
    if training["data_digest"] != plan.data_digest:
        numbers = [source.get("release") for source in (training["source"], plan.source)]
        # Another version of facetflow may read the same release differently.
        moved = all(numbers) and numbers[0] != numbers[1]
        parts.append(f"other data (release {numbers[0]}, now {numbers[1]})" if moved else "other data")
    if training["backbone_digest"] != plan.backbone_digest:
        parts.append("another backbone")
    ratings = training.get("chosen_by", {}).get("digest", "")
    if ratings and plan.ratings and ratings != plan.ratings.rated.digest:
        parts.append(f"other ratings in {plan.settings.choose_by!r}, by which it was chosen")
    return " and ".join(parts)


def corpora_of(plan: TrainingPlan, rows: pl.DataFrame, *, unit: str = "pairs") -> dict[str, dict[str, Any]]:
    """Return the counts and the licence of each corpus, as in training.json, from `corpus` and `split` of each item."""
    counts = {(corpus, split): count for corpus, split, count in rows.group_by("corpus", "split").len().iter_rows()}
    train, dev = plan.settings.splits
    return {
        corpus: {
            "train": counts.get((corpus, train), 0),
            "dev": counts.get((corpus, dev), 0),
            "unit": unit,
            "licence": plan.job.licences.get(corpus, ""),
        }
        for corpus in sorted({corpus for corpus, _ in counts})
    }


def write_encoder(
    plan: TrainingPlan,
    learnt: Learnt[Any],
    backbone: Backbone,
    facts: Mapping[str, Any],
    *,
    further: Callable[[Path], None] | None = None,
) -> None:
    """Write model, training.json, README.md and `further` files; the folder appears when it is complete."""
    folder, training = plan.job.output / ENCODER, {**_report(plan, learnt, backbone), **facts}
    with whole_folder(folder) as partial:
        backbone.model.save_pretrained(str(partial), create_model_card=False)
        if further is not None:
            further(partial)
        write_json(partial / TRAINING_FILE, {**training, "files": sizes_of(partial)})
        # Its size is not recorded: an evaluation adds scores.
        write_text(partial / "README.md", write_card(training))
    log.info("%s is done: %s %s/s", folder, f"{learnt.outcome.per_second:,.0f}", learnt.task.unit)


def _report(plan: TrainingPlan, learnt: Learnt[Any], backbone: Backbone) -> dict[str, Any]:
    name, outcome, unit = plan.settings.backbone, learnt.outcome, learnt.task.unit
    settings = plan.settings.model_dump(mode="json")
    used = plan.settings.with_values(learnt.values).model_dump(mode="json", exclude={"search"})
    searched = {"chosen": learnt.values, "tried": [asdict(tried) for tried in learnt.tried]}
    return {
        "identity": plan.identity,
        "settings": settings | used,
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
        "chosen_by": plan.ratings.recorded() if plan.ratings else {"set": None},
        **({"search": searched} if learnt.tried else {}),
    }


def write_card(training: Mapping[str, Any]) -> str:
    """Return the README.md of an encoder, from the content of its `training.json`; an evaluation adds its scores.

    Each kind has a template, which extends `templates/card.md`.
    """
    settings, dev = training["settings"], training["dev"] or {}
    calibration, threshold = training.get("calibration"), training.get("threshold")
    below = settings.get("words_below", 0)
    return render_card(
        f"training.encoders.{settings['kind']}/card.md",
        training=training,
        settings=settings,
        chosen=is_chosen(settings),
        last_kept="The model of the last step was kept, whatever its dev score",
        dev_scores=", ".join(f"{score_in_words(name)} {value:.4f}" for name, value in dev.items()),
        calibration=Calibration(**calibration) if calibration else None,
        threshold=LabelThreshold(**threshold) if threshold else None,
        needed=NEEDED,
        usual_parts=USUAL_PARTS,
        layer_of_words=f", from the layer {below} below the last one," if below else "",
        words=score_in_words,
    )
