"""A stage, whole: everything that a build, a worker, a report or a reader asks of one, in one object.

    project file ── settings ──> prepare ──┬──> recipe ──> fingerprint ──> plan
                                           ├──> models, imports, device ──> which workers, and what they need
                                           └──> make(inputs) ──> rows and rejects ──> the table of its name

A stage is one file of this package and one line of the registry; nothing else spells its name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

import polars as pl
from pydantic import BaseModel

from features.core.rows import OnRows
from features.schemas import Columns
from features.stage_output import StageOutput
from features.stages.models import StageModels
from features.stages.recipe import Recipe

Over = Literal["sentences", "pairs"]
SettingsT = TypeVar("SettingsT", bound=BaseModel)


class Inputs(Protocol):
    """What a stage may read for one shard: the upstream shards of the tables that it names, at pinned versions."""

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return the rows of a table, optionally only those that `where` selects."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What the rows of a shard depend on besides recipe and tables: the user's own graphs.

    Args:
        name: what it is, in the explanation of a plan.
        digest: ids of the sentences of a shard → hash that changes with it; empty if nothing.
    """

    name: str
    digest: Callable[[Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Stage(Generic[SettingsT]):
    """A pure function from shards to a shard, and all that the house needs to know of it.

    Args:
        name: name of the stage, of its table, and of its section in the project file.
        about: what its section sets, in a line for people.
        over: whether it has a shard for every sentence shard or for every pair shard.
        reads: tables that it always reads. A stage over sentences reads the same shard of each; a stage over pairs
            reads its own shard of tables over pairs, and of tables over sentences all shards that its pairs come from.
        columns: columns of its table.
        key: columns that identify a row.
        settings: model of its section. `enabled`, if it has that, is its switch: None makes what an encoder reads,
            True everything, False nothing. Without a switch it is off when all stages that read it are.
        recipe: prepared settings → recipe, without loading a model.
        make: inputs, prepared settings, callback → rows and rejects of one shard; loads what it needs once a process.
        prepare: settings as in the project file → settings that travel to workers; reads files, loads nothing.
        reads_also: prepared settings → tables that it reads only with these settings.
        outside: prepared settings → what rows depend on besides recipe and tables; None if nothing.
        models: prepared settings → what it loads.
        imports: settings → modules that a worker imports for it; none if it only looks something up.
        complete: whether every row of `over` must come out, as a row or as a reject.
        extensible: whether a project may add columns of numbers to its table.
    """

    name: str
    about: str
    over: Over
    reads: tuple[str, ...]
    columns: Columns
    key: tuple[str, ...]
    settings: type[SettingsT]
    recipe: Callable[[Any], Recipe]
    make: Callable[[Inputs, Any, OnRows], StageOutput]
    prepare: Callable[[SettingsT], BaseModel] = lambda settings: settings
    reads_also: Callable[[Any], tuple[str, ...]] = lambda _: ()
    outside: Callable[[Any], Outside | None] = lambda _: None
    models: Callable[[Any], StageModels] = lambda _: StageModels()
    imports: Callable[[SettingsT], tuple[str, ...]] = lambda _: ()
    complete: bool = True
    extensible: bool = False

    @property
    def has_switch(self) -> bool:
        """Whether the project file can switch it on and off by itself."""
        return "enabled" in self.settings.model_fields

    def device(self, settings: Any) -> str:
        """Return the device that settings name: `auto`, `cpu`, `cuda`; `cpu` if there is no choice."""
        return str(getattr(settings, "device", "cpu")) if self.imports(settings) else "cpu"
