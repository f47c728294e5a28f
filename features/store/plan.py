"""The plan: which shards have to be made, why, and which others each one waits for.

    expected fingerprint  = recipe of the stage + expected fingerprints of the upstream shards
    to do                 = wanted shards whose committed fingerprint is not the expected one, or whose file is damaged
    outdated              = unwanted shards in the same state: they are not made again, but removed from the table

A first build, a rerun of failed shards, a data refresh, a change of settings and a repair are all this one subtraction.
Fingerprints follow from recipes, so the whole chain is planned before anything is run.

Why a shard has to be made is data for programs, and a line for people. Every commit records its recipe and the versions
that all tables had then. They show what a stale shard was made from, and so which part of which recipe changed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from features.core.faults import UnknownShard
from features.core.types import Fingerprint, Shard
from features.stages.registry import SOURCES
from features.stages.stage import Recipe
from features.store.damage import Damage
from features.store.fingerprints import Change, changes, fingerprint, identity, identity_of
from features.store.reader import StoreReader
from features.store.receipts import DataFile
from features.store.runs import FailedShard
from features.store.scope import PlannedStage, ShardKey, Uses, Wanted, scope

_NAMED = 3  # shards named in a line before "and n more"


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """Upstream shards that differ, or will differ, from those read before.

    `changes` are the differences in their recipe; none when their own input changed.
    """

    stage: str
    shards: tuple[Shard, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a shard has to be made: parts of its recipe changed, or upstream shards, or if none did, some extra input.

    `error` is how it failed before, or what is wrong with its file.
    """

    kind: Literal["new", "recipe", "input", "failed", "damaged"]
    changes: tuple[Change, ...] = ()
    inputs: tuple[ChangedInput, ...] = ()
    extra: str = ""
    error: str = ""

    def __str__(self) -> str:
        return _in_words([self])


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

    def around(self, failed: Collection[ShardKey]) -> list[ShardWork]:
        """Return the work on failed shards, on those that read them, and on all that these wait for.

        A retry that was killed may have made what failed, but not what reads it.
        """
        wanted = set(failed)
        for item in self.todo:
            if not wanted.isdisjoint(item.upstream):
                wanted.add((item.stage, item.shard))
        for item in reversed(self.todo):
            if (item.stage, item.shard) in wanted:
                wanted.update(item.waits_for)
        return [item for item in self.todo if (item.stage, item.shard) in wanted]

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


class ReasonFinder:
    """Finds out why a committed shard is not what recipes and expected fingerprints ask for, from the tables' logs."""

    def __init__(
        self, store: StoreReader, recipes: Mapping[str, Recipe], expected: Mapping[ShardKey, Fingerprint]
    ) -> None:
        self._provenance = cache(store.provenance)
        self._marks = cache(store.marks)
        self._recipes = recipes
        self._identities = {stage: identity(recipe) for stage, recipe in recipes.items()}
        self._expected = expected

    def find(self, key: ShardKey, committed: Fingerprint, upstream: Sequence[ShardKey], extra_name: str) -> Reason:
        """Return why the shard `key`, as it is committed, is not what would be made now."""
        stage, shard = key
        made = self._provenance(stage).get((shard, committed))
        if identity_of(committed) != self._identities[stage]:
            return Reason("recipe", changes=self._changes(stage, shard, committed))
        inputs = self._changed(upstream, made.versions) if made else []
        return Reason("input", inputs=tuple(inputs), extra="" if inputs else extra_name)

    def _changed(self, upstream: Sequence[ShardKey], versions: Mapping[str, int]) -> list[ChangedInput]:
        """Return the upstream shards that are not what they were at these versions, grouped by how they changed."""
        groups: dict[tuple[str, str], list[tuple[Shard, Fingerprint | None]]] = {}
        for stage, shard in upstream:
            before = self._before(stage, shard, versions)
            if before != self._expected[stage, shard]:
                groups.setdefault((stage, identity_of(before) if before else ""), []).append((shard, before))
        inputs = [
            ChangedInput(stage, tuple(shard for shard, _ in group), self._changes(stage, *group[0]))
            for (stage, _), group in groups.items()
        ]
        # A change propagates down the chain: name where it began, if that is known.
        return [changed for changed in inputs if changed.changes] or inputs

    def _before(self, stage: str, shard: Shard, versions: Mapping[str, int]) -> Fingerprint | None:
        marks = self._marks(stage).get(shard, ())
        return next((mark for version, mark in marks if version <= versions.get(stage, -1)), None)

    def _changes(self, stage: str, shard: Shard, before: Fingerprint | None) -> tuple[Change, ...]:
        """Return what changed in the recipe of a shard since its fingerprint was `before`."""
        if before is None or stage not in self._recipes or identity_of(before) == self._identities[stage]:
            return ()
        made = self._provenance(stage).get((shard, before))
        return tuple(changes(made.recipe, self._recipes[stage])) if made and made.recipe else ()


def summary(stage: str, shards: int, reasons: Sequence[Reason], *, unwanted: int = 0) -> str:
    """Return one line about a stage: how many shards are wanted, why each has to be made, and how many are unwanted.

    >>> summary("amr", 3, [Reason("new"), Reason("new")])
    'amr: 3 shards, 2 to do: 2 new'
    >>> summary("amr", 1, [])
    'amr: 1 shard, up to date'
    >>> summary("amr", 1, [], unwanted=4)
    'amr: 1 shard (4 more are wanted by nothing), up to date'
    """
    total = f"{stage}: {shards} shard{'' if shards == 1 else 's'}"
    if unwanted:
        total += f" ({unwanted} more {'is' if unwanted == 1 else 'are'} wanted by nothing)"
    if not reasons:
        return f"{total}, up to date" if shards else total
    groups: dict[object, list[Reason]] = {}
    for reason in reasons:
        groups.setdefault(_group(reason), []).append(reason)
    words = ", ".join(f"{len(group)} {_in_words(group)}" for group in groups.values())
    return f"{total}, {len(reasons)} to do: {words}"


def _group(reason: Reason) -> object:
    inputs = {(changed.stage, _parts(changed.changes)) for changed in reason.inputs}
    # All damaged files form one group; failed shards are grouped by their error.
    error = "" if reason.kind == "damaged" else reason.error
    return (reason.kind, _parts(reason.changes), tuple(sorted(inputs)), reason.extra, error)


def _in_words(reasons: Sequence[Reason]) -> str:
    """Return what reasons of one group have in common."""
    first = reasons[0]
    if first.kind == "new":
        return "new"
    if first.kind == "failed":
        return f"failed before ({first.error.partition(chr(10))[0]})"
    if first.kind == "damaged":
        more = f", and {len(reasons) - 1} like it" if len(reasons) > 1 else ""
        return f"because a file is damaged ({first.error}{more})"
    if first.kind == "recipe":
        return f"because {_parts(first.changes) or 'the recipe changed'}"
    if first.extra:
        return f"because its {first.extra} changed"
    shards: dict[tuple[str, str], set[Shard]] = {}
    for changed in (changed for reason in reasons for changed in reason.inputs):
        shards.setdefault((changed.stage, _parts(changed.changes)), set()).update(changed.shards)
    return "because " + " and ".join(
        f"{stage} of {_named(sorted(names))} changed{f' ({parts})' if parts else ''}"
        for (stage, parts), names in sorted(shards.items())
    )


def _parts(parts: Sequence[Change]) -> str:
    return ", ".join(str(change) for change in parts)


def _named(shards: Sequence[Shard]) -> str:
    named = ", ".join(shards[:_NAMED])
    return named if len(shards) <= _NAMED else f"{named} and {len(shards) - _NAMED} more"
