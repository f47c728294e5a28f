"""When a set of tables may become a release: complete, with one recipe per stage and not too many rejects."""

import importlib.metadata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from features.core.errors import StoreError
from features.core.faults import NotComplete, NothingToPublish, StoreUnreachable, TooManyRejects
from features.core.types import RejectCode
from features.core.wording import counted
from features.schemas import INGEST
from features.stages.registry import KEYS, SOURCES, TABLES
from features.store.damage import refuse_damaged
from features.store.fingerprints import identity_of
from features.store.plan import Plan, plan, summary
from features.store.reader import StoreReader
from features.store.releases import Release
from features.store.runs import now
from features.store.scope import PlannedStage, Wanted


def draft(
    store: StoreReader,
    versions: Mapping[str, int],
    stages: Sequence[PlannedStage],
    *,
    wanted: Iterable[Wanted] | None,
    run_id: str,
    failed_shards: float,
    rejected_rows: float,
) -> Release:
    """Return the release that these versions would make, with number 0; `Store.publish` documents the rules."""
    planned = plan(store, stages, wanted=wanted, versions=versions)
    # A store without labels makes the same releases as before labels existed.
    sources = [name for name in SOURCES if name != "labels" or store.committed(name, versions.get(name))]
    names = (*sources, *planned.stages)
    _check_complete(planned, failed_shards)
    recipes = {name: _recipe(store, name, versions[name]) for name in sources}
    recipes |= {stage.name: stage.recipe.as_dict() for stage in stages}
    rows = {name: sum(file.rows for file in store.committed(name, versions[name]).values()) for name in names}
    if not rows["sentences"]:
        raise NothingToPublish(
            f"The store {store.location!r} holds no sentences, so there is nothing to publish; name corpora that have "
            "rows, and build."
        )
    needed = {name: versions[name] for name in (*names, "rejects")}
    made = {*names, INGEST}
    refuse_damaged(store.location, [damage for damage in store.damaged(needed) if damage.stage in made])
    rejects = _rejects(store, versions, planned)
    for stage in planned.stages:
        total = rows[stage] + rejects.get(stage, 0)
        if total and rejects.get(stage, 0) / total > rejected_rows:
            raise TooManyRejects(
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
            stage: tuple(shards)
            for stage in planned.stages
            if (shards := sorted(shard for name, shard in planned.missing if name == stage))
        },
    )


def obstacles(store: StoreReader, planned: Plan, stages: Sequence[PlannedStage], *, rejected_rows: float) -> list[str]:
    """Return, as sentences, why a build by this plan will publish nothing; nothing is made to find out.

    The store includes the shards about to be ingested; the limit is that of `Store.publish`.
    """
    if not any(file.rows for file in store.committed("sentences").values()):
        return ["There are no sentences, neither in the store nor in the corpora, so nothing will be published."]
    sentences = []
    todo = {(work.stage, work.shard) for work in planned.todo}
    kept: Counter[str] = Counter()
    for (name, shard), rejected in store.rejected().items():
        stays = shard in planned.scope.get(name, ()) and (name, shard) not in todo
        if stays and planned.expected.get((name, shard)) == rejected.fingerprint:
            kept[name] += rejected.rows
    for stage in stages:
        files = store.committed(stage.over)
        rows = sum(file.rows for shard, file in files.items() if shard in planned.scope[stage.name])
        rejects = kept[stage.name]
        if rejects > rejected_rows * rows:
            sentences.append(
                f"Nothing will be published: stage {stage.name!r} has rejected {rejects:,} of {rows:,} rows, more than "
                f"the {rejected_rows:.1%} allowed, and will not make them again; see them with `facetflow rejects "
                f"--stage {stage.name}`, or raise limits.rejected_rows."
            )
    return sentences


def holds(store: StoreReader, old: Release, new: Release) -> bool:
    """Return whether a published release holds everything that the draft `new` would; it may have further tables.

    What counts is content, not versions: a night of malformed rows moves the version of `rejects`, and the next night
    moves it again, back to the same content.
    """
    # Rows are compared too: a log that lost an entry has fewer rows at the same version.
    if (old.missing.keys() - new.missing.keys()) & new.versions.keys() or not all(
        getattr(old, part).get(name) == value
        for part in ("recipes", "missing", "rows", "rejects")
        for name, value in getattr(new, part).items()
        if part != "recipes" or new.rows.get(name)  # by another recipe, nothing would still be nothing
    ):
        return False
    moved = [name for name, version in new.versions.items() if old.versions.get(name) != version]
    try:
        return all(name in old.versions and _same_content(store, name, old, new) for name in moved)
    except StoreError as error:
        if isinstance(error, StoreUnreachable) and isinstance(error.__cause__, OSError):
            raise  # that says nothing about the old release, and the new one may be a copy
        return False  # the old release cannot be read any more, so it holds nothing


def _same_content(store: StoreReader, table: str, old: Release, new: Release) -> bool:
    """Return whether a table has the same rows in both releases; rejects are compared by stage and code."""
    if table == "rejects":
        # As for tables: the old release may count those of stages that the new one lacks.
        codes = [
            {
                (stage, code): rows
                for (stage, code), rows in reject_codes(store, release).items()
                if stage in new.rows or stage not in TABLES
            }
            for release in (old, new)
        ]
        return codes[0] == codes[1]
    # The log is enough: the name of a file is the hash of its content.
    paths = [{file.path for file in store.committed(table, release.versions[table]).values()} for release in (old, new)]
    return paths[0] == paths[1]


def reject_codes(store: StoreReader, release: Release) -> dict[tuple[str, str], int]:
    """Return the rejected rows by stage and code of a release, or of its draft, for its shards as they are in it."""
    version = release.versions["rejects"]
    made = {stage: store.committed(stage, release.versions[stage]) for stage in release.rejects if stage in KEYS}
    counted = [
        (stage, shard)
        for (stage, shard), rejected in store.rejected(version).items()
        if stage in release.rejects
        and (stage not in made or (shard in made[stage] and made[stage][shard].fingerprint == rejected.fingerprint))
    ]
    return store.reject_codes(counted, version)


def _check_complete(planned: Plan, failed_shards: float) -> None:
    for stage in planned.stages:
        work = planned.of(stage)
        stale = any((stage, item.shard) not in planned.missing for item in work)
        if outdated := sum(name == stage for name, _ in planned.outdated):
            why = f"it has {counted(outdated, 'shard')} of {stage!r} made in another way and no longer wanted"
        elif stale or len(work) > failed_shards * planned.shards(stage):
            why = summary(stage, planned.shards(stage), [item.reason for item in work])
        else:
            continue
        raise NotComplete(f"The store is incomplete and cannot be published: {why}; see `facetflow status`, and build.")


def _rejects(store: StoreReader, versions: Mapping[str, int], planned: Plan) -> dict[str, int]:
    """Return rejected rows by stage: those of the shards as published, and of stages without a table (ingest)."""
    rejects: Counter[str] = Counter()
    for (stage, shard), rejected in store.rejected(versions["rejects"]).items():
        expected = planned.expected.get((stage, shard))
        if stage in SOURCES or stage not in TABLES or expected == rejected.fingerprint:
            rejects[stage] += rejected.rows
    return dict(rejects)


def _example(store: StoreReader, stage: str, version: int) -> str:
    """Return the most frequent reason of a stage's rejects, with one of its messages."""
    rows = store.read("rejects", version, columns=["stage", "code", "message"]).filter(pl.col("stage") == stage)
    code, count = rows["code"].value_counts(sort=True).row(0)
    stays = "; sentences stay when their file goes: name it under [amr], graphs = [...]"
    message = rows.filter(pl.col("code") == code)["message"][0] + (stays if code == RejectCode.NO_GRAPH else "")
    return f", {count} of them as {code!r} ({message})"


def _recipe(store: StoreReader, table: str, version: int) -> Mapping[str, object] | None:
    """Return the one recipe of a table that ingest wrote, not what was added to it; None while the table is empty."""
    origins = store.provenance(table).items()
    recipes = {identity_of(fingerprint): made.recipe for (_, fingerprint), made in origins if made.recipe}
    identities = {identity_of(file.fingerprint) for file in store.committed(table, version).values()}
    own = [name for name in identities if name not in recipes or recipes[name].stage == table]
    if len(own) > 1:
        raise NotComplete(f"Table {table!r} was ingested under {len(own)} settings; build a new store.")
    return recipes[own[0]].as_dict() if own and own[0] in recipes else None
