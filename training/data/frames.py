"""Semantic roles of training sentences; nothing is tagged here.

Release, table `srl` ──from_store──┐
                                   ├── Frames ──find──> a row or None for each sentence
frames.parquet ─────────from_file──┘      └──export──> a machine without a store
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from features.core.faults import SeveralParsers
from features.core.files import read_table, write_table
from features.parsers.settings import Precision, PredicatesBy
from features.stages.srl import SRL_STAGE
from training.data.parsed_sentences import ParsedSentences, choose_sentences
from training.data.releases import OpenRelease

_WORDS = ("words", "span_labels")
_POSITIONS = ("predicates", "span_frames", "span_starts", "span_ends")
_TOLD = ("weights", "predicates_by", "precision", "max_words")
_COLUMNS = ("text", "parser", *_TOLD, *_WORDS, *_POSITIONS)


@dataclass(frozen=True, slots=True)
class Frames(ParsedSentences):
    """Frames of sentences, all by one tagger.

    Args:
        table: `text`, and the columns of the table `srl`; sorted by text. A rejected sentence has no row, and one
            without a predicate has a row without frames.
        parser: name of the tagger, as in the column `parser`.
        weights: digest of the tagger, as in the recipe of the release.
        predicates_by: what found the predicates (`predicates` under [srl]).
        precision: precision of the tagger (`precision` under [srl]).
        max_words: maximum length of a sentence to tag.
    """

    WORDS: ClassVar[tuple[str, ...]] = _WORDS
    POSITIONS: ClassVar[tuple[str, ...]] = _POSITIONS

    parser: str
    weights: str
    predicates_by: PredicatesBy
    precision: Precision
    max_words: int

    @property
    def tagger(self) -> str:
        """The name of the tagger as in `model` under [srl]; only the last part if that is a folder."""
        return self.parser.partition("/")[2]

    @property
    def roles(self) -> list[str]:
        """The roles that occur, sorted."""
        return sorted(self.table["span_labels"].explode().drop_nulls().unique().to_list())

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any frame, and with the tagger."""
        told = f"{self.parser} {self.weights} {self.predicates_by} {self.precision} {self.max_words}"
        return self.digest_with(told, counted=("words", "predicates", "span_frames"))

    def export(self, path: Path) -> None:
        """Write the frames as a Parquet file that `from_file` reads."""
        told = (pl.lit(getattr(self, name)).alias(name) for name in ("parser", *_TOLD))
        write_table(self.table.with_columns(*told).select(_COLUMNS), path)

    @classmethod
    def from_file(cls, path: Path, texts: Sequence[str] | None) -> Self:
        """Read the frames of some sentences from a file of `export`.

        Raises:
            InputError: when the file is missing, damaged or lacks a column, is of several taggers, or none of the
                sentences has a row.
        """
        table = read_table(path, _COLUMNS)
        told = table.select(_TOLD).unique()
        if told.height > 1:
            raise SeveralParsers(f"{str(path)!r} has frames of {told.height} taggers: export those of one.")
        return cls._of(table, texts, told.row(0, named=True) if told.height else {}, repr(str(path)))

    @classmethod
    def from_store(cls, root: Path, texts: Sequence[str] | None, *, release: int | None = None) -> Self:
        """Read the frames of some sentences from a release.

        Args:
            root: folder of the store.
            texts: the sentences; all when None.
            release: number of the release; the latest when missing.

        Raises:
            StoreError: when the store or the release does not exist, or a file of it has changed since it was written.
            InputError: when none of the sentences has a row.
        """
        pinned = OpenRelease(root, release)
        if SRL_STAGE.name not in pinned:
            raise pinned.lacks("no semantic roles: remove `enabled = false` from [srl] if it is there, and build again")
        named = pinned.read("sentences", ("sentence_id", "text"))
        frames = pinned.read(SRL_STAGE.name, ("sentence_id", "parser", *_WORDS, *_POSITIONS))
        recipe = pinned.parameters(SRL_STAGE.name)
        told = {"weights": pinned.weights(SRL_STAGE.name), "predicates_by": recipe["predicates"]}
        told |= {name: recipe[name] for name in ("precision", "max_words")}
        return cls._of(named.join(frames, on="sentence_id", how="inner"), texts, told, pinned.name)

    @classmethod
    def _of(cls, table: pl.DataFrame, texts: Sequence[str] | None, told: Mapping[str, Any], where: str) -> Self:
        """Return the frames of some sentences in a table with `text`, `parser` and the columns of `srl`."""
        frames, parser = choose_sentences(
            table,
            texts,
            (*_WORDS, *_POSITIONS),
            where=where,
            what="semantic roles",
            remedy='build again without `enabled` under [srl], or set `spans = "none"`',
        )
        return cls(frames, parser, **told)
