"""A stage as a plan needs it: what it reads, and the recipe that today's settings give it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from features.core.types import Shard
from features.stages.recipe import Recipe

ShardKey = tuple[str, Shard]
"""Stage and shard."""


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage with today's recipe.

    Args:
        name: the stage, and its table.
        over: whether it has a shard for every sentence shard or for every pair shard.
        needs: the tables that it reads. A stage over sentences reads the same shard of each; a stage over pairs reads
            its own shard of tables over pairs, and of tables over sentences all shards that its pairs come from.
        recipe: how it makes rows.
        extra: digest of what a shard reads besides tables (its graphs in a bank), by shard.
        extra_name: name of that input, for the explanation.
    """

    name: str
    over: Literal["sentences", "pairs"]
    needs: tuple[str, ...]
    recipe: Recipe
    extra: Mapping[Shard, str] = field(default_factory=dict)
    extra_name: str = "files"
