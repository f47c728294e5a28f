"""Negatives: for a positive (a, a+), a pair (a, a−) with a− from another random pair of the same split of the corpus.

The draw is a hash of the pair's id, over the pairs in the order of their ids: a rebuild from the same files, with rows
in any order, draws the same negatives. a− is never a, a+, or any sentence paired with a (captions of one image). A
stored negative stays, even if a later refresh adds its two sentences as a positive.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence, Set

import polars as pl

from features.core.types import PairId, SentenceId

_TRIES = 32  # draws before all candidates are listed


Positive = tuple[PairId, SentenceId, SentenceId]
"""A positive pair: its id, sentence a, sentence b."""


def draw_negatives(
    pool: Sequence[Positive], wanted: Set[PairId], paired: Set[tuple[SentenceId, SentenceId]]
) -> Iterator[tuple[Positive, SentenceId | None]]:
    """Yield each wanted pair of a pool, all positives of one split of one corpus, in the order of ids, with its a−.

    That is None if every sentence of the pool is a or paired with a, in either order, in the pool or elsewhere.
    """
    ordered = sorted(pool)
    listed: dict[SentenceId, list[SentenceId]] = {}
    for pair in ordered:
        if pair[0] in wanted:
            yield pair, _draw(pair, ordered, paired, listed)


def _draw(
    pair: Positive,
    ordered: Sequence[Positive],
    paired: Set[tuple[SentenceId, SentenceId]],
    listed: dict[SentenceId, list[SentenceId]],
) -> SentenceId | None:
    name, a, _ = pair

    def may_be(candidate: SentenceId) -> bool:
        return candidate != a and (a, candidate) not in paired and (candidate, a) not in paired

    for attempt in range(_TRIES):
        place, side = divmod(_hash(name, attempt) % (2 * len(ordered)), 2)
        _, first, second = ordered[place]
        candidate = second if side else first
        if may_be(candidate):
            return candidate
    # Few candidates remain for this a (a small split, or one question with many answers): list them once.
    if a not in listed:
        listed[a] = sorted({sentence for _, *both in ordered for sentence in both if may_be(sentence)})
    return listed[a][_hash(name, _TRIES) % len(listed[a])] if listed[a] else None


def _hash(pair_id: PairId, attempt: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{pair_id}{attempt}".encode(), digest_size=8).digest())


def arrange(negatives: pl.DataFrame, pairs_per_shard: int) -> pl.DataFrame:
    """Order negatives so that a shard of them needs few sentence shards.

    Both sentences of a negative may be in any shard, so a shard in random order would need every sentence shard.
    Ordered by the cells of a square grid over (shard_a, shard_b), with about as many cells as there will be shards of
    `pairs_per_shard`, it needs about two sides of a cell.
    """
    if negatives.height <= pairs_per_shard:
        return negatives.sort("pair_id")
    side = math.ceil(math.sqrt(negatives.height / pairs_per_shard))
    shards = sorted({*negatives["shard_a"].unique(), *negatives["shard_b"].unique()})
    cell = {shard: rank * side // len(shards) for rank, shard in enumerate(shards)}
    return negatives.sort(
        pl.col("shard_a").replace_strict(cell, return_dtype=pl.Int32),
        pl.col("shard_b").replace_strict(cell, return_dtype=pl.Int32),
        pl.col("pair_id"),
    )
