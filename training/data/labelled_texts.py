"""Data of kinds that are trained and evaluated on texts with labels instead of pairs: from a release or a table.

text                             aspect   label
Adam: A Method for Stochastic …  task     stochastic optimization
                                 area     methodology
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from features.core.files import write_table
from features.store.locations import Location
from training.data.pair_tables import digest_of
from training.data.releases import OpenRelease, choose_rows, read_export

LABEL_COLUMNS: tuple[str, ...] = ("corpus", "split", "aspect", "label")
_TABLE = ("text", *LABEL_COLUMNS)


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """Texts with labels in one or several aspects; each text is stored once."""

    EXPORT: ClassVar[str] = "texts"
    WHAT: ClassVar[str] = "texts with labels"

    texts: tuple[str, ...]  # the unique texts, (n_texts,)
    labels: pl.DataFrame  # one row per label of a text: `text` (its position in `texts`, int64) and `LABEL_COLUMNS`
    source: dict[str, Any] = field(default_factory=dict)  # for model cards: release and versions, or file

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects of the labels, sorted."""
        return tuple(sorted(self.labels["aspect"].unique()))

    @property
    def corpora(self) -> list[str]:
        """The corpora of the labels, sorted."""
        return sorted(self.labels["corpus"].unique())

    @property
    def by_split(self) -> dict[str, int]:
        """Split → number of its texts, sorted."""
        return dict(self.labels.group_by("split").agg(pl.col("text").n_unique()).sort("split").iter_rows())

    def select(self, *, splits: Collection[str] = (), corpora: Collection[str] = ()) -> Self:
        """Return the labels of some splits and corpora (all when empty), with only their texts."""
        kept = choose_rows(self.labels, split=splits, corpus=corpora)
        used = np.unique(kept["text"].to_numpy())
        return type(self)(
            texts=tuple(self.texts[position] for position in used),
            labels=kept.with_columns(pl.Series("text", np.searchsorted(used, kept["text"].to_numpy()), dtype=pl.Int64)),
            source=self.source,
        )

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any text or label."""
        columns = ("\0".join(self.labels[column]).encode() for column in LABEL_COLUMNS)
        return digest_of(self.texts, self.labels["text"].to_numpy().tobytes(), *columns)

    def export(self, path: Path) -> None:
        """Write texts and labels as one table that `from_file` reads, one row per label."""
        texts = pl.Series("text", self.texts, dtype=pl.String)
        write_table(self.labels.select(texts.gather(self.labels["text"]), *LABEL_COLUMNS), path)

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a table of `export`; errors as for `read_export`."""
        return cls.from_table(read_export(path, _TABLE), source={"file": path.name})

    @classmethod
    def from_table(cls, table: pl.DataFrame, *, source: dict[str, Any]) -> Self:
        """Make labelled texts from a table with `text` and `LABEL_COLUMNS`, in which rows may repeat."""
        rows = table.select(_TABLE).unique().sort(_TABLE)
        texts = tuple(rows["text"].unique(maintain_order=True))
        labels = rows.with_columns(pl.col("text").rle_id().cast(pl.Int64))
        return cls(texts, labels, source)

    @classmethod
    def from_store(cls, root: Location, *, release: int | None = None) -> Self:
        """Read the texts of a release, by default the latest, that have labels."""
        pinned = OpenRelease(root, release)
        rows = pinned.read("labels", ("sentence", *LABEL_COLUMNS)) if "labels" in pinned else pl.DataFrame()
        if not rows.height:
            raise pinned.lacks("no labels: name a corpus of texts with labels under [[corpora]] and build again")
        texts = pinned.texts_of(rows["sentence"]).select(pl.col("sentence_id").alias("sentence"), "text")
        named = rows.join(texts, on="sentence", how="inner")
        return cls.from_table(named, source=pinned.source)
