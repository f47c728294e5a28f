"""What is already in the store."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import LabelId, SentenceId, Shard, Split
from features.ids import IdArray, from_hexadecimal, hexadecimal, positions_in
from features.schemas import LABELS, PAIRS, Columns

_FEW = 1 << 20  # sentences that are looked up by name: more would need much memory as names
_SHARD: Columns = {"shard": pl.String}
_PAIRS = ("pair_id", "shard", "corpus", "split", "kind", "sentence_a", "sentence_b", "positive_id", "score", "label")
_LABELS = ("label_id", "shard", "corpus", "split", "sentence", "aspect", "label")

KNOWN: Mapping[str, Columns] = {
    "sentences": {"sentence_id": pl.String, **_SHARD},
    "pairs": {name: (PAIRS | _SHARD)[name] for name in _PAIRS},
    "labels": {name: (LABELS | _SHARD)[name] for name in _LABELS},
}
"""Table → its columns that ingest needs to know what is stored: whether a pair has its negative, whether a score or a
label was corrected, and which split a sentence or text is in, and keeps."""


class StoredPairs(NamedTuple):
    """The stored pairs of a corpus, of every kind."""

    ids: IdArray  # sorted, (n_pairs,)
    judgements: pl.DataFrame  # columns `score` and `label`, in the order of the ids
    with_negative: IdArray  # ids of the positives that have a negative, sorted


class Known:
    """The stored sentences, pairs and labels.

    Args:
        sentences: rows with the columns of `KNOWN`. Of a lazy frame, only what the corpora meet is read, in the columns
            that are asked for.
        pairs: likewise.
        labels: likewise.
        placed: pairs whose splits are binding when splits are drawn; the stored pairs by default. Repeating an earlier
            ingest must give the same splits, which later pairs show.
        placed_labels: likewise labels, for texts.
        reading: returns the context in which lazy rows of a table are read.
    """

    def __init__(
        self,
        sentences: pl.DataFrame | pl.LazyFrame,
        pairs: pl.DataFrame | pl.LazyFrame,
        labels: pl.DataFrame | pl.LazyFrame,
        *,
        placed: pl.DataFrame | None = None,
        placed_labels: pl.DataFrame | None = None,
        reading: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._reading = reading
        self._sentences = sentences.lazy()
        self.pairs = pairs.lazy()  # of every corpus and kind, to be `collected`
        self.labels = self.collected(labels.lazy(), "labels")
        self._placed = self.pairs if placed is None else placed.lazy()
        shard = pl.col("shard").unique()
        self.sentence_shards: list[Shard] = sorted(self.collected(self._sentences.select(shard), "sentences")["shard"])
        self.pair_shards: list[Shard] = self.collected(self.pairs.select(shard))["shard"].to_list()
        self.label_of: dict[LabelId, str] = dict(zip(self.labels["label_id"], self.labels["label"], strict=True))
        self.label_shards: list[Shard] = self.labels["shard"].unique().to_list()
        texts = self.labels if placed_labels is None else placed_labels
        of_texts = texts.group_by("corpus", "sentence").agg(pl.col("split").unique())
        self.splits_of_text: dict[tuple[str, SentenceId], tuple[Split, ...]] = {
            (corpus, sentence): tuple(splits) for corpus, sentence, splits in of_texts.iter_rows()
        }

    def shards_of(self, ids: IdArray) -> NDArray[np.int32]:
        """Return the place in `sentence_shards` of the shard of each sentence, -1 for one that is not stored.

        The ids are sorted, (n_sentences,).
        """
        shards = np.full(len(ids), -1, np.int32)
        rows = self._sentences.with_columns(pl.col("shard").cast(pl.Enum(self.sentence_shards)).to_physical())
        if len(ids) <= _FEW:
            rows = rows.filter(pl.col("sentence_id").is_in(hexadecimal(ids).implode()))
        stored = self.collected(rows.select(list(KNOWN["sentences"])), "sentences")
        positions = positions_in(from_hexadecimal(stored["sentence_id"]), ids)
        shards[positions[positions >= 0]] = stored["shard"].to_numpy()[positions >= 0]
        return shards

    def stored_pairs(self, corpus: str) -> StoredPairs:
        """Return the stored pairs of a corpus."""
        rows = self.pairs.filter(corpus=corpus)
        judgements = self.collected(rows.select("score", pl.col("label").cast(pl.Categorical())))
        ids = self._ids(rows, "pair_id")
        order = np.argsort(ids)
        return StoredPairs(ids[order], judgements[order], np.sort(self._ids(rows, "positive_id")))

    def placed_pairs(self, corpus: str) -> pl.DataFrame:
        """Return split and sentences of the stored pairs of a corpus whose splits are binding, of every kind."""
        return self.collected(self._placed.filter(corpus=corpus).select("split", "sentence_a", "sentence_b"))

    def collected(self, rows: pl.LazyFrame, table: str = "pairs") -> pl.DataFrame:
        """Return rows that were made from `pairs`, or from another table."""
        with self._reading(table):
            return rows.collect()

    def _ids(self, pairs: pl.LazyFrame, column: str) -> IdArray:
        # Not `collect_batches`, which may wait for ever (polars 2.1).
        return from_hexadecimal(self.collected(pairs.select(pl.col(column)).drop_nulls())[column])
