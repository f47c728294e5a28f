"""Which corpora use which shard of a store: the basis of the stages' scope."""

from collections.abc import Mapping

import polars as pl

from features.core.types import Shard
from features.store.reader import StoreReader
from features.store.reading import decoding
from features.store.scope import Uses


def uses_of(store: StoreReader, versions: Mapping[str, int] | None = None) -> Uses:
    """Return which corpora use which shard of a store; reads three columns of its pairs and two of its labels.

    Args:
        store: the store.
        versions: versions of the tables to read; the newest by default.
    """
    at = versions or {}
    pairs = store.scan("pairs", at.get("pairs"), columns=("corpus", "shard_a", "shard_b"), with_shard=True)
    sides = [pairs.select("shard", "corpus", pl.col(side).alias("source")).unique() for side in ("shard_a", "shard_b")]
    with decoding("pairs", store.location):
        of_pairs = pl.concat(sides).unique().sort("shard", "source", "corpus").collect()
    labels = store.scan("labels", at.get("labels"), columns=("corpus", "sentence_shard"))
    with decoding("labels", store.location):
        of_labels = labels.unique().sort("sentence_shard", "corpus").collect()

    sentences: dict[Shard, set[str]] = {shard: set() for shard in store.committed("sentences", at.get("sentences"))}
    by_pair: dict[Shard, set[str]] = {shard: set() for shard in store.committed("pairs", at.get("pairs"))}
    sources: dict[Shard, dict[Shard, None]] = {}
    for shard, corpus, source in of_pairs.iter_rows():
        by_pair.setdefault(Shard(shard), set()).add(corpus)
        sentences.setdefault(Shard(source), set()).add(corpus)
        sources.setdefault(Shard(shard), {})[Shard(source)] = None
    for corpus, source in of_labels.iter_rows():
        sentences.setdefault(Shard(source), set()).add(corpus)
    return Uses(
        {shard: frozenset(corpora) for shard, corpora in sentences.items()},
        {shard: frozenset(corpora) for shard, corpora in by_pair.items()},
        {shard: tuple(of) for shard, of in sources.items()},
    )
