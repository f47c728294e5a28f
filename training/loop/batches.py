"""Order of training pairs: shuffled, and where their lengths are given, in batches of similar length.

A batch is padded to its longest sentence, so mixed lengths waste work. Pairs are shuffled, divided into windows of many
batches, sorted by length within a window, divided into batches, and the batches are shuffled again: every epoch differs
and depends only on the seed. A single window would give every epoch, and every seed, the same batches, so few pairs are
divided into several small ones. Pairs of one sentence a stay together: it is encoded once, and they can be compared.

Facets are learnt from mixed lengths (docs/results/s3bert.md says why).
"""

import math

import numpy as np
from numpy.typing import NDArray

NEAR = 4  # pairs near each other that stay together; of more, batches would be too much alike
WINDOW = 50  # batches, at most; longer windows pad less and mix less
WINDOWS = 4  # at least


def epoch_batches(
    groups: NDArray[np.int64], lengths: NDArray[np.int64] | None = None, *, batch_size: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Return the batches of an epoch (from 0), each the positions of its pairs; one may have fewer than the others.

    `groups`, (n_pairs,), are numbers from 0: a group is the pairs of one sentence a, or near each other. `lengths`,
    (n_pairs,), are the tokens of the longer sentence of each pair, for batches of similar length.
    """
    if not len(groups):
        return []
    random = np.random.default_rng((seed, epoch))
    rank = random.permutation(int(groups.max()) + 1)
    shuffled = np.argsort(rank[groups], kind="stable")
    if lengths is None:
        return np.split(shuffled, range(batch_size, len(shuffled), batch_size))
    longest = np.zeros(len(rank), dtype=np.int64)
    np.maximum.at(longest, groups, lengths)
    size = batch_size * min(WINDOW, math.ceil(len(shuffled) / (WINDOWS * batch_size)))
    batches: list[NDArray[np.int64]] = []
    for window in np.split(shuffled, range(size, len(shuffled), size)):
        by_length = window[np.argsort(longest[groups[window]], kind="stable")]
        batches += [by_length[start : start + batch_size] for start in range(0, len(by_length), batch_size)]
    return [batches[position] for position in random.permutation(len(batches))]


def near_groups(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    drawn: NDArray[np.int64],
    near: NDArray[np.int64],
    *,
    seed: int,
    epoch: int,
) -> NDArray[np.int64]:
    """Return the group of each pair that is drawn for an epoch, so that near sentences meet in a batch.

    A sentence follows the one among it and those near it that is drawn first, a pair its sentence a; the pairs of
    those who follow the same are a group, or several of `NEAR` pairs. Pairs have sentences a and b, (n_pairs,) each;
    those `drawn` get numbers from 0, (n_drawn,), and sentences of those `near`, also positions, are near.
    """
    random = np.random.default_rng((seed, epoch, 1))
    rank = random.permutation(int(max(first.max(), second.max())) + 1)
    leader = rank.copy()
    for ends, others in ((first[near], second[near]), (second[near], first[near])):
        np.minimum.at(leader, ends, rank[others])
    followed = leader[first[drawn]]
    order = np.lexsort((random.random(len(drawn)), followed))
    begins = np.diff(followed[order], prepend=-1) != 0
    number = np.arange(len(drawn)) - np.maximum.accumulate(np.where(begins, np.arange(len(drawn)), 0))
    groups = np.empty(len(drawn), np.int64)
    groups[order] = np.cumsum(number % NEAR == 0) - 1
    return groups
