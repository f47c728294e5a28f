"""Negatives: for a positive (a, a+), a pair (a, a−) with a− from another random pair of the same split of the corpus.

The draw is a hash of the pair's id, over the pairs in the order of their ids: a rebuild from the same files, with rows
in any order, draws the same negatives. a− is never a, a+, or any sentence paired with a (captions of one image). A
stored negative stays, even if a later refresh adds its two sentences as a positive.
"""

import math

import numpy as np
from numpy.typing import NDArray

from features.ids import IdArray, draws, positions_in

_TRIES = 32  # draws before all candidates are listed
_AT_ONCE = 1 << 20  # pairs that are drawn for at once


def pair_keys(a: NDArray[np.uint32], b: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return one number for each pair of sentence numbers, (n_pairs,)."""
    return a.astype(np.uint64) << np.uint64(32) | b


def unordered_keys(a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return one number for each pair of sentence numbers, whatever their order, (n_pairs,)."""
    return pair_keys(np.minimum(a, b).astype(np.uint32), np.maximum(a, b).astype(np.uint32))


def draw_negatives(
    ids: IdArray,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    wanted: NDArray[np.bool_],
    paired: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a negative for each wanted pair of a pool, all positives of one split of one corpus.

    Args:
        ids: ids of the pairs, (n_pairs,).
        a: first sentences, numbered in the order of their ids, (n_pairs,).
        b: second sentences, (n_pairs,).
        wanted: which of the pairs need a negative, (n_pairs,).
        paired: keys of sentences that are a pair, in the pool or elsewhere, sorted (`unordered_keys`).

    Returns:
        The wanted pairs in the order of ids, and a− for each: -1 if every sentence of the pool is a or paired with a,
        in either order.
    """
    ordered = np.argsort(ids)
    of_pool = a[ordered], b[ordered]
    drawn = ordered[wanted[ordered]]
    other = np.full(len(drawn), -1, np.int64)
    remaining = [np.empty(0, np.int64)]
    for start in range(0, len(drawn), _AT_ONCE):
        left = np.arange(start, min(start + _AT_ONCE, len(drawn)))
        for attempt in range(_TRIES):
            if not len(left):
                break
            position, side = np.divmod(draws(ids[drawn[left]], attempt) % np.uint64(2 * len(ordered)), np.uint64(2))
            candidates = np.where(side, of_pool[1][position], of_pool[0][position])
            unrelated = _unrelated(a[drawn[left]], candidates, paired)
            other[left[unrelated]] = candidates[unrelated]
            left = left[~unrelated]
        remaining.append(left)
    left = np.concatenate(remaining)
    # Few candidates remain for these (a small split, or one question with many answers): list them once.
    listed: dict[int, NDArray[np.uint32]] = {}
    all_sentences = np.unique(np.concatenate(of_pool)) if len(left) else None
    for each, last in zip(left, draws(ids[drawn[left]], _TRIES).tolist(), strict=True):
        anchor = int(a[drawn[each]])
        if anchor not in listed and all_sentences is not None:
            listed[anchor] = all_sentences[_unrelated(np.full_like(all_sentences, anchor), all_sentences, paired)]
        if len(listed[anchor]):
            other[each] = listed[anchor][last % len(listed[anchor])]
    return drawn, other


def _unrelated(a: NDArray[np.uint32], candidates: NDArray[np.uint32], paired: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which candidates are neither a nor paired with it."""
    return np.not_equal(a, candidates) & (positions_in(unordered_keys(a, candidates), paired) < 0)


def arranged(
    ids: IdArray, shard_a: NDArray[np.integer], shard_b: NDArray[np.integer], pairs_per_shard: int
) -> NDArray[np.int64]:
    """Return the order of negatives in which a shard of them needs few sentence shards.

    Both sentences of a negative may be in any shard, so a shard in random order would need every sentence shard.
    Ordered by the cells of a square grid over (shard_a, shard_b), with about as many cells as there will be shards of
    `pairs_per_shard`, it needs about two sides of a cell. Shards are numbered in the order of their names.
    """
    order = np.argsort(ids)
    side = math.ceil(math.sqrt(len(ids) / pairs_per_shard))
    shards = np.unique(np.concatenate([shard_a, shard_b]))
    cell_a, cell_b = (np.searchsorted(shards, numbers[order]) * side // len(shards) for numbers in (shard_a, shard_b))
    return order[np.argsort(cell_a * side + cell_b, kind="stable")]
