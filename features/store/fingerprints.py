"""What was done to a shard, and to what: the fingerprint that every committed shard carries.

    recipe  = stage, parameters, algorithm version, model weights   ──hash──> identity  (12 digits)
    inputs  = fingerprints of the upstream shards that it reads     ──hash──> inputs    (12 digits)
                                                              fingerprint = identity-inputs

Because the inputs are those of the shard and not of the table, a new shard never makes an old one stale, and the
fingerprint of a shard can be computed long before anything is run.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from features.core.types import Fingerprint
from features.core.wording import clipped
from features.stages.stage import Recipe, canonical

_LONGEST = 40  # characters of a text that is shown uncut
_SHOWN = 12  # characters shown of a longer one
_DIGITS = 12  # 48 bits: only fingerprints of one shard are ever compared with each other


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a recipe that differs: `parameters.batch_size`, from 16 to 32."""

    part: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = _short(self.old, self.new)
        return f"{self.part} {old} → {new}"


def identity(recipe: Recipe) -> str:
    """Return the 12 hexadecimal digits that identify the recipe."""
    return _digest(canonical(recipe.as_dict()))


def fingerprint(recipe: Recipe, inputs: Sequence[str]) -> Fingerprint:
    """Return the fingerprint of a shard made by `recipe` from `inputs`.

    These are fingerprints of the upstream shards (or digests of other input), in a fixed order.
    """
    return Fingerprint(f"{identity(recipe)}-{_digest(canonical(list(inputs)))}")


def identity_of(value: Fingerprint) -> str:
    """Return the first half of a fingerprint, which identifies the recipe.

    >>> identity_of(Fingerprint("0123456789ab-ba9876543210"))
    '0123456789ab'
    """
    return value.partition("-")[0]


def changes(old: Recipe, new: Recipe) -> list[Change]:
    """Return the parts in which two recipes differ: one entry per parameter, nested ones by their path."""
    before, after = _flat("", old.as_dict()), _flat("", new.as_dict())
    return [
        Change(part, before.get(part), after.get(part))
        for part in sorted(before.keys() | after.keys())
        if before.get(part) != after.get(part)
    ]


@dataclass(frozen=True, slots=True)
class RecipeChange:
    """A stage that was added or removed, or whose recipe changed in the parts `changes`."""

    stage: str
    kind: Literal["new", "gone", "changed"]
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"{self.stage}: {', '.join(map(str, self.changes))}"
        return f"{self.stage}: {'a new stage' if self.kind == 'new' else 'no longer a stage'}"


def recipe_changes(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> list[RecipeChange]:
    """Return the stages whose recipes differ, in the order of the new ones; removed stages come last."""
    differences = []
    for stage in [*new, *(stage for stage in old if stage not in new)]:
        if stage not in old or stage not in new:
            differences.append(RecipeChange(stage, "new" if stage in new else "gone"))
        elif parts := changes(Recipe.from_dict(old[stage]), Recipe.from_dict(new[stage])):
            differences.append(RecipeChange(stage, "changed", tuple(parts)))
    return differences


def _flat(prefix: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {prefix: value}
    return {
        path: leaf
        for key, inner in value.items()
        for path, leaf in _flat(f"{prefix}.{key}" if prefix else key, inner).items()
    }


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_DIGITS // 2).hexdigest()


def _short(old: Any, new: Any) -> tuple[str, str]:
    """Return two values as they are shown in one line: long ones are cut so that the first difference stays visible."""
    old, new = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in (old, new))
    if max(len(old), len(new)) <= _LONGEST:
        return old, new
    shorter = min(len(old), len(new))  # where one only goes on
    same = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    start = 0 if same < _SHOWN - 4 else same - 4
    return clipped(old, _SHOWN, start), clipped(new, _SHOWN, start)
