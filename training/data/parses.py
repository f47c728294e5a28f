"""The dependency trees of sentences that something is learnt from; nothing is parsed here.

Release, table `dependencies` ──from_store──┐
                                            ├── Parses ──find──> a tree or None for each sentence
parses.parquet ─────────────────from_file───┘      └──export──> a machine without a store
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from features.errors import InputError
from features.files import read_table, write_table
from training.data.releases import OpenRelease

_TREE: tuple[str, ...] = ("tokens", "starts", "heads", "relations")
_COLUMNS = ("text", "parser", "max_words", *_TREE)


@dataclass(frozen=True, slots=True)
class Parses:
    """Trees of sentences, all by one parser.

    Args:
        table: `text`, and `tokens`, `starts`, `heads` and `relations` as the table `dependencies` has them; sorted by
            text. A sentence that was rejected has no row.
        parser: name and version of the parser, as the column `parser` has it.
        max_words: of the longest sentence that it parses.
    """

    table: pl.DataFrame
    parser: str
    max_words: int
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {text: place for place, text in enumerate(self.table["text"])})

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.table.height

    def __contains__(self, text: str) -> bool:
        """Return whether a sentence has a tree."""
        return text in self._places

    @property
    def pipeline(self) -> str:
        """The name of the parser without its version: `en_core_web_md`."""
        return self.parser.partition("/")[2].rpartition("-")[0]

    def find(self, texts: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return the tree of each sentence, None where it has none."""
        places = [self._places.get(text) for text in texts]
        rows = self.table[[place for place in places if place is not None]].select(_TREE).iter_rows(named=True)
        return [None if place is None else next(rows) for place in places]

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any tree, and with the parser."""
        hashed = hashlib.blake2b(f"{self.parser} {self.max_words}".encode(), digest_size=10)
        for column in ("text", "tokens", "relations"):
            words = self.table[column] if column == "text" else self.table[column].explode().drop_nulls()
            hashed.update("\0".join(words).encode())
        for column in ("starts", "heads"):
            hashed.update(self.table[column].explode().drop_nulls().to_numpy().astype(np.int64).tobytes())
        return hashed.hexdigest()

    def export(self, path: Path) -> None:
        """Write the trees as a Parquet file that `from_file` reads."""
        told = self.table.with_columns(pl.lit(self.parser).alias("parser"), pl.lit(self.max_words).alias("max_words"))
        write_table(told.select(_COLUMNS), path)

    @classmethod
    def from_file(cls, path: Path, texts: Sequence[str]) -> Self:
        """Read the trees of some sentences from a file of `export`.

        Raises:
            InputError: when the file is missing, damaged or lacks a column, or none of the sentences has a tree.
        """
        table = read_table(path, _COLUMNS)
        return cls._of(table, texts, int(table["max_words"].max() or 0), repr(str(path)))  # type: ignore[arg-type]

    @classmethod
    def from_store(cls, root: Path, texts: Sequence[str], *, release: int | None = None) -> Self:
        """Read the trees of some sentences from a release.

        Args:
            root: folder of the store.
            texts: the sentences.
            release: number of the release; the latest when missing.

        Raises:
            StoreError: when the store or the release does not exist, or a file of it is not what was written.
            InputError: when none of the sentences has a tree.
        """
        pinned = OpenRelease(root, release)
        if "dependencies" not in pinned:
            raise pinned.lacks(
                "no dependency trees: take `enabled = false` out of [dependencies] where it stands, and build again"
            )
        named = pinned.read("sentences", ("sentence_id", "text"))
        trees = pinned.read("dependencies", ("sentence_id", "parser", *_TREE))
        max_words = int(pinned.parameters("dependencies")["max_words"])
        return cls._of(named.join(trees, on="sentence_id", how="inner"), texts, max_words, pinned.name)

    @classmethod
    def _of(cls, table: pl.DataFrame, texts: Sequence[str], max_words: int, where: str) -> Self:
        """Return the trees of some sentences in a table with `text`, `parser` and the columns of trees."""
        table = table.filter(pl.col("text").is_in(pl.Series(texts, dtype=pl.String).implode()))
        if not table.height:
            raise InputError(
                f"{where} has no dependency tree of any of the {len(texts):,} sentences to learn from: build again "
                "with `enabled` under [dependencies] left out, or set `graph = false`."
            )
        parsers = table["parser"].unique().sort().to_list()
        if len(parsers) > 1:
            raise InputError(f"{where} has trees of several parsers ({', '.join(parsers)}): build again with one.")
        return cls(table.select("text", *_TREE).unique("text").sort("text"), parsers[0], max_words)
