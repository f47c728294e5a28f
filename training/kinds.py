"""The kinds of encoders: what each is set up by, which module trains it, what it reads and is scored on.

A kind is a folder in `training/encoders` and an entry here (docs/architecture.md, "How to add an encoder"). No torch.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.errors import SettingsError
from training.encoders.aspect.settings import AspectSettings
from training.encoders.pas.settings import PasSettings
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import EncoderSettings, from_version_before
from training.jobs import Source, TrainingJob, wrong_job


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of encoder.

    Args:
        settings: what a user chooses.
        module: trains one: takes `--settings FILE.json` with a `TrainingJob` of these settings.
        tables: of the store, that its trainings read.
        suites: of `training.evaluation.suites`, that it is scored by beside those of all kinds.
        classifies: the setting by which its encoders have a classifier that predicts labels of pairs; empty where all
            of them have one, None where none has.
    """

    settings: type[EncoderSettings]
    module: str
    tables: tuple[str, ...]
    suites: tuple[str, ...] = ()
    classifies: str | None = None


KINDS: Mapping[str, Kind] = {
    "s3bert": Kind(
        settings=S3bertSettings,
        module="training.encoders.s3bert.train",
        tables=("sentences", "pairs", "metrics", "embeddings"),
        suites=("facets", "predictors"),
    ),
    "aspect": Kind(
        settings=AspectSettings,
        module="training.encoders.aspect.train",
        tables=("sentences", "labels"),
    ),
    "rgcn": Kind(
        settings=RgcnSettings,
        module="training.encoders.rgcn.train",
        tables=("sentences", "pairs", "dependencies"),
        classifies='objective = "softmax"',
    ),
    "pas": Kind(
        settings=PasSettings,
        module="training.encoders.pas.train",
        tables=("sentences", "pairs", "srl"),
        classifies="",
    ),
}


def learns_labels(settings: Mapping[str, Any]) -> bool:
    """Return whether a training leaves a classifier beside its encoder.

    Args:
        settings: of the training, as training.json has them; empty where they are not known.
    """
    kind = KINDS.get(settings.get("kind", ""))
    if kind is None or kind.classifies is None:
        return False
    return all(settings.get(name) == value for name, value in tomllib.loads(kind.classifies).items())


def tables_of(settings: EncoderSettings) -> tuple[str, ...]:
    """Return the tables of the store that the training of an encoder reads."""
    return tuple(table for table in KINDS[settings.kind].tables if table not in settings.unread)


KIND_BEFORE = "s3bert"
"""The only kind of the version before, which did not write it."""


def read_encoder_job(path: Path) -> TrainingJob[Source, EncoderSettings]:
    """Read what an encoder of any kind was asked to learn; also a job of the version before.

    Raises:
        SettingsError: when the file is missing, says something unknown, or names a kind that there is not.
    """
    try:
        content = json.loads(path.read_bytes())
        if "training" in content:
            content = content | {"settings": from_version_before(content["training"])}
            del content["training"]
        kind = content["settings"].get("kind", KIND_BEFORE)
        if kind not in KINDS:
            raise SettingsError(f"{str(path)!r} is about an encoder of kind {kind!r}; known are {', '.join(KINDS)}.")
        settings = KINDS[kind].settings.model_validate(content["settings"])
        found = TrainingJob[Source, EncoderSettings].model_validate(content | {"settings": settings})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise wrong_job(path, error) from error
    return found
