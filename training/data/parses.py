"""Dependency trees of training sentences; nothing is parsed here.

Release, table `dependencies` ──from_store──┐
                                            ├── Parses ──find──> a tree or None for each sentence
parses.parquet ─────────────────from_file───┘      └──export──> a machine without a store
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from features.core.files import read_table, write_table
from features.stages.dependencies import DEPENDENCY_STAGE
from training.data.parsed_sentences import ParsedSentences, choose_sentences
from training.data.releases import OpenRelease

_TREE: tuple[str, ...] = ("tokens", "starts", "heads", "relations")
_COLUMNS = ("text", "parser", "max_words", *_TREE)


@dataclass(frozen=True, slots=True)
class Parses(ParsedSentences):
    """Trees of sentences, all by one parser.

    Args:
        table: `text`, and `tokens`, `starts`, `heads` and `relations` as in the table `dependencies`; sorted by text. A
            rejected sentence has no row.
        parser: name and version of the parser, as in the column `parser`.
        max_words: maximum length of a sentence to parse.
    """

    WORDS: ClassVar[tuple[str, ...]] = ("tokens", "relations")
    POSITIONS: ClassVar[tuple[str, ...]] = ("starts", "heads")

    parser: str
    max_words: int

    @property
    def pipeline(self) -> str:
        """The name of the parser without its version: `en_core_web_md`."""
        return self.parser.partition("/")[2].rpartition("-")[0]

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any tree, and with the parser."""
        return self.digest_with(f"{self.parser} {self.max_words}")

    def export(self, path: Path) -> None:
        """Write the trees as a Parquet file that `from_file` reads."""
        told = self.table.with_columns(pl.lit(self.parser).alias("parser"), pl.lit(self.max_words).alias("max_words"))
        write_table(told.select(_COLUMNS), path)

    @classmethod
    def from_file(cls, path: Path, texts: Sequence[str] | None) -> Self:
        """Read the trees of some sentences from a file of `export`.

        Raises:
            InputError: when the file is missing, damaged or lacks a column, or none of the sentences has a tree.
        """
        table = read_table(path, _COLUMNS)
        return cls._of(table, texts, int(table["max_words"].max() or 0), repr(str(path)))  # type: ignore[arg-type]

    @classmethod
    def from_store(cls, root: Path, texts: Sequence[str] | None, *, release: int | None = None) -> Self:
        """Read the trees of some sentences from a release.

        Args:
            root: folder of the store.
            texts: the sentences; all when None.
            release: number of the release; the latest when missing.

        Raises:
            StoreError: when the store or the release does not exist, or a file of it has changed since it was written.
            InputError: when none of the sentences has a tree.
        """
        pinned = OpenRelease(root, release)
        if DEPENDENCY_STAGE.name not in pinned:
            raise pinned.lacks(
                "no dependency trees: remove `enabled = false` from [dependencies] if it is there, and build again"
            )
        named = pinned.read("sentences", ("sentence_id", "text"))
        trees = pinned.read(DEPENDENCY_STAGE.name, ("sentence_id", "parser", *_TREE))
        max_words = int(pinned.parameters(DEPENDENCY_STAGE.name)["max_words"])
        return cls._of(named.join(trees, on="sentence_id", how="inner"), texts, max_words, pinned.name)

    @classmethod
    def _of(cls, table: pl.DataFrame, texts: Sequence[str] | None, max_words: int, where: str) -> Self:
        """Return the trees of some sentences in a table with `text`, `parser` and the columns of trees."""
        trees, parser = choose_sentences(
            table,
            texts,
            _TREE,
            where=where,
            what="dependency trees",
            remedy="build again without `enabled` under [dependencies], or set `graph = false`",
        )
        return cls(trees, parser, max_words)
