"""Which shards each stage has to make: the wanted ones, and those that they are made from.

    Wanted(("metrics",), ("stsb",))
        metrics         pair shards with a pair of stsb
        └── amr         sentence shards that these pair shards come from

    Wanted(("dependencies",), ("snli",))
        dependencies    sentence shards with a sentence of a pair or label of snli, whichever corpus first had it

A premise of SNLI that is a caption of Flickr30k lives in a shard of Flickr30k, and that shard is parsed for both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from features.core.types import Shard
from features.stages.stage import Recipe

ShardKey = tuple[str, Shard]
"""Stage and shard."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The tables that one reader of the store reads, and the corpora whose rows it reads: every corpus when empty."""

    tables: tuple[str, ...]
    corpora: tuple[str, ...] = ()

    def reads(self, corpora: frozenset[str]) -> bool:
        """Return whether a shard used by these corpora is read."""
        return not self.corpora or not corpora.isdisjoint(self.corpora)


@dataclass(frozen=True, slots=True)
class Uses:
    """Which corpora use which shard."""

    sentences: Mapping[Shard, frozenset[str]]  # sentence shard → corpora with a pair or a label of one of its sentences
    pairs: Mapping[Shard, frozenset[str]]  # pair shard → corpora of its pairs
    # pair shard → sentence shards that its sentences are in, sorted
    sources: Mapping[Shard, tuple[Shard, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the scope of a stage depends on."""

    name: str  # the stage, and its table
    over: Literal["sentences", "pairs"]  # whether it has a shard for every sentence shard or for every pair shard
    needs: tuple[str, ...]  # the tables that it reads (`features.stages.stage.Stage.reads`)


@dataclass(frozen=True, slots=True)
class PlannedStage(Reading):
    """A stage as a plan needs it, with the recipe of today's settings.

    `extra` is the digest of what a shard reads besides tables (its graphs in a bank), by shard.
    """

    recipe: Recipe
    extra: Mapping[Shard, str] = field(default_factory=dict)
    extra_name: str = "files"


def scope(stages: Sequence[Reading], wanted: Iterable[Wanted] | None, uses: Uses) -> dict[str, frozenset[Shard]]:
    """Return the shards that each stage, after those that it needs, has to make; an unwanted stage has none.

    Every shard of every stage is wanted when None. Wanting more never makes a scope smaller.
    """
    all_readers = (Wanted(tuple(stage.name for stage in stages)),) if wanted is None else tuple(wanted)
    used = {"sentences": uses.sentences, "pairs": uses.pairs}
    over = {stage.name: stage.over for stage in stages}
    shards: dict[str, set[Shard]] = {stage.name: set() for stage in stages}
    for stage in reversed(stages):
        readers = [reader for reader in all_readers if stage.name in reader.tables]
        own = shards[stage.name]
        own |= {shard for shard, corpora in used[stage.over].items() if any(each.reads(corpora) for each in readers)}
        sources = {source for shard in own for source in uses.sources.get(shard, ())}
        for need in stage.needs:
            if need in shards:
                shards[need] |= own if over[need] == stage.over else sources
    return {name: frozenset(own) for name, own in shards.items()}
