"""What is different between the recipes of two sets of stages: a stage that came or went, and which part changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from features.store.fingerprints import Change, Recipe, changes


@dataclass(frozen=True, slots=True)
class RecipeChange:
    """A stage whose rows are made in another way.

    Args:
        stage: its name.
        kind: it is there since, it is gone, or its recipe is another.
        changes: the parts that are different; empty unless the recipe is another.
    """

    stage: str
    kind: Literal["new", "gone", "changed"]
    changes: tuple[Change, ...] = ()

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"{self.stage}: {', '.join(map(str, self.changes))}"
        return f"{self.stage}: {'a new stage' if self.kind == 'new' else 'no longer a stage'}"


def recipe_changes(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> list[RecipeChange]:
    """Return the stages whose recipes differ, in the order of the new ones; those that are gone last.

    Args:
        old: stage → recipe, as `Recipe.as_dict` gives it.
        new: likewise.
    """
    found = []
    for stage in [*new, *(stage for stage in old if stage not in new)]:
        if stage not in old or stage not in new:
            found.append(RecipeChange(stage, "new" if stage in new else "gone"))
        elif parts := changes(Recipe.from_dict(old[stage]), Recipe.from_dict(new[stage])):
            found.append(RecipeChange(stage, "changed", tuple(parts)))
    return found
