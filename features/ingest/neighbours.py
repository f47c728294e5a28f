"""Neighbours: pairs of training sentences that are near each other by the teacher, beside those that a corpus names.

    stored pairs, embeddings ──> sentences without a neighbour ──> the nearest in the same window ──> new shards

Pairs of a corpus are mostly alike, negatives mostly not; neighbours fill the range between. Measuring a pair costs a
tenth of what encoding a sentence costs, so each sentence is compared with several. They are drawn once embeddings are
made: what shares words, or is nearest among some hundred sentences, harms facets on SICK (docs/results/s3bert.md).

A window is some shards of sentences in a row, so that the work grows with their number, not with its square.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import Shard
from features.ids import from_hexadecimal, pair_ids, pair_rows, positions_in, unique_ids
from features.ingest.negatives import arranged, unordered_keys
from features.ingest.sentences import next_number, shard_name
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.stage import Recipe
from features.store.reader import StoreReader

_WINDOW = 16_384  # sentences that are compared; among 4,096 facets are learnt as well as among all
_BLOCK = 512  # of them whose similarities are computed at once
_CANDIDATES = 4  # nearest sentences that are looked at for each neighbour, since some are a pair already
_SCALE = 4000.0
"""Vectors are rounded to whole numbers of this length. Products and sums of these stay below 2^24 and are exact in
float32, so that the same embeddings give the same neighbours on any machine."""


def recipe_of(counts: Mapping[str, int]) -> Recipe:
    """Return the recipe of shards of neighbours: how many for a sentence, by corpus."""
    return Recipe("neighbours", dict(counts))


def counts_of(recipe: Recipe | None) -> Mapping[str, int]:
    """Return the counts of a recipe of neighbours; none of another one."""
    return recipe.parameters if recipe is not None and recipe.stage == "neighbours" else {}


def neighbours_of(
    store: StoreReader, counts: Mapping[str, int], pairs_per_shard: int, shards: Sequence[Shard] | None = None
) -> dict[Shard, pl.DataFrame]:
    """Draw the nearest sentences of each training sentence of a corpus that has an embedding and no neighbour.

    Args:
        store: where pairs and embeddings are; nothing is written.
        counts: corpus → neighbours of a sentence, at most.
        pairs_per_shard: rows of a shard.
        shards: the shards of `pairs` that are taken to be there; all when None.

    Returns:
        New shards of `pairs`, numbered after those that are there; no two pairs have the same sentences, in any order.
    """
    names = [*store.committed("pairs")] if shards is None else shards
    drawn: dict[Shard, pl.DataFrame] = {}
    for corpus, count in sorted(counts.items()):  # a recipe has them in this order
        rows = _of_corpus(store, corpus, count, names)
        first = next_number([*names, *drawn])
        a, b = (rows[side].rank("dense").cast(pl.Int64).to_numpy() for side in ("shard_a", "shard_b"))
        rows = rows[arranged(from_hexadecimal(rows["pair_id"]), a, b, pairs_per_shard)]
        for number, part in enumerate(rows.iter_slices(pairs_per_shard) if rows.height else (), start=first):
            drawn[shard_name("pairs", number)] = part
    return drawn


def lack_neighbours(store: StoreReader, corpora: Iterable[str]) -> bool:
    """Return whether a training sentence of these corpora, with or without an embedding, has no neighbour."""
    in_train = pl.col("corpus").is_in([*corpora]) & (pl.col("split") == "train")
    pairs = store.read("pairs", None, None, ["kind", "corpus", "split", "sentence_a", "sentence_b"], where=in_train)
    sides = pl.concat([pairs.select("kind", "corpus", sentence=side) for side in ("sentence_a", "sentence_b")])
    is_near = (pl.col("kind") == "neighbour").any()
    return not sides.group_by("corpus", "sentence").agg(is_near)["kind"].all()


def _of_corpus(store: StoreReader, corpus: str, count: int, shards: Sequence[Shard]) -> pl.DataFrame:
    """Return the neighbours that a corpus lacks, with the columns of `PAIRS`."""
    columns = ("sentence_a", "sentence_b", "shard_a", "shard_b")
    in_train = (pl.col("corpus") == corpus) & (pl.col("split") == "train")
    pairs = store.read("pairs", None, shards, ["kind", "corpus", "split", *columns], where=in_train)
    ids, first, numbers = unique_ids(np.concatenate([from_hexadecimal(pairs[side]) for side in columns[:2]]))
    a, b = numbers.astype(np.int64).reshape(2, -1)
    shard_of = pl.concat([pairs["shard_a"], pairs["shard_b"]]).gather(first)
    wanted = np.ones(len(ids), np.bool_)
    is_near = (pairs["kind"] == "neighbour").to_numpy()
    wanted[a[is_near]] = wanted[b[is_near]] = False
    paired = np.unique(unordered_keys(a, b))
    near = [np.empty((2, 0), np.int64)]
    embedded = shard_of.is_in([*store.committed(EMBEDDING_STAGE.name)])
    for own, window in _windows(shard_of.filter(embedded), shard_of.filter(pl.Series(wanted)).unique()):
        vectors = store.read(EMBEDDING_STAGE.name, None, window, ["sentence_id", "vector"])
        position = positions_in(from_hexadecimal(vectors["sentence_id"]), ids)
        order = np.argsort(position)[np.count_nonzero(position < 0) :]
        members = position[order]
        queries = wanted[members] & shard_of.gather(members).is_in(own).to_numpy()
        if queries.any():  # else all were rejected
            rows = vectors["vector"].gather(order).explode().to_numpy().reshape(len(order), -1)
            near.append(nearest(rows, queries, members, paired, count))
    a, b = np.concatenate(near, axis=1)
    names = pair_ids(corpus, "train", "neighbour", ids[a], ids[b], np.zeros(len(a), np.int64))
    of_a, of_b = shard_of.gather(a), shard_of.gather(b)
    return pair_rows(names, ids[a], ids[b], corpus=corpus, split="train", kind="neighbour", shard_a=of_a, shard_b=of_b)


def _windows(shard_of: pl.Series, needing: pl.Series) -> Iterator[tuple[list[Shard], list[Shard]]]:
    """Yield shards with sentences that need neighbours, and the window that they are compared in."""
    windows: list[list[Shard]] = []
    sentences = _WINDOW
    for shard, size in shard_of.value_counts().sort(shard_of.name).iter_rows():
        if sentences + size > _WINDOW:
            windows.append([])
            sentences = 0
        windows[-1].append(shard)
        sentences += size
    for number, own in enumerate(windows):
        if needing.is_in(own).any():
            # The last ones are few, as in a refresh: they are compared with those before them, too.
            yield own, [*windows[number - 1], *own] if number and number + 1 == len(windows) else own


def nearest(
    vectors: NDArray[np.floating],
    queries: NDArray[np.bool_],
    members: NDArray[np.int64],
    paired: NDArray[np.uint64],
    count: int,
) -> NDArray[np.int64]:
    """Return the pairs of each query with the sentences nearest to it, the nearest first.

    Args:
        vectors: embeddings of the sentences of a window, (n, d).
        queries: which of them are queries, (n,).
        members: their numbers, ascending, (n,).
        paired: keys of the numbers of sentences that are a pair already, sorted (`unordered_keys`).
        count: neighbours of a sentence, at most.

    Returns:
        Numbers of sentences a, the queries, and b, (2, n_pairs).
    """
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-12)
    whole = np.rint(_SCALE * units).astype(np.float32)
    candidates = min(_CANDIDATES * (count + 1), len(members))
    near = [np.empty((2, 0), np.int64)]
    positions = np.flatnonzero(queries)
    for start in range(0, len(positions), _BLOCK):
        block = positions[start : start + _BLOCK]
        similar = whole[block] @ whole.T
        least = np.partition(similar, -candidates, axis=1)[:, -candidates, None]
        row, other = np.nonzero(similar >= least)
        # Of equal ones, the first comes first.
        order = np.lexsort((other, -similar[row, other], row))
        a, b = members[block[row[order]]], members[other[order]]
        free = (a != b) & (positions_in(unordered_keys(a, b), paired) < 0)
        a, b = a[free], b[free]
        rank = np.arange(len(a)) - np.searchsorted(a, a)  # among the candidates of the same query
        near.append(np.stack([a, b])[:, rank < count])
    pairs = np.concatenate(near, axis=1)
    _, once = np.unique(unordered_keys(*pairs), return_index=True)
    return pairs[:, np.sort(once)]
