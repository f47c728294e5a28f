"""Pairs of texts as tables: each text is stored once, and each row has the positions of its two.

text_a  text_b           texts       first  second
A dog.  A cat.    ──>    0  A cat.       1       0
A cat.  A cow.           1  A dog.       0       2
                         2  A cow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from training.data.releases import OpenRelease

TEXTS = ("text_a", "text_b")
POSITIONS = ("first", "second")


@dataclass(frozen=True, slots=True)
class IndexedPairs:
    """Pairs of sentences; each sentence is stored once.

    Args:
        texts: the unique sentences, (n_texts,).
        pairs: one row per pair, with `POSITIONS` in `texts`.
    """

    texts: tuple[str, ...]
    pairs: pl.DataFrame

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self.pairs.height

    @property
    def first(self) -> NDArray[np.int64]:
        """Positions of the sentences a in `texts`, (n_pairs,)."""
        return self.pairs["first"].to_numpy()

    @property
    def second(self) -> NDArray[np.int64]:
        """Positions of the sentences b in `texts`, (n_pairs,)."""
        return self.pairs["second"].to_numpy()


def index_texts(table: pl.DataFrame) -> tuple[tuple[str, ...], pl.DataFrame]:
    """Return the unique texts of a table with `TEXTS`, in order, and the table with `POSITIONS` (int64) added."""
    texts = pl.concat([table[name].alias("text") for name in TEXTS]).unique(maintain_order=True)
    numbered = pl.DataFrame({"text": texts}).with_row_index("position")
    pairs = table
    for text, position in zip(TEXTS, POSITIONS, strict=True):
        named = numbered.select(pl.col("text").alias(text), pl.col("position").cast(pl.Int64).alias(position))
        pairs = pairs.join(named, on=text, how="left", maintain_order="left")
    return tuple(texts.to_list()), pairs


def index_sentences(pinned: OpenRelease, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the sentences of pairs of a release (`OpenRelease.texts_of`), and the pairs with `POSITIONS` in them.

    Args:
        pinned: the release.
        pairs: table with the columns `sentence_a` and `sentence_b`.
    """
    sentences = pinned.texts_of(pl.concat([pairs["sentence_a"], pairs["sentence_b"]]))
    for entity, position in (("sentence_a", "first"), ("sentence_b", "second")):
        named = sentences.select(pl.col("sentence_id").alias(entity), pl.col("position").alias(position))
        pairs = pairs.join(named, on=entity, how="inner", maintain_order="left")
    return sentences, pairs


def keep_texts_of(pairs: pl.DataFrame) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """Return which texts some pairs need, and the pairs with `POSITIONS` among only these texts.

    Args:
        pairs: some rows of a table with `POSITIONS`.

    Returns:
        Positions of the needed texts, ascending, (n_kept,), and the table.
    """
    used = np.union1d(*(pairs[name].to_numpy() for name in POSITIONS))
    moved = [pl.Series(name, np.searchsorted(used, pairs[name].to_numpy()), dtype=pl.Int64) for name in POSITIONS]
    return used, pairs.with_columns(moved)


def with_texts(texts: Sequence[str], pairs: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return some columns of pairs, then `TEXTS`."""
    known = pl.Series(texts, dtype=pl.String)
    return pairs.select(
        *columns, *(known.gather(pairs[place]).alias(name) for name, place in zip(TEXTS, POSITIONS, strict=True))
    )
