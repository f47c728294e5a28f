"""Why a shard has to be made: as data for programs, in one line for people.

Every commit records its recipe and the versions that all tables had then. They show what a stale shard was made from,
and so which part of which recipe changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from features.core.types import Fingerprint, Shard
from features.stages.stage import Recipe
from features.store.fingerprints import Change, changes, identity, identity_of
from features.store.reader import StoreReader
from features.store.scope import ShardKey

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
