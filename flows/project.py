"""The project file, facetflow.toml: every user setting, checked before anything runs.

Each section and its model belong to the stage that it configures; they are only put together here.
"""

import functools
import operator
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self
from urllib.parse import unquote, urlsplit

from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)

from features.core.closed import Closed
from features.core.faults import (
    MissingKey,
    NameTaken,
    NoProjectFile,
    NotToml,
    UnknownName,
    WrongValue,
)
from features.core.types import SPLITS
from features.core.wording import did_you_mean
from features.corpora.settings import CorpusSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.metrics.registry import METRIC_NAMES
from features.models import MODELS
from features.stages.amr import AMR_STAGE
from features.stages.metrics import METRIC_STAGE
from features.stages.registry import STAGES
from features.stages.stage import SettingsT, Stage
from features.store.locations import storage_at
from features.store.scope import Wanted
from features.store.storage import FolderStorage
from flows.project_errors import not_found, not_text, not_toml, wrong_settings
from flows.wanted import Switches, read_by, stages_of
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.settings import EncoderSettings
from training.evaluation.settings import PromotionSettings, TransferSettings
from training.kinds import KINDS
from training.runs import BUILDS, check_encoder_name

if TYPE_CHECKING:
    AnyEncoder = EncoderSettings
else:
    _Union = functools.reduce(operator.or_, (kind.settings for kind in KINDS.values()))
    AnyEncoder = Annotated[_Union, Field(discriminator="kind")]


class LimitSettings(Closed):
    """Shares above which a build publishes nothing.

    Args:
        rejected_rows: rows of a table that could not be processed.
        failed_shards: shards that failed; of embeddings none may where `neighbours` are drawn.
    """

    rejected_rows: float = Field(default=0.05, ge=0, le=1)
    failed_shards: float = Field(default=0.0, ge=0, le=1)


class RetentionSettings(Closed):
    """What each build deletes at its end, as `facetflow gc` does; nothing without `days`.

    Args:
        days: minimum age of what is deleted: files that no release needs, pages, logs and records of old builds.
        trainings: also delete trainings that newer ones have replaced.
        releases: also delete releases replaced so long ago that no training in `runs` reads; not for a store that other
            projects train on.
    """

    days: float | None = Field(default=None, ge=1, le=36500)
    trainings: bool = False
    releases: bool = False

    @model_validator(mode="after")
    def _has_an_age(self) -> Self:
        if self.days is None and (self.trainings or self.releases):
            raise MissingKey("`days` is missing; without it nothing is deleted, so give one, such as 30")
        return self


class ClusterSettings(Closed):
    """Where shards are made.

    Args:
        address: scheduler of an existing Dask cluster; by default a local cluster.
        workers: worker processes without a GPU; by default one per core, never more than shards to make.
        gpu_workers: worker processes with one GPU each.
        threads_per_worker: threads of the numeric libraries in a worker.
        memory_limit: memory of a worker, such as "4GiB"; by default an equal share of the machine's.
        tls_ca: certificate of the cluster's authority, in PEM format.
        tls_cert: certificate that admits this build.
        tls_key: key of the certificate, if not in the same file.
        unencrypted: use a cluster on another machine without `tls://`.
    """

    address: str | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    unencrypted: bool = False
    workers: int | None = Field(default=None, ge=1)
    gpu_workers: int = Field(default=0, ge=0)
    threads_per_worker: int = Field(default=1, ge=1)
    memory_limit: str | None = Field(default=None, pattern=r"(?i)^\d+(\.\d+)?\s*[kmgt]?i?b$")


class _Head(Closed):
    """The top of a project file.

    Args:
        name: name of the project.
        store: folder of the feature store, or its address, such as
            `s3://bucket/prefix?region=...&endpoint=https://...`.
        runs: folder of encoders, scores, reports and records of builds.
        corpora: where pairs of sentences come from; if missing, encoders are trained on the `store` of another project.
        leakage: what to do with training pairs that have a sentence of an evaluation set.
        ingest: size of shards.
    """

    name: str = Field(pattern=r"^[\w.-]+$")
    store: str | Path = Path("store")
    runs: Path = Path("runs")
    corpora: tuple[CorpusSettings, ...] = ()
    leakage: LeakageSettings = LeakageSettings()
    ingest: IngestSettings = IngestSettings()


if TYPE_CHECKING:
    _Sections = _Head
else:
    _Sections = create_model(
        "_Sections",
        __base__=_Head,
        __doc__="The sections of the stages.\n\nArgs:\n"
        + "\n".join(f"    {name}: {stage.about}" for name, stage in STAGES.items()),
        **{name: (stage.settings, stage.settings()) for name, stage in STAGES.items()},
    )


class Project(_Sections):
    """A whole project file.

    Args:
        limits: when nothing is published.
        retention: what builds delete at their end.
        cluster: where shards are made.
        encoders: what is trained; the kind of each determines its other keys. If missing, one S3BERT; none with
            `encoders = []` at the top of the file, for a store that others read.
        evaluation: human ratings to compare with, and classification tasks; their sentences are kept out of training
            (`leakage`).
        transfer: how classifiers are trained on embeddings.
        promotion: when a new encoder replaces the current one.
    """

    limits: LimitSettings = LimitSettings()
    retention: RetentionSettings = RetentionSettings()
    cluster: ClusterSettings = ClusterSettings()
    encoders: tuple[AnyEncoder, ...] = (S3bertSettings(),)
    evaluation: tuple[EvaluationSet, ...] = ()
    transfer: TransferSettings = TransferSettings()
    promotion: PromotionSettings = PromotionSettings()

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: Any) -> Any:
        """Use the graphs of corpora that are graphs by default."""
        if not isinstance(given, dict):
            return given
        corpora, amr = given.get("corpora"), given.get(AMR_STAGE.name, {})
        has_graphs = isinstance(corpora, Sequence) and any(
            isinstance(corpus, dict) and corpus.get("dataset") == "penman" for corpus in corpora
        )
        if has_graphs and isinstance(amr, dict) and "backend" not in amr:
            return {**given, AMR_STAGE.name: {"backend": "penman", **amr}}
        return given

    @field_validator("store", "runs", mode="before")
    @classmethod
    def _is_reached(cls, given: Any, info: ValidationInfo) -> Any:
        """Return the folder that a text or a `file://` URL names, or the address of a store; refuse other addresses."""
        if not isinstance(given, str):
            return given
        if "://" not in given and "\0" not in given:
            return Path(given)
        if given.startswith("file:///"):
            return Path(unquote(urlsplit(given).path))
        if info.field_name == "store" and not isinstance(storage_at(given), FolderStorage):
            return given
        raise WrongValue(f"{given!r} is not a folder; give a path or a file:///... URL")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for number, encoder in enumerate(self.encoders, start=1):
            self._check_encoder(f"encoders[{number}]", encoder)
        stages_of(self.wanted, self.switches)
        for section in ("corpora", "encoders", "evaluation"):
            first: dict[str, int] = {}
            for number, named in enumerate(getattr(self, section), start=1):
                before = first.setdefault(named.name, number)
                if before != number:
                    raise NameTaken(
                        f"`{section}[{number}].name` is {named.name!r}, as `{section}[{before}].name` is: give each "
                        "its own `name`"
                    )
        return self

    def _check_encoder(self, key: str, encoder: EncoderSettings) -> None:
        # The names of the project's own metrics are only known once their files have been run.
        unknown = encoder.unknown_facets(METRIC_NAMES) if isinstance(encoder, S3bertSettings) else []
        if unknown and not self.section(METRIC_STAGE).own:
            choose = f"choose from {', '.join(METRIC_NAMES)}, or add one with `metrics.own`"
            raise UnknownName(
                f"`{key}` has a facet {unknown[0]!r}, which is not a metric; "
                f"{did_you_mean(unknown[0], METRIC_NAMES, choose)}"
            )
        if encoder.by_ratings:
            name, sets = encoder.choose_by, {each.name: each.split for each in self.evaluation if not each.has_classes}
            choices = [*encoder.OWN_CHOICES, *(each for each, split in sets.items() if split == "dev")]
            instead = f"choose from {', '.join(map(repr, choices))}, or name a set of split dev there"
            if name not in sets:
                raise UnknownName(
                    f"`{key}.choose_by` is {name!r}, which names no set of ratings under [[evaluation]]; "
                    f"{did_you_mean(name, choices, instead)}"
                )
            if sets[name] != "dev":
                raise WrongValue(
                    f"`{key}.choose_by` is {name!r}, a set of split {sets[name]}: a model that is chosen by the pairs "
                    f"that it is scored on looks better than it is; {instead}"
                )
        if wrong := [split for split in encoder.splits if split not in SPLITS]:
            use = did_you_mean(wrong[0], SPLITS, f"use two of {', '.join(SPLITS)}")
            raise UnknownName(f"`{key}.splits` names {wrong[0]!r}, which is not a split of a store; {use}")
        check_encoder_name(encoder.name, f"{key}.name")

    _base: Path = PrivateAttr(default_factory=Path)

    def section(self, stage: Stage[SettingsT]) -> SettingsT:
        """Return the settings of a stage."""
        settings: SettingsT = getattr(self, stage.name)
        return settings

    @property
    def switches(self) -> Switches:
        """The switch of each stage."""
        return {name: getattr(self.section(stage), "enabled", None) for name, stage in STAGES.items()}

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What is read of the store: by the encoders, and by others where a switch is on."""
        read = [read_by(encoder, self.corpora) for encoder in self.encoders]
        forced = tuple(name for name, switch in self.switches.items() if switch is True)
        return (*read, *([Wanted(forced)] if forced else []))

    @property
    def base(self) -> Path:
        """Folder of the project file, to which relative paths refer."""
        return self._base

    @property
    def guard(self) -> LeakageSettings:
        """The guard of evaluation sentences, including the sets under `[[evaluation]]`."""
        if self.leakage.mode == "off":
            return self.leakage.model_copy(update={"evaluation": ()})
        named = self.leakage.evaluation
        more = tuple(evaluation for evaluation in self.evaluation if evaluation not in named)
        return self.leakage.model_copy(update={"evaluation": (*named, *more)})

    @property
    def neighbours(self) -> dict[str, int]:
        """Corpus → neighbours of a sentence, of the corpora that ask for any."""
        return {corpus.name: corpus.neighbours for corpus in self.corpora if corpus.neighbours}

    def ratings_for(self, encoder: EncoderSettings) -> tuple[EvaluationSet, ...]:
        """Return the set of ratings that chooses the model of an encoder; empty if none does."""
        return tuple(each for each in self.evaluation if encoder.by_ratings and each.name == encoder.choose_by)

    def encoder(self, name: str) -> EncoderSettings:
        """Return the encoder with a name; a SettingsError names those that there are."""
        encoders = {encoder.name: encoder for encoder in self.encoders}
        if name in encoders:
            return encoders[name]
        if not encoders:
            raise UnknownName(
                f"The project {self.name!r} has no encoder {name!r}: replace `encoders = []` by a section [[encoders]]."
            )
        instead = did_you_mean(name, encoders, f"there are: {', '.join(encoders)}")
        raise UnknownName(f"The project {self.name!r} has no encoder {name!r}; {instead}.")

    @property
    def builds(self) -> Path:
        """Folder of the records and logs of builds."""
        return self.runs / BUILDS


def load(path: Path) -> Project:
    """Read and check a project file; the paths in it are relative to its folder, those of the result are absolute.

    Raises:
        SettingsError: the file is missing, is not TOML, or keys in it are unknown, missing or wrong; all are named.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 (a method raises for a closed folder)
        raise NoProjectFile(f"The project file {str(path)!r} is a folder, a pipe or a device: name a file.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise not_found(path) from error
    except UnicodeDecodeError as error:
        raise not_text(path, error) from error
    except OSError as error:
        raise NoProjectFile(
            f"The project file {str(path)!r} cannot be read ({error.strerror}): name another with --project."
        ) from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise not_toml(path, text, error) from error
    except (ValueError, RecursionError) as error:
        what = "brackets are nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        raise NotToml(f"The project file {str(path)!r} cannot be read: {what}; write fewer.") from error
    try:
        project = Project.model_validate(content)
    except ValidationError as error:
        raise wrong_settings(path, Project, error) from error
    return _with_absolute_paths(project, path.resolve().parent)


def _with_absolute_paths(project: Project, base: Path) -> Project:
    """Return the project with its folders and the files of its sections resolved; corpora get the base themselves."""
    sections = {name: _with_files(getattr(project, name), base) for name in ("cluster", *STAGES)}
    resolved = _with_files(project, base).model_copy(update=sections)
    resolved._base = base
    return resolved


def _with_files(section: SettingsT, base: Path) -> SettingsT:
    """Return a section with its paths resolved, and its models if these are paths: workers run elsewhere."""
    update: dict[str, Any] = {}
    names = {*MODELS, "embedded"}  # which mean no folder
    for name, value in section:
        if isinstance(value, Path):
            update[name] = _resolve(base, value)
        elif isinstance(value, tuple):
            update[name] = tuple(_resolve(base, each) if isinstance(each, Path) else each for each in value)
        elif name in {"model", "tags", "tokenizer"} and value and value not in names and _resolve(base, value).exists():
            update[name] = str(_resolve(base, value))
    return section.model_copy(update=update)


def _resolve(base: Path, path: Path | str) -> Path:
    """Return a path of the file: relative to its folder, `~` for the user's home."""
    return base / os.path.expanduser(path)  # noqa: PTH111 - the method raises for a user who does not exist
