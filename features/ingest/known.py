"""What is already in the store."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import UnknownShard
from features.core.types import LabelId, SentenceId, Shard, Split
from features.ingest.ids import IdArray, from_hexadecimal
from features.schemas import LABELS, PAIRS, Columns

_SHARD: Columns = {"shard": pl.String}

KNOWN_SENTENCES: Columns = {"sentence_id": pl.String, **_SHARD}
"""Columns of `sentences` that ingest needs to know what is stored."""

_PAIRS = ("pair_id", "shard", "corpus", "split", "kind", "sentence_a", "sentence_b", "positive_id", "score", "label")
KNOWN_PAIRS: Columns = {name: (PAIRS | _SHARD)[name] for name in _PAIRS}
"""Columns of `pairs` that ingest needs to know what is stored: whether a pair has its negative, whether a judgement
changed, and which split a sentence is in, if splits are drawn."""

_LABELS = ("label_id", "shard", "corpus", "split", "sentence", "aspect", "label")
KNOWN_LABELS: Columns = {name: (LABELS | _SHARD)[name] for name in _LABELS}
"""Columns of `labels` that ingest needs to know what is stored: whether a label was corrected, and the split of a text,
which it keeps."""


class StoredPairs(NamedTuple):
    """Pairs in the order of their ids: these, and the rows, columns of `KNOWN_PAIRS`."""

    ids: IdArray
    rows: pl.DataFrame


class Known:
    """The stored sentences, pairs and labels: columns of `KNOWN_SENTENCES` and so on; `ingest` says the rest."""

    def __init__(
        self,
        sentences: pl.DataFrame,
        pairs: pl.DataFrame,
        labels: pl.DataFrame | None,
        placed: pl.DataFrame | None = None,
        placed_labels: pl.DataFrame | None = None,
    ) -> None:
        self.sentences = _checked(sentences, KNOWN_SENTENCES, "sentences")
        self.judgements = _checked(pairs, KNOWN_PAIRS, "pairs")
        self.labels = _checked(labels, KNOWN_LABELS, "labels")
        self._placed = self.judgements if placed is None else _checked(placed, KNOWN_PAIRS, "pairs")
        self.pair_shards: list[Shard] = self.judgements["shard"].unique().to_list()
        self.label_of: dict[LabelId, str] = dict(
            zip(self.labels["label_id"].to_list(), self.labels["label"].to_list(), strict=True)
        )
        self.label_shards: list[Shard] = self.labels["shard"].unique().to_list()
        texts = self.labels if placed_labels is None else _checked(placed_labels, KNOWN_LABELS, "labels")
        of_texts = texts.group_by("corpus", "sentence").agg(pl.col("split").unique().sort())
        self.splits_of_text: dict[tuple[str, SentenceId], tuple[Split, ...]] = {
            (corpus, sentence): tuple(splits) for corpus, sentence, splits in of_texts.iter_rows()
        }

    def shard_numbers(self, names: Sequence[Shard]) -> NDArray[np.int32]:
        """Return the place of the shard of each sentence among the names, (n_sentences,)."""
        shards = self.sentences["shard"].cast(pl.Enum(names))
        return shards.to_physical().cast(pl.Int32).to_numpy()

    def pairs(self, corpus: str) -> StoredPairs:
        """Return the stored pairs of a corpus, of every kind."""
        rows = self.judgements.filter(corpus=corpus)
        ids = from_hexadecimal(rows["pair_id"])
        order = np.argsort(ids)
        return StoredPairs(ids[order], rows[order])

    def placed_pairs(self, corpus: str) -> pl.DataFrame:
        """Return the stored pairs of a corpus whose splits are binding, of every kind."""
        return self._placed.filter(corpus=corpus)

    def splits_of_texts(self, corpus: str) -> set[Split]:
        """Return the splits of a corpus for which the store has texts."""
        return {split for (name, _), splits in self.splits_of_text.items() if name == corpus for split in splits}


def _checked(frame: pl.DataFrame | None, columns: Columns, table: str) -> pl.DataFrame:
    """Return rows with at least these columns; with them, if there is no row."""
    if frame is None or not frame.height:
        return pl.DataFrame(schema=columns)
    if missing := [name for name in columns if name not in frame.columns]:
        raise UnknownShard(f"the known {table} lack the columns {missing}: read {list(columns)} from the store.")
    return frame
