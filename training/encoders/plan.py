"""Everything that determines the result of a training, and whether an existing encoder is that result."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from features import models
from features.core.faults import EncoderDamaged, OtherSettings
from training.encoders.settings import EncoderSettings
from training.loop.settings import decisive
from training.progress import log
from training.runs import TRAINING_FILE, UNDECISIVE, flattened
from training.writing import read_json

if TYPE_CHECKING:
    from training.encoders.ratings import ChosenRatings
    from training.jobs import TrainingJob


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Everything that determines the result of a training."""

    settings: EncoderSettings  # settings, with everything that follows from the data
    data_digest: str  # digest of the training data (`MeasuredPairs.digest`, `LabelledTexts.digest`)
    backbone_digest: str  # digest of the files of the start model
    source: Mapping[str, Any]  # where the data came from; used in messages only
    ratings_digest: str = ""  # digest of the ratings that choose the model; empty if it is chosen on the dev pairs
    dropped: int = 0  # number of training pairs that are left out because they are also in another split
    backbone: Path = Path()  # folder of the start model

    @classmethod
    def of(
        cls,
        job: "TrainingJob[Any, Any]",
        settings: EncoderSettings,
        data_digest: str,
        source: Mapping[str, Any],
        *,
        ratings: "ChosenRatings | None" = None,
        dropped: int = 0,
    ) -> Self:
        """Return the plan of a job from its completed settings and its data."""
        folder = models.locate(settings.backbone, job.base)
        digest = ratings.digest if ratings else ""
        return cls(settings, data_digest, models.digest(folder), source, digest, dropped, folder)

    @property
    def decisive(self) -> dict[str, Any]:
        """Settings that determine the result."""
        return flattened(decisive(self.settings, exclude=UNDECISIVE))

    @property
    def identity(self) -> str:
        """Hash of the plan."""
        parts = [self.decisive, self.data_digest, self.backbone_digest]
        parts += [self.ratings_digest] if self.ratings_digest else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_finished(encoder: Path, plan: TrainingPlan) -> bool:
    """Return whether a plan has its encoder, in this folder within that of the run."""
    if not encoder.is_dir():
        return False
    training = read_json(encoder / TRAINING_FILE)
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
    now = sizes_of(encoder)
    for name, size in sizes.items():
        if name not in now:
            wrong = f"lacks {name},"
        elif now[name] != size and name.endswith(".safetensors"):  # later commands may change JSON files
            wrong = f"has {name} with {now[name]} bytes, not {size},"
        else:
            continue
        raise EncoderDamaged(
            f"The encoder {str(encoder)!r} {wrong} so it is damaged: delete the folder, then train it again."
        )


def _difference(training: Mapping[str, Any], plan: TrainingPlan) -> str:
    """Return how a finished training (`training.json`) differs from a plan; empty if it does not."""
    parts = []
    before = flattened(training["settings"])
    # A searched setting has the value that was chosen; the values that were tried must be the same.
    searched = {name for name in plan.settings.search if f"search.{name}" in before}
    changed = [
        # A list of facets or corpora would make the message too long.
        name if isinstance(value, list) else f"{name} {json.dumps(before[name])}, now {json.dumps(value)}"
        for name, value in plan.decisive.items()
        if name in before and before[name] != value and name.removeprefix("loop.") not in searched
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
    if ratings and plan.ratings_digest and ratings != plan.ratings_digest:
        parts.append(f"other ratings in {plan.settings.choose_by!r}, by which it was chosen")
    return " and ".join(parts)
