"""Negatives: for a positive (a, a+), a pair (a, a−) with a− from another random pair of the same split of the corpus.

The draw is a hash of the pair's id, over the pairs in the order of their ids: a rebuild from the same files, in
whatever order of rows, draws the same. a− is never a, a+, nor any sentence that is paired with a (captions of one
image).
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from features.types import PairId, SentenceId

_TRIES = 32  # draws before all candidates are listed


class Positive(NamedTuple):
    """A positive pair: its id and its sentences."""

    pair_id: PairId
    a: SentenceId
    b: SentenceId


def draw_negatives(pool: Sequence[Positive], wanted: set[PairId]) -> Iterator[tuple[Positive, SentenceId | None]]:
    """Draw a negative for the wanted pairs.

    Args:
        pool: all positives of one split of one corpus.
        wanted: those that need a negative.

    Yields:
        Each wanted pair, in the order of ids, and its a−; None where every sentence of the split is a or paired with a.
    """
    ordered = sorted(pool)
    partners: dict[SentenceId, set[SentenceId]] = {}
    for pair in pool:
        partners.setdefault(pair.a, {pair.a}).add(pair.b)
        partners.setdefault(pair.b, {pair.b}).add(pair.a)
    listed: dict[SentenceId, list[SentenceId]] = {}
    for pair in ordered:
        if pair.pair_id in wanted:
            yield pair, _draw(pair, ordered, partners, listed)


def _draw(
    pair: Positive,
    ordered: Sequence[Positive],
    partners: dict[SentenceId, set[SentenceId]],
    listed: dict[SentenceId, list[SentenceId]],
) -> SentenceId | None:
    refused = partners[pair.a]
    for attempt in range(_TRIES):
        place, side = divmod(_hash(pair.pair_id, attempt) % (2 * len(ordered)), 2)
        candidate = ordered[place].b if side else ordered[place].a
        if candidate not in refused:
            return candidate
    # Few candidates are left for this a (a small split, or one question with many answers): list them once.
    if pair.a not in listed:
        listed[pair.a] = sorted(partners.keys() - refused)
    candidates = listed[pair.a]
    return candidates[_hash(pair.pair_id, _TRIES) % len(candidates)] if candidates else None


def _hash(pair_id: PairId, attempt: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{pair_id}{attempt}".encode(), digest_size=8).digest())


def arrange(negatives: pl.DataFrame, pairs_per_shard: int) -> pl.DataFrame:
    """Order negatives so that a shard of them needs few sentence shards.

    Both sentences of a negative are anywhere, so a shard in random order would need every sentence shard. Ordered by
    the cells of a square grid over (shard_a, shard_b), with about as many cells as there will be shards, it needs about
    two sides of a cell.

    Args:
        negatives: rows with `shard_a`, `shard_b` and `pair_id`.
        pairs_per_shard: size of the shards that they will be cut into.
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
