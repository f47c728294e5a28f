"""The kinds of encoders: their settings, training module, input tables and evaluation suites.

A kind is a folder in `training/encoders` and an entry here: "How to add an encoder", docs/concepts/architecture.md.
No torch.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.core.faults import UnknownName
from features.stages.dependencies import DEPENDENCY_STAGE
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.metrics import METRIC_STAGE
from features.stages.srl import SRL_STAGE
from training.encoders.aspect.settings import AspectSettings
from training.encoders.pas.settings import PasSettings
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import EncoderSettings
from training.jobs import Source, TrainingJob, wrong_job


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of encoder."""

    settings: type[EncoderSettings]  # class of its user settings
    module: str  # its `train` takes a `TrainingJob` of these settings, and returns the folder of the encoder
    tables: tuple[str, ...]  # tables of the store that its trainings read
    suites: tuple[str, ...] = ()  # that score it besides those of all kinds (`training.evaluation.suites`)
    # settings with which its encoders have a classifier that predicts labels of pairs, and their values; empty if all
    # of them have one, None if none has
    classifies: Mapping[str, str] | None = None
    # of the code that trains them: incremented when the same settings and data give another encoder, so that a refresh
    # trains them again
    version: int = 1

    @property
    def learns_from(self) -> str:
        """What a project gives for it: `pairs`, or `texts` with labels."""
        return "texts" if "labels" in self.tables else "pairs"


KINDS: Mapping[str, Kind] = {
    "s3bert": Kind(
        settings=S3bertSettings,
        module="training.encoders.s3bert.train",
        tables=("sentences", "pairs", METRIC_STAGE.name, EMBEDDING_STAGE.name),
        suites=("facets", "predictors"),
        version=4,  # mixed lengths; no pairs of a split of another corpus; the map alone where layers do not better it
    ),
    "aspect": Kind(
        settings=AspectSettings,
        module="training.encoders.aspect.train",
        tables=("sentences", "labels"),
    ),
    "rgcn": Kind(
        settings=RgcnSettings,
        module="training.encoders.rgcn.train",
        tables=("sentences", "pairs", DEPENDENCY_STAGE.name),
        suites=("labels",),
        classifies={"objective": "softmax"},
        version=2,  # pairs of a split of another corpus are not learnt from
    ),
    "pas": Kind(
        settings=PasSettings,
        module="training.encoders.pas.train",
        tables=("sentences", "pairs", SRL_STAGE.name),
        suites=("labels",),
        classifies={},
        version=2,  # pairs of a split of another corpus are not learnt from
    ),
}


def learns_labels(settings: Mapping[str, Any]) -> bool:
    """Return whether a training with these settings, as in training.json, saves a classifier with its encoder."""
    kind = KINDS.get(settings.get("kind", ""))
    if kind is None or kind.classifies is None:
        return False
    return all(settings.get(name) == value for name, value in kind.classifies.items())


def tables_of(settings: EncoderSettings) -> tuple[str, ...]:
    """Return the tables of the store that the training of an encoder reads."""
    return tuple(table for table in KINDS[settings.kind].tables if table not in settings.unread)


def read_encoder_job(path: Path) -> TrainingJob[Source, EncoderSettings]:
    """Read the training job of an encoder of any kind."""
    try:
        content = json.loads(path.read_bytes())
        kind = content["settings"]["kind"]
        if kind in KINDS:
            settings = KINDS[kind].settings.model_validate(content["settings"])
            return TrainingJob[Source, EncoderSettings].model_validate(content | {"settings": settings})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise wrong_job(path, error) from error
    raise UnknownName(f"{str(path)!r} is for an encoder of kind {kind!r}; choose one of: {', '.join(KINDS)}.")
