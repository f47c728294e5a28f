"""What is already in the store."""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from features.core.faults import UnknownShard
from features.core.types import LabelId, PairId, SentenceId, Shard, Split
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


class Known:
    """The stored sentences, pairs and labels: columns of `KNOWN_SENTENCES` and so on; `ingest` says the rest."""

    def __init__(
        self,
        sentences: pl.DataFrame,
        pairs: pl.DataFrame,
        labels: pl.DataFrame | None,
        placed: pl.DataFrame | None = None,
        admits: Callable[[PairId | LabelId], bool] | None = None,
        placed_labels: pl.DataFrame | None = None,
        unread: Sequence[str] = (),
    ) -> None:
        sentences = _checked(sentences, KNOWN_SENTENCES, "sentences")
        self.judgements = _checked(pairs, KNOWN_PAIRS, "pairs")
        self.labels = _checked(labels, KNOWN_LABELS, "labels")
        self._placed = self.judgements if placed is None else _checked(placed, KNOWN_PAIRS, "pairs")
        self.admits = admits or (lambda _: True)
        self.shard_of: dict[SentenceId, Shard] = dict(
            zip(sentences["sentence_id"].to_list(), sentences["shard"].to_list(), strict=True)
        )
        of_read = self.judgements.filter(~pl.col("corpus").is_in(unread))  # nothing is added to the others
        self.pair_ids: set[PairId] = set(of_read["pair_id"].to_list())
        self.with_negative: set[PairId] = set(of_read["positive_id"].drop_nulls().to_list())
        drawn = of_read.filter(kind="neighbour")
        self.with_neighbours: set[tuple[str, SentenceId]] = {
            key for side in ("sentence_a", "sentence_b") for key in drawn.select("corpus", side).iter_rows()
        }
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

    def splits_of_pairs(self, corpus: str) -> set[Split]:
        """Return the splits of a corpus for which the store has pairs."""
        return {split for _, _, split in self.split_pairs(corpus)}

    def paired(self, corpus: str) -> set[tuple[SentenceId, SentenceId]]:
        """Return both sentences of the stored pairs of a corpus, of every kind."""
        return set(self.judgements.filter(corpus=corpus).select("sentence_a", "sentence_b").iter_rows())

    def splits_of_texts(self, corpus: str) -> set[Split]:
        """Return the splits of a corpus for which the store has texts."""
        return {split for (name, _), splits in self.splits_of_text.items() if name == corpus for split in splits}

    def split_pairs(self, corpus: str) -> Iterator[tuple[SentenceId, SentenceId, Split]]:
        """Return both sentences and the split of the stored pairs of a corpus."""
        return self._placed.filter(corpus=corpus).select("sentence_a", "sentence_b", "split").iter_rows()


def _checked(frame: pl.DataFrame | None, columns: Columns, table: str) -> pl.DataFrame:
    """Return rows with at least these columns; with them, if there is no row."""
    if frame is None or not frame.height:
        return pl.DataFrame(schema=columns)
    if missing := [name for name in columns if name not in frame.columns]:
        raise UnknownShard(f"the known {table} lack the columns {missing}: read {list(columns)} from the store.")
    return frame
