"""What the Delta log records about a committed shard: recipe, inputs, run and versions."""

from collections.abc import Mapping
from dataclasses import dataclass

from features.core.types import Fingerprint, Shard
from features.stages.recipe import Recipe
from features.store.delta import Table
from features.store.fingerprints import identity_of


@dataclass(frozen=True, slots=True)
class Committed:
    """A committed shard.

    Args:
        fingerprint: its recipe and inputs.
        rows: its rows.
        bytes: size of its file.
    """

    fingerprint: Fingerprint
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a committed shard comes from.

    Args:
        version: version of the table in which the shard appeared.
        run_id: the run that committed it.
        code_version: version of this package that ran.
        recipe: how it was made; None if the commit does not record it.
        versions: versions of all tables just before that commit, which determine what the shard was made from.
    """

    version: int
    run_id: str
    code_version: str
    recipe: Recipe | None
    versions: Mapping[str, int]


def trace(table: Table, *, first: bool = False) -> dict[tuple[Shard, Fingerprint], Provenance]:
    """Return where every shard that was ever committed to a table comes from; reads the log.

    Args:
        table: the table.
        first: return the first commit of the shard in its present form, instead of the last.
    """
    found: dict[tuple[Shard, Fingerprint], Provenance] = {}
    history = table.history()
    for record in reversed(history) if first else history:
        said = record.content
        for shard, made in said.get("shards", {}).items():
            recipe = said.get("recipes", {}).get(identity_of(Fingerprint(made)))
            found.setdefault(
                (Shard(shard), Fingerprint(made)),
                Provenance(
                    version=record.version,
                    run_id=said.get("run_id", ""),
                    code_version=said.get("code_version", ""),
                    recipe=Recipe.from_dict(recipe) if recipe else None,
                    versions=said.get("versions", {}),
                ),
            )
    return found
