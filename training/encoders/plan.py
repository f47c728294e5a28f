"""What decides the result of a training, and whether an encoder that is there already is that result."""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.errors import ModelError, SettingsError
from training.encoders.settings import EncoderSettings, from_version_before
from training.loop.settings import decisive
from training.runs import TRAINING_FILE, flattened
from training.writing import read_json

_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Everything that decides the result of a training.

    Args:
        settings: with all that follows from the data.
        data_digest: of what is learnt from (`MeasuredPairs.digest`, `LabelledTexts.digest`).
        backbone_digest: of the files of the start model.
        source: where the data came from; says what is other, and decides nothing.
        ratings_digest: of the ratings that the model is chosen by; empty where it is chosen by its loss.
    """

    settings: EncoderSettings
    data_digest: str
    backbone_digest: str
    source: Mapping[str, Any]
    ratings_digest: str = ""

    @property
    def decisive(self) -> dict[str, Any]:
        """The settings that decide the result."""
        return flattened(decisive(self.settings, exclude=frozenset({"name"})))

    @property
    def identity(self) -> str:
        """A hash of everything."""
        parts = [self.decisive, self.data_digest, self.backbone_digest]
        parts += [self.ratings_digest] if self.ratings_digest else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_finished(encoder: Path, plan: TrainingPlan) -> bool:
    """Return whether the encoder of a plan is there.

    Args:
        encoder: its folder within the run's.
        plan: what it is to be.

    Raises:
        SettingsError: when there is an encoder that was made in another way: it is never replaced.
        InputError: when it does not say how it was made.
        ModelError: when it is that encoder, and one of its files is missing or cut off.
    """
    if not encoder.is_dir():
        return False
    found = read_json(encoder / TRAINING_FILE)
    difference = _difference(found, plan)
    if not difference:
        _check_files(encoder, found.get("files", {}))
        _log.info("%s is done already", encoder)
        return True
    run = encoder.parent
    raise SettingsError(
        f"The run {run.name!r} in {str(run.parent)!r} has a finished encoder with {difference}: give the encoder "
        f"another `name`, or delete the folder {str(run)!r} to train it anew."
    )


def sizes_of(encoder: Path) -> dict[str, int]:
    """Return path → bytes of all files of an encoder."""
    files = sorted(path for path in encoder.rglob("*") if path.is_file())
    return {path.relative_to(encoder).as_posix(): path.stat().st_size for path in files}


def _check_files(encoder: Path, sizes: Mapping[str, int]) -> None:
    """Refuse an encoder whose files are not as the training left them.

    Args:
        encoder: its folder.
        sizes: what its training.json says of them; empty where an earlier version wrote it.

    Raises:
        ModelError: one is missing, or weights are cut off.
    """
    now = sizes_of(encoder)
    for name, size in sizes.items():
        if name not in now:
            wrong = f"lacks {name},"
        elif now[name] != size and name.endswith(".safetensors"):  # what a later command adds is in files of JSON
            wrong = f"has {name} with {now[name]} bytes, not {size},"
        else:
            continue
        raise ModelError(
            f"The encoder {str(encoder)!r} {wrong} and so is not what was trained: delete the folder, then train it "
            "again."
        )


def _difference(found: Mapping[str, Any], plan: TrainingPlan) -> str:
    """Return in which respects a finished training (`training.json`) was another than a plan; empty where in none."""
    parts = []
    before = flattened(from_version_before(found.get("settings", {})))
    # Such a setting has the value that was chosen: the values that were tried are what must be the same.
    searched = {name for name in plan.settings.search if f"search.{name}" in before}
    changed = [
        # A list of facets or corpora would be most of the sentence.
        name if isinstance(value, list) else f"{name} {json.dumps(before[name])}, now {json.dumps(value)}"
        for name, value in plan.decisive.items()
        if name in before and before[name] != value and name.removeprefix("loop.") not in searched
    ]
    if changed:
        parts.append(f"other settings ({'; '.join(changed)})")
    if found.get("data_digest") != plan.data_digest:
        numbers = [source.get("release") for source in (found.get("source", {}), plan.source)]
        # Another version of facetflow may read the same release otherwise.
        moved = all(numbers) and numbers[0] != numbers[1]
        parts.append(f"other data (release {numbers[0]}, now {numbers[1]})" if moved else "other data")
    if found.get("backbone_digest") != plan.backbone_digest:
        parts.append("another backbone")
    ratings = found.get("chosen_by", {}).get("digest", "")
    if ratings and plan.ratings_digest and ratings != plan.ratings_digest:
        parts.append(f"other ratings in {plan.settings.choose_by!r}, by which it was chosen")
    if not before:
        parts.append("settings that it does not tell")
    return " and ".join(parts)
