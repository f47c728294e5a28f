"""The subject of an evaluation: an encoder of any kind, what is known of its training, and the job's data."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features import models
from features.metrics.bootstrap import Bootstrap
from training.evaluation_sets import read_class_tasks, read_rating_sets
from training.jobs import EvaluationJob
from training.runs import TRAINING_FILE
from training.writing import read_json

if TYPE_CHECKING:
    from features.corpora.classified import ClassTask
    from features.corpora.reading import EvaluationPairs


class Subject:
    """An encoder and the data it is scored on, as a job names them."""

    def __init__(self, job: EvaluationJob) -> None:
        self.job = job
        self.bootstrap = Bootstrap(job.resamples, job.seed)
        """How intervals are computed; the same for all suites."""

    @cached_property
    def training(self) -> Mapping[str, Any]:
        """Content of the encoder's training.json; empty for an encoder that facetflow did not train."""
        file = self.job.encoder / TRAINING_FILE
        return read_json(file) if file.exists() else {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the encoder's training; empty where they are unknown."""
        settings: Mapping[str, Any] = self.training.get("settings", {})
        return settings

    @property
    def kind(self) -> str:
        """Kind of the encoder; empty where it is unknown."""
        return str(self.settings.get("kind", ""))

    @cached_property
    def backbone(self) -> Path | None:
        """Folder of the encoder's start model; None where that is unknown."""
        name = self.settings.get("backbone")
        return None if name is None else models.locate(name, self.job.base)

    @cached_property
    def rating_sets(self) -> "list[EvaluationPairs]":
        """Sets of human ratings; errors as for `read_rating_sets`."""
        return read_rating_sets(self.job.ratings, self.job.base)

    @cached_property
    def tasks(self) -> "list[ClassTask]":
        """Classification tasks on texts and pairs; errors as for `read_class_tasks`."""
        return read_class_tasks(self.job.tasks, self.job.base)

    def unused(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return which splits, with their sizes, neither the training nor this evaluation uses."""
        used = {*(self.settings.get("splits") or ()), self.job.split}
        return {split: size for split, size in sizes.items() if split not in used}
