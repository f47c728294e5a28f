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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one reader of the store wants.

    Args:
        tables: the tables that it reads; what they are made from follows from the stages.
        corpora: the corpora whose rows it reads; every corpus when empty.
    """

    tables: tuple[str, ...]
    corpora: tuple[str, ...] = ()

    def reads(self, corpora: frozenset[str]) -> bool:
        """Return whether a shard used by these corpora is read."""
        return not self.corpora or not corpora.isdisjoint(self.corpora)


@dataclass(frozen=True, slots=True)
class Uses:
    """Which corpora use which shard.

    Args:
        sentences: sentence shard → corpora with a pair or a label of one of its sentences.
        pairs: pair shard → corpora of its pairs.
        sources: pair shard → sentence shards that its sentences are in, sorted.
    """

    sentences: Mapping[Shard, frozenset[str]]
    pairs: Mapping[Shard, frozenset[str]]
    sources: Mapping[Shard, tuple[Shard, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the scope of a stage depends on; `features.store.stage.PlannedStage` has the rest.

    Args:
        name: the stage, and its table.
        over: the source table whose shards it has one shard each for.
        needs: the tables that it reads.
    """

    name: str
    over: Literal["sentences", "pairs"]
    needs: tuple[str, ...]


def scope(stages: Sequence[Reading], wanted: Iterable[Wanted] | None, uses: Uses) -> dict[str, frozenset[Shard]]:
    """Return the shards that each stage has to make.

    Args:
        stages: the stages, every one after those that it needs.
        wanted: what is wanted; every shard of every stage when None.
        uses: which corpora use which shard.

    Returns:
        Stage → shards; an unwanted stage has none. Wanting more never makes a scope smaller.
    """
    asked = (Wanted(tuple(stage.name for stage in stages)),) if wanted is None else tuple(wanted)
    used = {"sentences": uses.sentences, "pairs": uses.pairs}
    over = {stage.name: stage.over for stage in stages}
    found: dict[str, set[Shard]] = {stage.name: set() for stage in stages}
    for stage in reversed(stages):
        readers = [one for one in asked if stage.name in one.tables]
        shards = found[stage.name]
        shards.update(
            shard for shard, corpora in used[stage.over].items() if any(one.reads(corpora) for one in readers)
        )
        for need in stage.needs:
            if need in found:
                same = over[need] == stage.over
                found[need].update(shards if same else (of for shard in shards for of in uses.sources.get(shard, ())))
    return {name: frozenset(shards) for name, shards in found.items()}
