"""What is wanted of a store, and the stages that follow: no stage makes what nobody reads.

An encoder wants the tables that its training reads, for the corpora that it is trained on. `enabled = true` in the
section of a stage requests its table for all corpora, for other readers of the store; `enabled = false` switches the
stage off.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from features.errors import SettingsError
from features.store.scope import Wanted
from training.kinds import tables_of

if TYPE_CHECKING:
    from flows.project import Project

Over = Literal["sentences", "pairs"]

_STAGES: Mapping[str, tuple[Over, tuple[str, ...]]] = MappingProxyType(
    {
        "amr": ("sentences", ("sentences",)),
        "dependencies": ("sentences", ("sentences",)),
        "srl": ("sentences", ("sentences",)),
        "embeddings": ("sentences", ("sentences",)),
        "label_vectors": ("sentences", ("amr",)),
        "metrics": ("pairs", ("pairs", "amr", "label_vectors")),
    }
)
"""Stage → the table whose shards it follows and the tables it reads, in an order in which they can be made."""


def wanted_of(project: "Project") -> tuple[Wanted, ...]:
    """Return what is read of a project's store: by its encoders, and by others if the project file says so."""
    read = tuple(Wanted(tables_of(encoder), encoder.corpora) for encoder in project.encoders)
    forced = tuple(name for name in _STAGES if _switch(project, name) is True)
    return (*read, *([Wanted(forced)] if forced else []))


def stages_of(
    project: "Project", wanted: Sequence[Wanted], further: tuple[str, ...] = ()
) -> dict[str, tuple[Over, tuple[str, ...]]]:
    """Return the stages of a build, those wanted and not switched off, with the tables that they read.

    Args:
        project: the project file, which may switch stages off.
        wanted: what is read.
        further: tables other than `amr` that the project's own metrics read.

    Returns:
        Stage → the table whose shards it follows and the tables it reads, in an order in which they can be made.

    Raises:
        SettingsError: a stage needs one that is switched off.
    """
    off = {name for name in _STAGES if _switch(project, name) is False}
    if "metrics" in off:
        off.add("label_vectors")
    found: dict[str, tuple[Over, tuple[str, ...]]] = {}
    needed = {table for one in wanted for table in one.tables} - off
    for name, (over, needs) in reversed([*_STAGES.items()]):
        if name in needed:
            reads = (*needs, *further) if name == "metrics" else needs
            if lacking := [need for need in reads if need in off]:
                raise SettingsError(
                    f"[{name}] reads {lacking[0]!r}, which the project file switches off: remove `enabled = false` "
                    f"from [{lacking[0]}], or set it in [{name}] too."
                )
            needed |= set(reads)
            found[name] = (over, reads)
    return dict(reversed([*found.items()]))


def _switch(project: "Project", stage: str) -> bool | None:
    """Return a stage's switch in the project file: True forces it on, False off, None leaves it to the encoders."""
    return getattr(getattr(project, stage), "enabled", None)
