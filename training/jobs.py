"""What a training or an evaluation process is asked to do: one JSON file, which stays beside its results.

runs/<name>/
├── train.json      TrainingJob         ├── evaluate.json   EvaluationJob
├── train.lock      of who trains here  ├── metrics.json    scores
├── checkpoint.pt   while it trains     ├── pairs.parquet   measured and predicted values
├── progress.jsonl  losses and rates    ├── graphs.json     what matches in a few pairs of graphs
│                                       └── report.html     the same to look at
└── encoder/        loads with SentenceTransformer; facets.json, training.json (how it went), README.md
"""

import difflib
import json
import shlex
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from features import outputs
from features.errors import InputError, ModelError, SettingsError
from training.facets import FILE_NAME
from training.s3bert.data import MeasuredPairs
from training.settings import TrainingSettings
from training.writing import writing

ENCODER = "encoder"
"""Folder of the encoder within a run."""
TRAINING_JOB = "train.json"
"""What the encoder of a run learns, and from what."""
BUILDS = "builds"
"""The folder beside the runs that is none: it has the records of builds."""


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
        resamples: draws of pairs that intervals are made of.
        seed: of the random baseline and of the draws of pairs.
        project: name of the project, for the report.
        own_metrics: name → first line of the docstring of each of the project's own metrics, for the report.
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
    resamples: Annotated[int, Field(ge=100)] = 1000
    seed: Annotated[int, Field(ge=0)] = 0
    project: str = ""
    own_metrics: dict[str, str] = Field(default_factory=dict)


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


def run_folder(runs: Path, name: str) -> Path:
    """Return the folder of a run.

    Args:
        runs: folder of all runs.
        name: of the run.

    Raises:
        SettingsError: when the name cannot be one.
    """
    if not name or Path(name).name != name or name.startswith(".") or name == BUILDS:
        raise SettingsError(
            f"{name!r} cannot be the name of a run: it becomes a folder in {str(runs)!r}, so it has no slash, does not "
            f"begin with a dot, and is not {BUILDS!r}, where the records of builds are."
        )
    return runs / name


def find_encoder(runs: Path, name: str) -> Path:
    """Return the finished encoder of a run.

    Args:
        runs: folder of all runs.
        name: of the run.

    Raises:
        SettingsError: when the name cannot be one.
        ModelError: when there is no such run, or it is not finished.
    """
    encoder = run_folder(runs, name) / ENCODER
    if (encoder / FILE_NAME).is_file():
        return encoder
    if (encoder.parent / TRAINING_JOB).is_file():
        raise ModelError(
            f"The run {name!r} in {str(runs)!r} has no encoder yet: `facetflow train --name {shlex.quote(name)}` "
            "brings it to its end."
        )
    finished = sorted(found.parent.name for found in _encoders(runs))
    if not finished:
        raise ModelError(f"There is no run {name!r} in {str(runs)!r}, nor any other: run `facetflow train` first.")
    close = difflib.get_close_matches(name, finished, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise ModelError(f"There is no run {name!r} in {str(runs)!r}{hint}; there are: {', '.join(finished)}.")


def latest_encoder(runs: Path) -> Path:
    """Return the encoder that was finished last in a folder of runs.

    Raises:
        ModelError: when no run has an encoder yet.
    """
    found = sorted(_encoders(runs), key=lambda encoder: (encoder / FILE_NAME).stat().st_mtime_ns)
    if not found:
        raise ModelError(f"{str(runs)!r} has no encoder yet; run `facetflow train`, or name one with --model")
    return found[-1]


def _encoders(runs: Path) -> list[Path]:
    """Return the encoders of all runs, each once: `current` is a link to one of them."""
    found = (path.parent for path in runs.glob(f"*/{ENCODER}/{FILE_NAME}"))
    return [encoder for encoder in found if not encoder.parent.is_symlink()]


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
    """Write a text file of a run, whole or not at all.

    Raises:
        RunError: when the file system refuses.
    """
    with writing(path):
        outputs.write_text(path, [text])
