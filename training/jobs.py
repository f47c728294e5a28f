"""What a training or an evaluation process is asked to do: one JSON file, which stays beside its results.

runs/<name>/
├── train.json      TrainingJob         ├── evaluate.json   EvaluationJob
├── checkpoint.pt   while it trains     ├── metrics.json    scores
├── progress.jsonl  losses and rates    ├── pairs.parquet   measured and predicted values
│                                       ├── graphs.json     what matches in a few pairs of graphs
├── training.json   how it went         └── report.html     the same to look at
└── encoder/        loads with SentenceTransformer; facets.json, README.md
"""

import json
import os
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from features.errors import InputError, ModelError, SettingsError
from training.facets import FILE_NAME
from training.s3bert.data import MeasuredPairs
from training.settings import TrainingSettings

ENCODER = "encoder"
"""Folder of the encoder within a run."""


class Source(BaseModel):
    """Where measured pairs come from: a release of a store, or one exported table.

    Args:
        store: folder of the store.
        release: number of the release; the latest when missing.
        pairs: an export (`MeasuredPairs.export`), instead of a store.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: Path | None = None
    release: int | None = None
    pairs: Path | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.store is None) == (self.pairs is None):
            raise ValueError("give either store (with or without a release) or pairs")
        return self

    def read(self) -> MeasuredPairs:
        """Return all measured pairs."""
        if self.store is not None:
            return MeasuredPairs.from_store(self.store, release=self.release)
        assert self.pairs is not None  # noqa: S101 - the validator made sure; this tells mypy
        return MeasuredPairs.from_file(self.pairs)


class TrainingJob(BaseModel):
    """One training of one encoder.

    Args:
        source: the pairs.
        training: objective and loop.
        output: the run's folder; started again on the same folder, a job goes on from its checkpoint.
        base: folder that a relative path of the backbone starts from.
        licences: terms of use by corpus, for the model card.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Source
    training: TrainingSettings = TrainingSettings()
    output: Path
    base: Path = Path()
    licences: dict[str, str] = Field(default_factory=dict)


class EvaluationJob(BaseModel):
    """One evaluation of one encoder.

    Args:
        source: the pairs to compare facets with metrics on.
        encoder: folder of the encoder.
        output: folder for metrics.json, pairs.parquet and report.html.
        split: the split whose positive pairs are compared.
        corpora: corpora to compare on; all when empty.
        ratings: sets of human ratings, as `features.corpora.settings.EvaluationSet` takes them.
        base: folder that relative paths of the ratings start from.
        examples: pairs of sentences for the report, beside those that it picks itself.
        random_draws: partitions that the random baseline is the mean of.
        seed: of the random baseline.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Source
    encoder: Path
    output: Path
    split: str = "dev"
    corpora: tuple[str, ...] = ()
    ratings: tuple[dict[str, Any], ...] = ()
    base: Path = Path()
    examples: tuple[tuple[str, str], ...] = ()
    random_draws: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = 0


Job = TypeVar("Job", bound=BaseModel)


def read_job(kind: type[Job], path: Path) -> Job:
    """Read a job.

    Raises:
        SettingsError: when the file is missing or a field is wrong.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"the job {str(path)!r} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise SettingsError(f"{where} in {str(path)!r} is wrong: {first['msg']}") from error


def latest_encoder(runs: Path) -> Path:
    """Return the encoder that was finished last in a folder of runs.

    Raises:
        ModelError: when no run has an encoder yet.
    """
    found = [path for path in runs.glob(f"*/{ENCODER}/{FILE_NAME}") if not path.parent.parent.is_symlink()]
    found.sort(key=lambda path: path.stat().st_mtime_ns)
    if not found:
        raise ModelError(f"{str(runs)!r} has no encoder yet; run `facetflow train`, or name one with --model")
    return found[-1].parent


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON (no NaN), whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file that a run wrote.

    Raises:
        InputError: when it is missing or damaged.
    """
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); run the step that writes it again") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
