"""Measured pairs in memory for training and evaluation, from a release of the store or from one table.

Release ──from_store──┐
                      ├── MeasuredPairs ──select──> train, dev, test
pairs.parquet ──from_file─┘      └──export──> a machine without a store (a GPU box)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import RowWrong
from features.core.files import read_table
from features.metrics.registry import METRIC_NAMES
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.metrics import METRIC_STAGE
from features.store.locations import Location
from training.data.pair_tables import POSITIONS, SENTENCES, TEXTS, IndexedPairs, digest_of, index_sentences, index_texts
from training.data.releases import OpenRelease


@dataclass(frozen=True, slots=True)
class MeasuredPairs(IndexedPairs):
    """Pairs of sentences with their metrics, first the built-in ones, then the project's."""

    EXPORT: ClassVar[str] = "pairs"
    WHAT: ClassVar[str] = "measured pairs"
    COLUMNS: ClassVar[tuple[str, ...]] = ("pair_id", "corpus", "split", "kind", "positive_id", "score")

    teacher: NDArray[np.float32] | None = None  # its embeddings of `texts`, (n_texts, d); an export has none
    teacher_digest: str = ""  # digest of the teacher's files; empty if unknown

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics, in the order of their columns."""
        return _metrics_of(self.pairs)

    def metrics(self, names: Sequence[str] | None = None) -> NDArray[np.float32]:
        """Return the values of some metrics, by default of all, (n_pairs, n_names)."""
        chosen = self.metric_names if names is None else names
        return self.pairs.select(pl.col(list(chosen)).cast(pl.Float32)).to_numpy()

    def _text_fields(self, positions: NDArray[np.int64]) -> dict[str, Any]:
        return {"teacher": None if self.teacher is None else self.teacher[positions]}

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any text, pair, metric or teacher vector."""
        columns = ("pair_id", "positive_id", "corpus", "split", "kind")
        words = (self.pairs[column].fill_null("").str.join("\0")[0].encode() for column in columns)
        arrays = (self.first, self.second, self.metrics(), np.empty(0) if self.teacher is None else self.teacher)
        return digest_of(self.texts, *words, *(np.ascontiguousarray(array).tobytes() for array in arrays))

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a table of `export`, in which every other column is a metric; errors as for `read_table`."""
        table = read_table(path, (*cls.COLUMNS, *TEXTS, *METRIC_NAMES), further=True)
        return cls.from_table(table, source={"file": path.name})

    @classmethod
    def from_table(cls, table: pl.DataFrame, *, source: dict[str, Any]) -> Self:
        """Make measured pairs from a table with `COLUMNS`, `text_a`, `text_b` and the metrics."""
        texts, pairs = index_texts(table)
        pairs = pairs.select(
            *cls.COLUMNS, *POSITIONS, *METRIC_NAMES, pl.exclude(*cls.COLUMNS, *POSITIONS, *TEXTS, *METRIC_NAMES)
        )
        return cls(texts, _checked(pairs, repr(source.get("file"))), source=source)

    @classmethod
    def from_store(cls, root: Location, *, release: int | None = None) -> Self:
        """Read the measured pairs of a release, by default the latest; pairs that a stage rejected are left out."""
        pinned = OpenRelease(root, release)
        if METRIC_STAGE.name not in pinned:
            raise pinned.lacks("no metrics: set `enabled = true` in [metrics] of the project file and build again")
        # Only the columns that this release was measured with: the table may have others from older recipes.
        table = pinned.read(METRIC_STAGE.name)
        own = pinned.recipe(METRIC_STAGE.name).parameters.get("own", {})
        metrics = (*METRIC_NAMES, *(name for name in table.columns if name in own))
        measured = (
            pinned.read("pairs", (*cls.COLUMNS, *SENTENCES))
            .join(table.select("pair_id", *metrics), on="pair_id", how="inner")
            .sort("pair_id")  # the order of rows in a store is not guaranteed
        )
        # Sentences without a measured pair may lack an embedding: no encoder reads them.
        sentences, measured = index_sentences(pinned, measured)
        if not measured.height:
            raise pinned.lacks("no measured pair; build the features first")
        embedded = EMBEDDING_STAGE.name in pinned
        return cls(
            texts=tuple(sentences["text"]),
            pairs=_checked(measured.select(*cls.COLUMNS, *POSITIONS, *metrics), str(root)),
            teacher=_teacher(pinned, sentences) if embedded else None,
            teacher_digest=(embedded and pinned.recipe(EMBEDDING_STAGE.name).weights) or "",
            source=pinned.source,
        )


def _teacher(pinned: OpenRelease, sentences: pl.DataFrame) -> NDArray[np.float32] | None:
    """Return the vectors in the order of the sentences; None unless every sentence has one."""
    embeddings = pinned.read(EMBEDDING_STAGE.name, ("sentence_id", "vector"))
    joined = sentences.join(embeddings, on="sentence_id", how="left", maintain_order="left")
    if joined["vector"].null_count():
        return None
    vectors = joined["vector"].explode().to_numpy(writable=True)  # torch warns of an array that is not
    return vectors.reshape(joined.height, -1).astype(np.float32, copy=False)


def _metrics_of(pairs: pl.DataFrame) -> tuple[str, ...]:
    return tuple(name for name in pairs.columns if name not in {*MeasuredPairs.COLUMNS, *POSITIONS})


def _checked(pairs: pl.DataFrame, origin: str) -> pl.DataFrame:
    for name in _metrics_of(pairs):
        if not pairs.schema[name].is_numeric():
            raise RowWrong(f"metric {name!r} in {origin} has type {pairs.schema[name]}, not numbers; leave it out")
        bad = pairs.filter(~pl.col(name).is_finite().fill_null(value=False))
        if bad.height:
            raise RowWrong(
                f"metric {name!r} of pair {bad['pair_id'][0]!r} is {bad[name][0]!r} in {origin}; "
                "it must be a number: measure the pairs again"
            )
    return pairs
