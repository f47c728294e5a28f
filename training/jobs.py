"""Job of a training or evaluation process: one JSON file, which is kept with its results.

runs/<encoder>/<release>-<digest>/seed-<n>/        (`training.runs`)
├── train.json      TrainingJob         ├── evaluate.json   EvaluationJob
├── train.lock      of the trainer      ├── metrics.json    scores
├── checkpoint.pt   while it trains     ├── *.parquet, …    output of the suites
├── progress.jsonl  losses and rates    ├── report.html     report for readers
├── run.json        its state           └── evaluation.json state of the last one
└── encoder/        loads with SentenceTransformer; facets.json, training.json (how it was trained), README.md
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, Field, SerializeAsAny, ValidationError, model_validator

from features.core.closed import Closed, first_problem
from features.core.errors import SettingsError
from features.core.faults import Conflict, JobWrong, NoTrainingData, ReleaseLacks
from features.corpora.settings import EvaluationSet
from features.models import MODELS
from training.data.labelled_pairs import LabelledPairs
from training.data.labelled_texts import LabelledTexts
from training.data.measured_pairs import MeasuredPairs
from training.data.parses import Frames, Parses
from training.types import Classifier

From = TypeVar("From", bound=BaseModel)
Settings = TypeVar("Settings", bound=BaseModel)
Rows = TypeVar("Rows", MeasuredPairs, LabelledPairs, LabelledTexts)
Parsed = TypeVar("Parsed", Parses, Frames)

TRAIN = "training.train"
"""Module that trains an encoder of any kind from the file of its job."""
_EXPORTS = ("pairs", "texts", "judged", "parses", "frames")


class Source(Closed):
    """Data to train or evaluate on: a release of a store, or exported tables."""

    store: str | Path | None = None  # folder or address of the store
    release: int | None = None  # number of the release; the latest when missing
    pairs: Path | None = None  # an export of measured pairs (`MeasuredPairs.export`), instead of a store
    texts: Path | None = None  # an export of labelled texts (`LabelledTexts.export`), instead of a store
    judged: Path | None = None  # an export of pairs with labels (`LabelledPairs.export`), instead of a store
    parses: Path | None = None  # an export of the dependency trees of their sentences (`Parses.export`)
    frames: Path | None = None  # an export of the semantic roles of their sentences (`Frames.export`)
    without: tuple[str, ...] = ()  # corpora whose pairs and texts are not read

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.store is None) == all(getattr(self, name) is None for name in _EXPORTS):
            raise Conflict(f"give either store (with or without a release) or the exports: {', '.join(_EXPORTS)}")
        return self

    def read(self, kind: type[Rows]) -> Rows:
        """Return all data of a kind, of the corpora that are read."""
        rows: Rows = self._load(kind)
        if not self.without:
            return rows
        corpora = sorted({*rows.corpora} - {*self.without})
        if not corpora:
            raise NoTrainingData(
                f"The release only has data of corpora that the project file does not name ({', '.join(self.without)}):"
                " name a corpus that has what the encoder reads, or one of these in its `corpora`."
            )
        return rows.select(corpora=corpora)

    def find(self, kind: type[Rows]) -> Rows | None:
        """Return all data of a kind as `read` does; None where there are none."""
        try:
            return self.read(kind)
        except (ReleaseLacks, NoTrainingData):
            return None

    def read_parses(self, kind: type[Parsed], texts: Sequence[str] | None) -> Parsed:
        """Return the parses of those sentences, or of all, that have one."""
        parsed: Parsed = self._load(kind, texts)
        return parsed

    def _load(self, kind: Any, *texts: Sequence[str] | None) -> Any:
        if self.store is not None:
            return kind.from_store(self.store, *texts, release=self.release)
        exports = {export: getattr(self, export) for export in _EXPORTS if getattr(self, export) is not None}
        if kind.EXPORT not in exports:
            listed = ", ".join(repr(str(path)) for path in exports.values())
            raise ReleaseLacks(f"the source {listed} has no {kind.WHAT}; give {kind.WHAT} as `{kind.EXPORT}`")
        return kind.from_file(exports[kind.EXPORT], *texts)


class TrainingJob(Closed, Generic[From, Settings]):
    """One training of one encoder or parser; all trainings have this form."""

    source: From  # training data
    settings: SerializeAsAny[Settings]  # settings of the encoder or parser
    output: Path  # the run's folder; a job that is started again on the same folder resumes from its checkpoint
    base: Path = Path()  # folder that relative paths in the settings start from
    licences: dict[str, str] = Field(default_factory=dict)  # terms of use of the training corpora, for the model card
    # the set of human ratings that `settings.choose_by` names; empty if no ratings choose the best model
    ratings: tuple[EvaluationSet, ...] = ()
    # folder of files that the trainings of one command share, deleted when it ends; None for a single one
    shared: Path | None = None


class EvaluationJob(Closed):
    """One evaluation of one encoder."""

    source: Source | None = None  # measured pairs and texts with labels, for suites that need any
    encoder: Path  # folder of the encoder
    output: Path  # folder for metrics.json, report.html and the output of the suites
    split: str = "dev"  # the split whose positive pairs are compared, and whose texts are retrieved
    suites: tuple[str, ...] = ()  # suites to run (`training.evaluation.suites`); all suites of its kind when empty
    ratings: tuple[EvaluationSet, ...] = ()  # sets of human ratings
    tasks: tuple[EvaluationSet, ...] = ()  # sets of texts or pairs to classify
    classifiers: tuple[Classifier, ...] = ("logistic regression",)  # of `TransferSettings`, for these tasks
    folds: Annotated[int, Field(ge=2)] = 10  # number of folds of cross-validations
    base: Path = Path()  # folder that relative paths of ratings and tasks start from
    resamples: Annotated[int, Field(ge=100)] = 1000  # bootstrap samples of pairs, or of queries, for intervals
    seed: Annotated[int, Field(ge=0)] = 0  # seed of the random baseline and of the bootstrap samples
    project: str = ""  # name of the project, for the report
    own_metrics: dict[str, str] = Field(default_factory=dict)  # the project's own: name → first line of its docstring


Job = TypeVar("Job", bound=BaseModel)


def read_job(kind: type[Job], path: Path) -> Job:
    """Read a job of a kind from its JSON file."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise wrong_job(path, error) from error


def read_parser_job(kind: type[Job], path: Path) -> Job:
    """Read the job of a parser; its paths are made absolute, relative to the folder of the file."""
    given = read_job(kind, path).model_dump()
    base, settings = path.resolve().parent / given.pop("base"), given["settings"]
    if settings["backbone"] not in MODELS and (folder := base / settings["backbone"]).is_dir():
        settings["backbone"] = str(folder)
    return kind.model_validate(_absolute(given, base))


def _absolute(value: Any, base: Path) -> Any:
    """Return a value with the paths in it made absolute."""
    if isinstance(value, Path):
        return base / value
    if isinstance(value, dict):
        return {key: _absolute(each, base) for key, each in value.items()}
    return tuple(_absolute(each, base) for each in value) if isinstance(value, tuple) else value


def wrong_job(path: Path, error: Exception) -> SettingsError:
    """Return the error for a file that is no job, by what failed while it was read."""
    if isinstance(error, OSError):
        return JobWrong(f"the job {str(path)!r} cannot be read: {error.strerror}")
    if isinstance(error, ValidationError):
        where, why = first_problem(error)
        return JobWrong(f"{where} in {str(path)!r} is wrong: {why}")
    return JobWrong(f"{str(path)!r} is not a training job; run `facetflow train` again")
