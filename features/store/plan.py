"""The plan: which shards have to be made, why, and which others each one waits for.

    expected fingerprint  = recipe of the stage + expected fingerprints of the upstream shards
    to do                 = wanted shards whose committed fingerprint is not the expected one, or whose file is damaged
    outdated              = unwanted shards in the same state: they are not made again, but removed from the table

A first build, a rerun of failed shards, a data refresh, a change of settings and a repair are all this one subtraction.
Fingerprints follow from recipes, so the whole chain is planned before anything is run.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from features.core.faults import UnknownShard
from features.core.types import Fingerprint, Shard
from features.store.damage import Damage
from features.store.fingerprints import fingerprint
from features.store.reader import StoreReader
from features.store.reasons import Reason, ReasonFinder, summary
from features.store.receipts import DataFile
from features.store.runs import FailedShard
from features.store.scope import PlannedStage, ShardKey, Uses, Wanted, scope
from features.store.tables import SOURCES


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard to be made, the fingerprint to commit it under, what it reads, and which of that comes first."""

    stage: str
    shard: Shard
    fingerprint: Fingerprint
    upstream: tuple[ShardKey, ...]
    waits_for: tuple[ShardKey, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be made: stages and shards in an order in which they can be made, and what is expected then."""

    stages: tuple[str, ...]
    expected: Mapping[ShardKey, Fingerprint]  # fingerprint of every shard of every stage once everything is made
    todo: tuple[ShardWork, ...]
    missing: frozenset[ShardKey]  # those of them that have never been committed
    scope: Mapping[str, frozenset[Shard]]  # stage → its wanted shards; the others are not made
    uses: Uses  # which corpora use which shard
    outdated: tuple[ShardKey, ...] = ()  # committed shards that are not wanted and not what would be made now

    def shards(self, stage: str) -> int:
        """Return how many shards of the stage are wanted, made or not."""
        return len(self.scope[stage])

    def unwanted(self, stage: str) -> int:
        """Return how many shards the stage could make that are not wanted."""
        return sum(name == stage for name, _ in self.expected) - self.shards(stage)

    def of(self, stage: str) -> list[ShardWork]:
        """Return the work of one stage."""
        return [work for work in self.todo if work.stage == stage]

    def explain(self) -> list[str]:
        """Return one line per stage: how many shards it has, how many are to do, and why."""
        return [
            summary(stage, self.shards(stage), [work.reason for work in self.of(stage)], unwanted=self.unwanted(stage))
            for stage in self.stages
        ]


def plan(
    store: StoreReader,
    stages: Sequence[PlannedStage],
    *,
    wanted: Iterable[Wanted] | None = None,
    failed: Iterable[FailedShard] = (),
    damaged: Iterable[Damage] = (),
    versions: Mapping[str, int] | None = None,
) -> Plan:
    """Compare what is committed, at these versions or the newest, with what the stages would make now.

    Every stage comes after those that it needs. All its shards are wanted unless `wanted` says what will be read. A
    shard that `failed` in an earlier run counts while its fingerprint is still the expected one; `damaged` ones are
    made again, except those of ingest, which no stage makes.
    """
    over = {"sentences": "sentences", "pairs": "pairs"} | {stage.name: stage.over for stage in stages}
    at = versions or {}
    committed = {name: store.committed(name, at.get(name)) for name in (*SOURCES, *(stage.name for stage in stages))}
    uses = store.uses(at)
    if any(stage.over == "pairs" and any(over[need] == "sentences" for need in stage.needs) for stage in stages):
        _check_sources(uses, committed["sentences"])
    in_scope = scope(stages, wanted, uses)
    expected, upstream = _expected(stages, committed, over, uses)
    errors = {(shard.stage, shard.shard): shard for shard in failed}
    damage = {damage.key: damage for damage in damaged}
    finder = ReasonFinder(store, {stage.name: stage.recipe for stage in stages}, expected)
    todo: list[ShardWork] = []
    waiting: set[ShardKey] = set()
    outdated: list[ShardKey] = []
    for stage in stages:
        for shard in sorted(committed[stage.over]):
            key = (stage.name, shard)
            file = committed[stage.name].get(shard)
            if shard not in in_scope[stage.name]:
                if file and (file.fingerprint != expected[key] or key in damage):
                    outdated.append(key)
                continue
            error = errors.get(key)
            if file and file.fingerprint == expected[key]:
                if key not in damage:
                    continue
                reason = Reason("damaged", error=f"{damage[key].file!r} {damage[key].detail}")
            elif error and error.fingerprint == expected[key]:
                reason = Reason("failed", error=error.error)
            elif file is None:
                reason = Reason("new")
            else:
                reason = finder.find(key, file.fingerprint, upstream[key], stage.extra_name)
            waits_for = tuple(other for other in upstream[key] if other in waiting)
            todo.append(ShardWork(stage.name, shard, expected[key], upstream[key], waits_for, reason))
            waiting.add(key)
    return Plan(
        stages=tuple(stage.name for stage in stages),
        expected={key: value for key, value in expected.items() if key[0] not in SOURCES},
        todo=tuple(todo),
        missing=frozenset((work.stage, work.shard) for work in todo if work.shard not in committed[work.stage]),
        scope=in_scope,
        uses=uses,
        outdated=tuple(outdated),
    )


def _expected(
    stages: Sequence[PlannedStage],
    committed: Mapping[str, Mapping[Shard, DataFile]],
    over: Mapping[str, str],
    uses: Uses,
) -> tuple[dict[ShardKey, Fingerprint], dict[ShardKey, tuple[ShardKey, ...]]]:
    """Return the fingerprint of every shard once everything is made, and the shards that each one reads."""
    expected = {(name, shard): file.fingerprint for name in SOURCES for shard, file in committed[name].items()}
    upstream: dict[ShardKey, tuple[ShardKey, ...]] = {}
    for stage in stages:
        for shard in sorted(committed[stage.over]):
            reads = tuple(
                (need, source)
                for need in stage.needs
                for source in ([shard] if over[need] == stage.over else uses.sources.get(shard, ()))
            )
            inputs = [":".join((need, source, expected[need, source])) for need, source in reads]
            if shard in stage.extra:
                inputs.append(f"extra:{stage.extra[shard]}")
            upstream[stage.name, shard] = reads
            expected[stage.name, shard] = fingerprint(stage.recipe, inputs)
    return expected, upstream


def _check_sources(uses: Uses, sentences: Collection[Shard]) -> None:
    for shard, needed in uses.sources.items():
        if missing := [source for source in needed if source not in sentences]:
            raise UnknownShard(
                f"Shard {shard!r} has pairs of {missing[0]!r}, which the store lacks, as a copy made during a build: "
                "copy the store again, or build a new one."
            )
