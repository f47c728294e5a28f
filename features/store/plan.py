"""The plan: which shards have to be made, why, and what each waits for.

    expected fingerprint  = recipe of the stage + expected fingerprints of the upstream shards
    to do                 = shards whose committed fingerprint is not the expected one, or whose file is damaged

A first build, a rerun of failed shards, a data refresh, a change of settings and a repair are this one subtraction.
Fingerprints follow from recipes, so the whole chain is planned before anything has been run.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from features.errors import SettingsError, StoreError
from features.schemas import TABLES
from features.store.damage import Damage
from features.store.fingerprints import Recipe, fingerprint
from features.store.provenance import Committed
from features.store.reader import StoreReader
from features.store.reading import clear_errors
from features.store.reasons import Reason, ReasonFinder, summary
from features.store.runs import FailedShard
from features.types import Fingerprint, Shard

SOURCES = ("sentences", "pairs")
"""The tables that ingest writes; their shards are what there is to do."""

ShardKey = tuple[str, Shard]
"""Stage and shard."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the chain: a pure function from shards to a shard.

    Args:
        name: the stage, and its table.
        over: whether it has a shard for every sentence shard or for every pair shard.
        needs: the tables that it reads. A stage over sentences reads the same shard of each; a stage over pairs reads
            its own shard of tables over pairs, and of tables over sentences all shards that its pairs come from.
        recipe: how it makes rows.
        extra: digest of what a shard reads besides tables (its graphs in a bank), by shard.
        extra_name: what that is, for the explanation.
    """

    name: str
    over: Literal["sentences", "pairs"]
    needs: tuple[str, ...]
    recipe: Recipe
    extra: Mapping[Shard, str] = field(default_factory=dict)
    extra_name: str = "files"


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard to be made.

    Args:
        stage: the stage.
        shard: the shard.
        fingerprint: what the shard is to be committed under.
        upstream: all shards that it reads.
        waits_for: those of them that have to be made first.
        reason: why it has to be made.
    """

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    upstream: tuple[ShardKey, ...]
    waits_for: tuple[ShardKey, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be made.

    Args:
        stages: names, in an order in which they can be made.
        expected: fingerprint of every shard of every stage once all is made.
        todo: work, in an order in which it can be made one by one.
        missing: the part of `expected` that has never been committed.
    """

    stages: tuple[str, ...]
    expected: Mapping[ShardKey, Fingerprint]
    todo: tuple[ShardWork, ...]
    missing: frozenset[ShardKey]

    def shards(self, stage: str) -> int:
        """Return how many shards the stage has, made or not."""
        return sum(name == stage for name, _ in self.expected)

    def of(self, stage: str) -> list[ShardWork]:
        """Return the work of one stage."""
        return [work for work in self.todo if work.stage == stage]

    def explain(self) -> list[str]:
        """Return one line a stage: how many shards it has, how many are to do, and why."""
        return [summary(stage, self.shards(stage), [work.reason for work in self.of(stage)]) for stage in self.stages]


def plan(
    store: StoreReader,
    stages: Sequence[Stage],
    *,
    failed: Iterable[FailedShard] = (),
    damaged: Iterable[Damage] = (),
    versions: Mapping[str, int] | None = None,
) -> Plan:
    """Compare what is committed with what the stages would make now.

    Args:
        store: the store.
        stages: the chain, every stage after those that it needs.
        failed: shards that failed in earlier runs; one counts while its fingerprint is still the expected one.
        damaged: files that are not what was written; their shards are made again. Those of ingest are not: no stage
            makes them.
        versions: versions of tables to look at; the newest by default.

    Raises:
        SettingsError: when a stage is unknown, there twice, or needs what does not come before it.
        StoreError: when the store cannot be read, or a pair needs a sentence shard that it does not have.
    """
    _check(stages)
    at = versions or {}
    committed = {name: store.committed(name, at.get(name)) for name in (*SOURCES, *(stage.name for stage in stages))}
    over: dict[str, str] = {"sentences": "sentences", "pairs": "pairs"} | {stage.name: stage.over for stage in stages}
    sources: dict[Shard, list[Shard]] = {}
    if any(stage.over == "pairs" and any(over[need] == "sentences" for need in stage.needs) for stage in stages):
        sources = sentence_shards(store, at.get("pairs"))
        _check_sources(sources, committed["sentences"])

    expected: dict[ShardKey, Fingerprint] = {
        (name, shard): known.fingerprint for name in SOURCES for shard, known in committed[name].items()
    }
    upstream: dict[ShardKey, tuple[ShardKey, ...]] = {}
    for stage in stages:
        for shard in sorted(committed[stage.over]):
            reads = tuple(
                (need, source)
                for need in stage.needs
                for source in ([shard] if over[need] == stage.over else sources.get(shard, []))
            )
            inputs = [":".join((need, source, expected[need, source])) for need, source in reads]
            if shard in stage.extra:
                inputs.append(f"extra:{stage.extra[shard]}")
            upstream[stage.name, shard] = reads
            expected[stage.name, shard] = fingerprint(stage.recipe, inputs)
    return _compare(store, stages, committed, expected, upstream, failed, damaged)


def sentence_shards(store: StoreReader, version: int | None = None) -> dict[Shard, list[Shard]]:
    """Return, for every shard of pairs, the shards that its sentences are in."""
    pairs = store.scan("pairs", version, columns=("shard_a", "shard_b"), with_shard=True)
    sides = [pairs.select("shard", pl.col(side).alias("source")).unique() for side in ("shard_a", "shard_b")]
    with clear_errors("pairs", store.path):
        rows = pl.concat(sides).unique().sort("shard", "source").collect()
    found: dict[Shard, list[Shard]] = {}
    for shard, source in rows.iter_rows():
        found.setdefault(Shard(shard), []).append(Shard(source))
    return found


def _compare(
    store: StoreReader,
    stages: Sequence[Stage],
    committed: Mapping[str, Mapping[Shard, "Committed"]],
    expected: Mapping[ShardKey, Fingerprint],
    upstream: Mapping[ShardKey, tuple[ShardKey, ...]],
    failed: Iterable[FailedShard],
    damaged: Iterable[Damage],
) -> Plan:
    errors = {(shard.stage, shard.shard): shard for shard in failed}
    damage = {damage.key: damage for damage in damaged}
    finder = ReasonFinder(store, {stage.name: stage.recipe for stage in stages}, expected)
    todo: list[ShardWork] = []
    waiting: set[ShardKey] = set()
    for stage in stages:
        for shard in sorted(committed[stage.over]):
            key = (stage.name, shard)
            known = committed[stage.name].get(shard)
            error = errors.get(key)
            if known and known.fingerprint == expected[key]:
                if key not in damage:
                    continue
                reason = Reason("damaged", error=f"{damage[key].file!r} {damage[key].detail}")
            elif error and error.fingerprint == expected[key]:
                reason = Reason("failed", error=error.error)
            elif known is None:
                reason = Reason("new")
            else:
                reason = finder.find(key, known.fingerprint, upstream[key], stage.extra_name)
            waits_for = tuple(other for other in upstream[key] if other in waiting)
            todo.append(ShardWork(stage.name, shard, expected[key], upstream[key], waits_for, reason))
            waiting.add(key)
    return Plan(
        stages=tuple(stage.name for stage in stages),
        expected={key: value for key, value in expected.items() if key[0] not in SOURCES},
        todo=tuple(todo),
        missing=frozenset((work.stage, work.shard) for work in todo if work.shard not in committed[work.stage]),
    )


def _check(stages: Sequence[Stage]) -> None:
    over: dict[str, str] = {"sentences": "sentences", "pairs": "pairs"}
    for stage in stages:
        if stage.name not in TABLES or stage.name in over or stage.name == "rejects":
            raise SettingsError(f"Stage {stage.name!r} has no table of its own or is given twice; give it once.")
        if stage.recipe.stage != stage.name:
            raise SettingsError(f"Stage {stage.name!r} has the recipe of {stage.recipe.stage!r}; give its own.")
        for need in stage.needs:
            if need not in over:
                raise SettingsError(f"Stage {stage.name!r} needs {need!r}, which is not before it; put it before.")
            if stage.over == "sentences" and over[need] == "pairs":
                raise SettingsError(f"Stage {stage.name!r} is over sentences and cannot need {need!r}, over pairs.")
        over[stage.name] = stage.over


def _check_sources(sources: Mapping[Shard, Sequence[Shard]], sentences: Collection[Shard]) -> None:
    for shard, needed in sources.items():
        if missing := [source for source in needed if source not in sentences]:
            raise StoreError(f"Shard {shard!r} has pairs of {missing[0]!r}, which is not committed; run ingest again.")
