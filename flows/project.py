"""The project file, facetflow.toml: everything that a user decides, checked before anything runs.

Each section belongs to the stage that it configures, and so does its model; they are only put together here.
"""

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self, get_args, get_origin
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from features.corpora.settings import CorpusSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.errors import SettingsError
from features.parsers.settings import (
    AmrSettings,
    DependencySettings,
    EmbeddingSettings,
    LabelVectorSettings,
    SrlSettings,
)
from features.store.schemas import METRIC_NAMES
from training.settings import PromotionSettings, TrainingSettings

PROJECT_FILE = "facetflow.toml"


class MetricSettings(BaseModel):
    """What is measured on pairs.

    Args:
        enabled: False leaves the AMR metrics out, and the label vectors that only they need.
        own: Python files with metrics of the project's own (docs/own_metrics.md).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    own: tuple[Path, ...] = ()


class LimitSettings(BaseModel):
    """Shares above which a build publishes nothing.

    Args:
        rejected_rows: rows of a table that could not be processed, in [0, 1].
        failed_shards: shards of the build that failed, in [0, 1].
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rejected_rows: float = Field(default=0.05, ge=0, le=1)
    failed_shards: float = Field(default=0.0, ge=0, le=1)


class ClusterSettings(BaseModel):
    """Where the shards are worked on.

    Args:
        address: scheduler of an existing Dask cluster; a local cluster is started when missing.
        workers: worker processes without a GPU; one a core when missing.
        gpu_workers: worker processes with one GPU each.
        threads_per_worker: threads of the numeric libraries in a worker; a worker does one shard at a time.
        memory_limit: of one worker, such as "4GiB"; an equal share of the machine's memory when missing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str | None = None
    workers: int | None = Field(default=None, ge=1)
    gpu_workers: int = Field(default=0, ge=0)
    threads_per_worker: int = Field(default=1, ge=1)
    memory_limit: str | None = Field(default=None, pattern=r"(?i)^\d+(\.\d+)?\s*[kmgt]?i?b$")


class Project(BaseModel):
    """A whole project file.

    Args:
        name: of the project.
        store: folder of the feature store.
        runs: folder of encoders, scores, reports and the records of builds.
        corpora: where pairs of sentences come from.
        leakage: what to do with pairs that an evaluation set holds.
        ingest: how large shards are.
        amr: where graphs come from.
        dependencies: the dependency parser.
        srl: the tagger of semantic roles.
        embeddings: the teacher.
        label_vectors: vectors of the words in labels.
        metrics: what is measured.
        limits: when nothing is published.
        cluster: where it runs.
        training: how an encoder learns.
        evaluation: human ratings to compare with.
        promotion: when a new encoder takes the place of the current one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[\w.-]+$")
    store: Path = Path("store")
    runs: Path = Path("runs")
    corpora: tuple[CorpusSettings, ...] = Field(min_length=1)
    leakage: LeakageSettings = LeakageSettings()
    ingest: IngestSettings = IngestSettings()
    amr: AmrSettings = AmrSettings()
    dependencies: DependencySettings = DependencySettings()
    srl: SrlSettings = SrlSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    label_vectors: LabelVectorSettings = LabelVectorSettings()
    metrics: MetricSettings = MetricSettings()
    limits: LimitSettings = LimitSettings()
    cluster: ClusterSettings = ClusterSettings()
    training: TrainingSettings = TrainingSettings()
    evaluation: tuple[EvaluationSet, ...] = ()
    promotion: PromotionSettings = PromotionSettings()

    @model_validator(mode="before")
    @classmethod
    def _graphs_of_corpora_are_taken(cls, given: Any) -> Any:
        """Take the graphs of corpora that are graphs themselves, unless another backend is asked for."""
        corpora = given.get("corpora") or () if isinstance(given, dict) else ()
        amr = given.get("amr", {}) if isinstance(given, dict) else None
        has_graphs = any(isinstance(corpus, dict) and corpus.get("dataset") == "penman" for corpus in corpora)
        if has_graphs and isinstance(amr, dict) and "backend" not in amr:
            return {**given, "amr": {"backend": "penman", **amr}}
        return given

    @field_validator("store", "runs", mode="before")
    @classmethod
    def _is_a_folder(cls, given: Any) -> Any:
        """Return the folder that a `file://` URL names, before a path is made of its text; refuse other addresses."""
        if not isinstance(given, str) or "://" not in given:
            return given
        if not given.startswith("file:///"):
            raise ValueError(
                "it is no folder; facetflow keeps stores and runs where all workers find them: give a path or a "
                "file:///... URL"
            )
        return unquote(urlsplit(given).path)

    @model_validator(mode="after")
    def _check_facets(self) -> Self:
        # The names of the project's own metrics are known only when their files have been run.
        unknown = self.training.unknown_facets(METRIC_NAMES)
        if unknown and not self.metrics.own:
            raise ValueError(
                f"training.facets names {unknown[0]!r}, which is no metric; choose from {', '.join(METRIC_NAMES)}, or "
                "add one with metrics.own"
            )
        return self

    _base: Path = PrivateAttr(default_factory=Path)

    @property
    def base(self) -> Path:
        """Folder of the project file, which relative paths start from."""
        return self._base

    @property
    def builds(self) -> Path:
        """Folder of the records and logs of builds."""
        return self.runs / "builds"


def load(path: Path) -> Project:
    """Read and check a project file.

    Args:
        path: the file; the paths in it are relative to its folder, those of the result are absolute.

    Raises:
        SettingsError: the file is missing, no TOML, or a key in it is unknown, missing or wrong.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SettingsError(
            f"There is no project file {str(path)!r}: make one with `facetflow new FOLDER`, or name one with --project."
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The project file {str(path)!r} cannot be read: {error}.") from error
    try:
        project = Project.model_validate(content)
    except ValidationError as error:
        raise SettingsError(_sentence(path, error)) from error
    return _with_absolute_paths(project, path.resolve().parent)


def _with_absolute_paths(project: Project, base: Path) -> Project:
    """Return the project with its folders and the parsers' files resolved; corpora get the base with each call."""
    amr = project.amr.model_copy(update={"graphs": tuple(str(base / graphs) for graphs in project.amr.graphs)})
    vectors = project.label_vectors
    if vectors.file is not None:
        vectors = vectors.model_copy(update={"file": base / vectors.file})
    update: dict[str, Any] = {
        "store": base / project.store,
        "runs": base / project.runs,
        "amr": amr,
        "label_vectors": vectors,
        "metrics": project.metrics.model_copy(update={"own": tuple(base / file for file in project.metrics.own)}),
    }
    for section in ("amr", "dependencies", "srl", "embeddings", "label_vectors"):
        settings = update.get(section, getattr(project, section))
        # A model is a known name, a folder or an archive; workers run elsewhere, so a path must be absolute.
        if (base / settings.model).exists():
            update[section] = settings.model_copy(update={"model": str(base / settings.model)})
    resolved = project.model_copy(update=update)
    resolved._base = base
    return resolved


def _sentence(path: Path, error: ValidationError) -> str:
    """Return one sentence on the first thing that is wrong, with the number of the others."""
    problems = error.errors()
    inner = [problem["loc"] for problem in problems]
    # A list that lost its wrong items is reported as too short as well: only the innermost problem is one.
    problems = [p for p in problems if not any(loc != p["loc"] and loc[: len(p["loc"])] == p["loc"] for loc in inner)]
    first = problems[0]
    key = _dotted(first["loc"])
    others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    where = f"In {str(path)!r}"
    match first["type"]:
        case "missing":
            return f"{where} the key `{key}` is missing{others}."
        case "extra_forbidden":
            name = str(first["loc"][-1])
            known = _keys(Project, first["loc"][:-1])
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(f'`{k}`' for k in known)}."
            return f"{where} the key `{key}` is unknown{others}: {hint}"
        case _:
            message = first["msg"].removeprefix("Value error, ").rstrip(".")
            message = f"{message[:1].lower()}{message[1:]}"
            value = "" if isinstance(first["input"], dict | list) else f" = {first['input']!r}"
            return f"{where} `{key or 'the file'}`{value} is wrong{others}: {message}."


def _dotted(location: Iterable[int | str]) -> str:
    """Return a location as a user would write it: `corpora[1].files.train`; list items count from 1."""
    text = ""
    for part in location:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _keys(model: Any, location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the table at a location may have."""
    for part in location:
        if isinstance(part, str):
            model = model.model_fields[part].annotation
        while get_origin(model) is not None:
            model = next((inner for inner in get_args(model) if inner not in (type(None), ...)), None)
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return []
    return list(model.model_fields)
