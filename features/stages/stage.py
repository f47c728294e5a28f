"""A stage, whole: everything that a build, a worker, a report or a reader asks of one, in one object.

    project file ── settings ──> prepare ──┬──> recipe ──> fingerprint ──> plan
                                           ├──> models, imports, device ──> which workers, and what they need
                                           └──> make(inputs) ──> rows and rejects ──> the table of its name

A stage is one file of this package and one line of the registry; nothing else spells its name.

What a process needs for the models of a stage is a lower bound, not the peak: the sizes of files are taken from disk;
the other figures are the resident memory of a worker on Linux, measured with the default models, 256 sentences and one
thread, rounded down (`python benchmarks/model_memory.py` repeats them).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel

from features.core.faults import StoreDamaged, WrongValue
from features.core.types import OnRows, RejectCode
from features.models import locate, stamp
from features.schemas import Columns, Reject, StageOutput

MOST_CHARACTERS = 1_000_000  # of which spaCy refuses more, and with them all other sentences of the shard

MIB = 1 << 20
PROCESS = 230 * MIB
"""An idle worker that has imported Dask, Prefect and the tasks."""
LIBRARIES = {"torch": 180 * MIB, "sentence_transformers": 180 * MIB, "spacy": 30 * MIB, "amrlib": 0}
"""Libraries that stages load models with; amrlib adds nothing to torch that was worth measuring."""


@dataclass(frozen=True, slots=True)
class StageModels:
    """What a stage loads with its settings: libraries (keys of `LIBRARIES`), models, and other files that it reads.

    `names` are the models that a worker has to find, none of those in the package; `bytes` what each takes in memory,
    and `beside` what the stage keeps in addition: vocabularies, tensors, buffers.
    """

    libraries: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    bytes: tuple[tuple[Path, int], ...] = ()
    beside: int = 0

    @classmethod
    def loaded(cls, *models: str | Path, libraries: tuple[str, ...], beside: int, names: tuple[str, ...] = ()) -> Self:
        """Return what a stage loads that reads these models whole, by their names, or folders and files."""
        paths = [locate(model) if isinstance(model, str) else model for model in models]
        sizes = [sum(size for _, size, *_ in stamp(path)) for path in paths]
        names = (*names, *(model for model in models if isinstance(model, str)))
        return cls(frozenset(libraries), names, bytes=tuple(zip(paths, sizes, strict=True)), beside=beside)

    @property
    def own(self) -> int:
        """Bytes of the models and of what is kept in addition."""
        return sum(size for _, size in self.bytes) + self.beside


def total(models: Mapping[str, StageModels]) -> int:
    """Return the bytes needed by a process that runs all of these stages; a model that two stages share counts once."""
    libraries = frozenset[str]().union(*(each.libraries for each in models.values()))
    files = {path: size for each in models.values() for path, size in each.bytes}
    beside = sum(each.beside for each in models.values())
    return PROCESS + sum(LIBRARIES[name] for name in libraries) + sum(files.values()) + beside


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a stage makes its rows; equal recipes make equal rows from equal input."""

    stage: str  # its name, which is also the name of its table
    # everything the user can set that changes rows; JSON values only
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "1"  # version of the code that makes the rows; raised by hand when its output changes
    weights: str | None = None  # digest of the model weights; None for a stage without a model

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as it is stored: plain JSON values."""
        return dict(json.loads(canonical(asdict(self))))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recipe":
        """Return the recipe that `as_dict` stored."""
        try:
            return cls(values["stage"], dict(values["parameters"]), values["algorithm"], values["weights"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreDamaged(f"A recipe of the store is damaged: {values!r}; build the store again.") from error


def canonical(value: Any) -> str:
    """Return a JSON value as text, equal for equal values; raise a SettingsError for anything else."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise WrongValue(
            f"A recipe holds JSON values only, not {value!r}: give texts, numbers, lists or tables."
        ) from error


Over = Literal["sentences", "pairs"]
SettingsT = TypeVar("SettingsT", bound=BaseModel)


class Inputs(Protocol):
    """What a stage may read for one shard: the upstream shards of the tables that it names, at pinned versions."""

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return the rows of a table, optionally only those that `where` selects."""

    def local(self, file: Path) -> Path:
        """Return a file that settings name, on this machine: the index of the user's graphs."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What the rows of a shard depend on besides recipe and tables: the user's own graphs."""

    name: str  # what it is, in the explanation of a plan
    # ids of the sentences of a shard → hash that changes with it; empty if nothing
    digest: Callable[[Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Stage(Generic[SettingsT]):
    """A pure function from shards to a shard, and what plans, workers and readers need to know about it."""

    name: str  # name of the stage, of its table, and of its section in the project file
    about: str  # what its section sets, in a line for people
    columns: Columns  # columns of its table
    # model of its section. `enabled`, if it has that, is its switch: None makes what an encoder reads, True everything,
    # False nothing. Without a switch it is off when all stages that read it are
    settings: type[SettingsT]
    recipe: Callable[[Any], Recipe]  # prepared settings → recipe, without loading a model
    # inputs, prepared settings, callback → rows and rejects of one shard; loads what it needs once a process
    make: Callable[[Inputs, Any, OnRows], StageOutput]
    over: Over = "sentences"  # whether it has a shard for every sentence shard or for every pair shard
    # tables that it always reads. A stage over sentences reads the same shard of each; a stage over pairs reads its own
    # shard of tables over pairs, and of tables over sentences all shards that its pairs come from
    reads: tuple[str, ...] = ("sentences",)
    key: tuple[str, ...] = ("sentence_id",)  # columns that identify a row
    # settings as in the project file → settings that travel to workers; reads files, loads nothing
    prepare: Callable[[SettingsT], BaseModel] = lambda settings: settings
    # prepared settings → tables that it reads only with these settings
    reads_also: Callable[[Any], tuple[str, ...]] = lambda _: ()
    # prepared settings → what rows depend on besides recipe and tables; None if nothing
    outside: Callable[[Any], Outside | None] = lambda _: None
    models: Callable[[Any], StageModels] = lambda _: StageModels()  # prepared settings → what it loads
    # settings → modules that a worker imports for it; none if it only looks something up
    imports: Callable[[SettingsT], tuple[str, ...]] = lambda _: ()
    complete: bool = True  # whether every row of `over` must come out, as a row or as a reject
    extensible: bool = False  # whether a project may add columns of numbers to its table

    def device(self, settings: Any) -> str:
        """Return the device that settings name: `auto`, `cpu`, `cuda`; `cpu` if there is no choice."""
        return str(getattr(settings, "device", "cpu")) if self.imports(settings) else "cpu"


def with_model(
    module: str, run: Callable[[pl.DataFrame, Any, OnRows], StageOutput], table: str = "sentences"
) -> Callable[[Inputs, Any, OnRows], StageOutput]:
    """Return how a stage is made that runs a model over the rows of a table.

    The model is what the function `load` of a module, which is slow to import, returns for the prepared settings.
    """
    return lambda inputs, settings, on_rows: run(inputs.read(table), import_module(module).load(settings), on_rows)


def admit(sentences: pl.DataFrame, max_words: int) -> tuple[list[str], list[str], list[Reject]]:
    """Return ids and texts of the sentences to parse, and a reject for each that is too long."""
    count, length = pl.col("text").str.split(" ").list.len(), pl.col("text").str.len_chars()
    is_short = (count <= max_words) & (length <= MOST_CHARACTERS)
    fits = sentences.filter(is_short)
    long = sentences.filter(~is_short).select("sentence_id", count.alias("words"), length.alias("characters"))
    rejects = []
    for identity, words, characters in long.iter_rows():
        message = f"the sentence has {words} words, more than max_words = {max_words}"
        if words <= max_words:
            message = f"the sentence has {characters:,} characters, more than parsers read"
        rejects.append(Reject(identity, RejectCode.SENTENCE_TOO_LONG, message))
    return fits["sentence_id"].to_list(), fits["text"].to_list(), rejects


def vector_column(matrix: NDArray[np.float32]) -> pl.Series:
    """Return a matrix, (n, d), as a column of lists without creating a Python object for each number."""
    return pl.Series(matrix, dtype=pl.Array(pl.Float32, matrix.shape[1])).cast(pl.List(pl.Float32))
