"""Differences between the recipes of two sets of stages: stages added or removed, and which part changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from features.stages.recipe import Recipe
from features.store.fingerprints import Change, changes


@dataclass(frozen=True, slots=True)
class RecipeChange:
    """A stage whose rows are made differently.

    Args:
        stage: its name.
        kind: whether the stage was added or removed, or its recipe changed.
        changes: the parts that changed; empty unless the recipe changed.
    """

    stage: str
    kind: Literal["new", "gone", "changed"]
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"{self.stage}: {', '.join(map(str, self.changes))}"
        return f"{self.stage}: {'a new stage' if self.kind == 'new' else 'no longer a stage'}"


def recipe_changes(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> list[RecipeChange]:
    """Return the stages whose recipes differ, in the order of the new ones; removed stages come last.

    Args:
        old: stage → recipe, as `Recipe.as_dict` gives it.
        new: stage → recipe, in the same form.
    """
    found = []
    for stage in [*new, *(stage for stage in old if stage not in new)]:
        if stage not in old or stage not in new:
            found.append(RecipeChange(stage, "new" if stage in new else "gone"))
        elif parts := changes(Recipe.from_dict(old[stage]), Recipe.from_dict(new[stage])):
            found.append(RecipeChange(stage, "changed", tuple(parts)))
    return found
