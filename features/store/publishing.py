"""When a set of tables may become a release: complete, of one recipe a stage, not rejected too much."""

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from features.errors import StoreError
from features.store.fingerprints import identity_of
from features.store.plan import SOURCES, Plan, Stage, plan
from features.store.reasons import summary
from features.store.releases import Release
from features.store.runs import now
from features.store.schemas import TABLES
from features.store.verifying import refuse_damaged

if TYPE_CHECKING:
    from features.store.store import Store


def draft(
    store: "Store",
    versions: Mapping[str, int],
    stages: Sequence[Stage],
    *,
    run_id: str,
    failed_shards: float,
    rejected_rows: float,
) -> Release:
    """Return the release that these versions would make, with number 0; `Store.publish` says what the rules are.

    Raises:
        StoreError: when the versions may not be published.
    """
    planned = plan(store, stages, versions=versions)
    names = (*SOURCES, *planned.stages)
    _check_complete(planned, failed_shards)
    recipes = {name: _recipe(store, name, versions[name]) for name in SOURCES}
    recipes |= {stage.name: stage.recipe.as_dict() for stage in stages}
    rows = {name: sum(known.rows for known in store.committed(name, versions[name]).values()) for name in names}
    if not rows["sentences"]:
        raise StoreError(
            f"The store {str(store.path)!r} holds no sentences, so there is nothing to publish; name corpora that have "
            "rows, and build."
        )
    needed = {name: versions[name] for name in (*names, "rejects")}
    made = {*names, "ingest"}
    refuse_damaged(store, [damage for damage in store.damaged(needed) if damage.stage in made])
    rejects = _rejects(store, versions, planned)
    for stage in planned.stages:
        total = rows[stage] + rejects.get(stage, 0)
        if total and rejects.get(stage, 0) / total > rejected_rows:
            raise StoreError(
                f"Stage {stage!r} rejected {rejects[stage]} of {total} rows, more than the {rejected_rows:.1%} allowed"
                f"{_example(store, stage, versions['rejects'])}; see them with `facetflow rejects --stage {stage}`, "
                "or raise limits.rejected_rows."
            )
    return Release(
        number=0,
        run_id=run_id,
        created=now(),
        code_version=importlib.metadata.version("facetflow"),
        versions=needed,
        recipes={name: recipe for name, recipe in recipes.items() if recipe},
        rows=rows,
        rejects=rejects,
        missing={
            stage: tuple(sorted(shard for name, shard in planned.missing if name == stage))
            for stage in planned.stages
            if any(name == stage for name, _ in planned.missing)
        },
    )


def same_content(old: Release, new: Release) -> bool:
    """Return whether two releases pin the same data."""
    # Rows are compared too: a log that lost an entry has the same version with fewer rows.
    return all(
        getattr(old, part) == getattr(new, part) for part in ("versions", "recipes", "missing", "rows", "rejects")
    )


def _check_complete(planned: Plan, failed_shards: float) -> None:
    for stage in planned.stages:
        work = planned.of(stage)
        stale = [item for item in work if (stage, item.shard) not in planned.missing]
        if stale or len(work) > failed_shards * planned.shards(stage):
            reasons = [item.reason for item in work]
            raise StoreError(
                f"The store is not complete and cannot be published: {summary(stage, planned.shards(stage), reasons)}; "
                "build first."
            )


def _rejects(store: "Store", versions: Mapping[str, int], planned: Plan) -> dict[str, int]:
    """Return rejected rows by stage: those of the shards as published, and of stages without a table (ingest)."""
    found: dict[str, int] = {}
    for (stage, shard), known in store.rejected(versions["rejects"]).items():
        expected = planned.expected.get((stage, shard))
        if stage in SOURCES or stage not in TABLES or expected == known.fingerprint:
            found[stage] = found.get(stage, 0) + known.rows
    return found


def _example(store: "Store", stage: str, version: int) -> str:
    """Return the most frequent reason of a stage's rejects, with one of its messages."""
    rows = store.read("rejects", version, columns=["stage", "code", "message"]).filter(pl.col("stage") == stage)
    codes = rows["code"].value_counts(sort=True)
    if codes.is_empty():
        return ""
    code, count = codes.row(0)
    return f", {count} of them as {code!r} ({rows.filter(pl.col('code') == code)['message'][0]})"


def _recipe(store: "Store", table: str, version: int) -> Mapping[str, object] | None:
    """Return the one recipe of a table that ingest wrote, None while it is empty.

    Raises:
        StoreError: when shards of the table were made in different ways.
    """
    identities = {identity_of(known.fingerprint) for known in store.committed(table, version).values()}
    if len(identities) > 1:
        raise StoreError(f"Table {table!r} was ingested under {len(identities)} settings; build a new store.")
    found = [
        made.recipe
        for (_, mark), made in store.provenance(table).items()
        if made.recipe and {identity_of(mark)} == identities
    ]
    return found[0].as_dict() if found else None
