"""Training data of kinds that need pairs with a human label: entailment or not, paraphrase or not.

Release ──from_store──┐
                      ├── LabelledPairs ──select──> train, dev, test
pairs.parquet ─from_file┘      └──export──> a machine without a store
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.store.locations import Location
from training.data.pair_tables import POSITIONS, SENTENCES, TEXTS, IndexedPairs, digest_of, index_sentences, index_texts
from training.data.releases import OpenRelease, read_export


@dataclass(frozen=True, slots=True)
class LabelledPairs(IndexedPairs):
    """Pairs of sentences, each with a label."""

    EXPORT: ClassVar[str] = "judged"
    WHAT: ClassVar[str] = "pairs with labels"
    COLUMNS: ClassVar[tuple[str, ...]] = ("pair_id", "corpus", "split", "label")

    @property
    def labels_by_corpus(self) -> dict[str, tuple[str, ...]]:
        """Corpus → the sorted labels of its pairs."""
        labels = self.pairs.group_by("corpus").agg(pl.col("label").unique().sort()).sort("corpus")
        return {corpus: tuple(of_corpus) for corpus, of_corpus in labels.iter_rows()}

    def targets(self, labels: Collection[str]) -> NDArray[np.int64]:
        """Return the number of each pair's label among some labels, (n_pairs,); -1 if it is not among them."""
        numbers = pl.int_range(len(labels), dtype=pl.Int64, eager=True)
        return self.pairs["label"].replace_strict(list(labels), numbers, default=-1, return_dtype=pl.Int64).to_numpy()

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any text, pair or label."""
        columns = ("\0".join(self.pairs[column]).encode() for column in self.COLUMNS)
        return digest_of(self.texts, *columns, self.first.tobytes(), self.second.tobytes())

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a table of `export`; errors as for `read_export`."""
        return cls.from_table(read_export(path, (*cls.COLUMNS, *TEXTS)), source={"file": path.name})

    @classmethod
    def from_table(cls, table: pl.DataFrame, *, source: dict[str, Any]) -> Self:
        """Make labelled pairs from a table with `COLUMNS`, `text_a` and `text_b`."""
        texts, pairs = index_texts(table)
        return cls(texts, pairs.select(*cls.COLUMNS, *POSITIONS), source=source)

    @classmethod
    def from_store(cls, root: Location, *, release: int | None = None) -> Self:
        """Read the pairs of a release, by default the latest, that have a label; this needs no stage."""
        pinned = OpenRelease(root, release)
        judged = (
            pinned.read("pairs", (*cls.COLUMNS, *SENTENCES))
            .filter(pl.col("label").is_not_null())
            .sort("pair_id")  # the order of rows in a store is not guaranteed
        )
        if not judged.height:
            raise pinned.lacks("no pair with a label: name judged pairs under [[corpora]] and build again")
        sentences, judged = index_sentences(pinned, judged)
        return cls(tuple(sentences["text"]), judged.select(*cls.COLUMNS, *POSITIONS), source=pinned.source)
