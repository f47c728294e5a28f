"""What is already in the store."""

from collections.abc import Callable, Iterator

import polars as pl

from features.core.faults import UnknownShard
from features.core.types import LabelId, PairId, SentenceId, Shard, Split
from features.schemas import Columns

KNOWN_SENTENCES: Columns = {"sentence_id": pl.String, "shard": pl.String}
"""Columns of `sentences` that ingest needs to know what is stored."""

KNOWN_PAIRS: Columns = {
    "pair_id": pl.String,
    "shard": pl.String,
    "corpus": pl.String,
    "split": pl.String,
    "kind": pl.String,
    "sentence_a": pl.String,
    "sentence_b": pl.String,
    "positive_id": pl.String,
    "score": pl.Float64,
    "label": pl.String,
}
"""Columns of `pairs` that ingest needs to know what is stored: whether a pair has its negative, whether a judgement
changed, and which split a sentence is in, if splits are drawn."""


KNOWN_LABELS: Columns = {
    "label_id": pl.String,
    "shard": pl.String,
    "corpus": pl.String,
    "split": pl.String,
    "sentence": pl.String,
    "aspect": pl.String,
    "label": pl.String,
}
"""Columns of `labels` that ingest needs to know what is stored: whether a label was corrected, and the split of a text,
which it keeps."""


class Known:
    """The stored sentences, pairs and labels: columns of `KNOWN_SENTENCES` and so on; `ingest` says the rest."""

    def __init__(
        self,
        sentences: pl.DataFrame,
        pairs: pl.DataFrame,
        labels: pl.DataFrame,
        placed: pl.DataFrame | None = None,
        admits: Callable[[PairId | LabelId], bool] | None = None,
        placed_labels: pl.DataFrame | None = None,
    ) -> None:
        _require(sentences, KNOWN_SENTENCES, "sentences")
        _require(pairs, KNOWN_PAIRS, "pairs")
        _require(labels, KNOWN_LABELS, "labels")
        self.judgements = pairs
        self.labels = labels
        self._placed = pairs if placed is None else placed
        self.admits = admits or (lambda _: True)
        self.shard_of: dict[SentenceId, Shard] = {}
        self.pair_ids: set[PairId] = set()
        self.with_negative: set[PairId] = set()
        self.with_neighbours: set[tuple[str, SentenceId]] = set()
        self.pair_shards: list[Shard] = []
        self.label_of: dict[LabelId, str] = {}
        self.splits_of_text: dict[tuple[str, SentenceId], tuple[Split, ...]] = {}
        self.label_shards: list[Shard] = []
        if sentences.height:
            self.shard_of = dict(zip(sentences["sentence_id"].to_list(), sentences["shard"].to_list(), strict=True))
        if pairs.height:
            self.pair_ids = set(pairs["pair_id"].to_list())
            self.with_negative = set(pairs["positive_id"].drop_nulls().to_list())
            drawn = pairs.filter(kind="neighbour")
            for side in ("sentence_a", "sentence_b"):
                self.with_neighbours |= set(drawn.select("corpus", side).iter_rows())
            self.pair_shards = pairs["shard"].unique().to_list()
        if labels.height:
            self.label_of = dict(zip(labels["label_id"].to_list(), labels["label"].to_list(), strict=True))
            self.label_shards = labels["shard"].unique().to_list()
        placed_labels = labels if placed_labels is None else placed_labels
        if placed_labels.height:
            of_texts = placed_labels.group_by("corpus", "sentence").agg(pl.col("split").unique().sort())
            self.splits_of_text = {
                (corpus, sentence): tuple(splits) for corpus, sentence, splits in of_texts.iter_rows()
            }

    def splits_of_pairs(self, corpus: str) -> set[Split]:
        """Return the splits of a corpus for which the store has pairs."""
        return {split for _, _, split in self.split_pairs(corpus)}

    def paired(self, corpus: str) -> set[tuple[SentenceId, SentenceId]]:
        """Return both sentences of the stored pairs of a corpus, of every kind."""
        if not self.judgements.height:
            return set()
        return set(self.judgements.filter(corpus=corpus).select("sentence_a", "sentence_b").iter_rows())

    def splits_of_texts(self, corpus: str) -> set[Split]:
        """Return the splits of a corpus for which the store has texts."""
        return {split for (name, _), splits in self.splits_of_text.items() if name == corpus for split in splits}

    def split_pairs(self, corpus: str) -> Iterator[tuple[SentenceId, SentenceId, Split]]:
        """Yield both sentences and the split of the stored pairs of a corpus."""
        if self._placed.height:
            yield from self._placed.filter(corpus=corpus).select("sentence_a", "sentence_b", "split").iter_rows()


def _require(frame: pl.DataFrame, columns: Columns, table: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing and frame.height:
        raise UnknownShard(f"the known {table} lack the columns {missing}: read {list(columns)} from the store.")
