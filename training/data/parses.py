"""Parses of training sentences, found by their text; nothing is parsed here.

Release, table `dependencies` or `srl` ──from_store──┐
                                                     ├── Parses, Frames ──find──> a parse or None for each sentence
parses.parquet, frames.parquet ──────────from_file───┘       └──export──> a machine without a store
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from features.core.faults import ReleaseLacks, SeveralParsers
from features.core.files import read_table, write_table
from features.parsers.settings import Precision, PredicatesBy
from features.stages.dependencies import DEPENDENCY_STAGE
from features.stages.srl import SRL_STAGE
from features.store.locations import Location
from training.data.pair_tables import digest_of
from training.data.releases import OpenRelease


@dataclass(frozen=True, slots=True)
class ParsedSentences:
    """Parses of sentences, all by one parser."""

    STAGE: ClassVar[str]
    EXPORT: ClassVar[str]
    WHAT: ClassVar[str]
    """What it is called in messages."""
    UNREAD: ClassVar[str]
    """Setting of an encoder that reads none."""
    WORDS: ClassVar[tuple[str, ...]]
    """Columns of lists of text."""
    POSITIONS: ClassVar[tuple[str, ...]]
    """Columns of lists of numbers."""
    COUNTED: ClassVar[tuple[str, ...]] = ()
    """Columns whose lengths do not follow from the other columns."""
    RECIPE: ClassVar[Mapping[str, str]]
    """What else is known of the parser → parameter of the stage's recipe; empty for the digest of its model."""

    table: pl.DataFrame  # `text`, and `WORDS` and `POSITIONS` as in the stage's table, sorted by text; none of rejects
    parser: str  # name of the parser, as in the column `parser`
    _rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rows", {text: position for position, text in enumerate(self.table["text"])})

    def __len__(self) -> int:
        return self.table.height

    def find(self, texts: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return the parse of each sentence, None if it has none."""
        positions = [self._rows.get(text) for text in texts]
        chosen = self.table[[position for position in positions if position is not None]]
        rows = chosen.select(*self.WORDS, *self.POSITIONS).iter_rows(named=True)
        return [None if position is None else next(rows) for position in positions]

    def digest(self) -> str:
        """Return 20 hexadecimal digits that change with any parse, and with the parser."""
        by = " ".join(str(getattr(self, name)) for name in ("parser", *self.RECIPE))
        words = [self.table["text"], *(self.table[column].explode().drop_nulls() for column in self.WORDS)]
        numbers = [self.table[column].explode().drop_nulls() for column in self.POSITIONS]
        numbers += [self.table[column].list.len() for column in self.COUNTED]
        parts = ["\0".join(values).encode() for values in words]
        parts += [values.to_numpy().astype(np.int64).tobytes() for values in numbers]
        return digest_of((), by.encode(), *parts)

    def export(self, path: Path) -> None:
        """Write the parses as a Parquet file that `from_file` reads."""
        by = (pl.lit(getattr(self, name)).alias(name) for name in ("parser", *self.RECIPE))
        write_table(self.table.with_columns(*by), path)

    @classmethod
    def from_file(cls, path: Path, texts: Sequence[str] | None) -> Self:
        """Read the parses of some sentences, or of all, from a file of `export`."""
        table = read_table(path, ("text", "parser", *cls.RECIPE, *cls.WORDS, *cls.POSITIONS))
        return cls._of(table, texts, repr(str(path)))

    @classmethod
    def from_store(cls, root: Location, texts: Sequence[str] | None, *, release: int | None = None) -> Self:
        """Read the parses of some sentences, or of all, from a release, by default the latest."""
        pinned = OpenRelease(root, release)
        if cls.STAGE not in pinned:
            enabled = f"set `enabled = true` in [{cls.STAGE}] of the project that builds it, and build again"
            raise pinned.lacks(f"no {cls.WHAT}: {enabled}")
        sentences = pinned.read("sentences", ("sentence_id", "text"))
        parses = pinned.read(cls.STAGE, ("sentence_id", "parser", *cls.WORDS, *cls.POSITIONS))
        recipe = pinned.recipe(cls.STAGE)
        weights = recipe.weights or ""
        by = {name: pl.lit(recipe.parameters[key] if key else weights) for name, key in cls.RECIPE.items()}
        table = sentences.join(parses, on="sentence_id", how="inner").with_columns(**by)
        return cls._of(table, texts, pinned.name, weights=weights)

    @classmethod
    def _of(cls, table: pl.DataFrame, texts: Sequence[str] | None, where: str, **recorded: str) -> Self:
        if texts is not None:
            table = table.filter(pl.col("text").is_in(pl.Series(texts, dtype=pl.String).implode()))
        if not table.height:
            missing = "" if texts is None else f" for any of the {len(texts):,} training sentences"
            remedy = f"build again without `enabled` under [{cls.STAGE}], or set `{cls.UNREAD}`"
            raise ReleaseLacks(f"{where} has no {cls.WHAT}{missing}: {remedy}.")
        parsers = table.select("parser", *cls.RECIPE).unique().sort("parser")
        if parsers.height > 1:
            names = list(dict.fromkeys(parsers["parser"]))
            several = f"parsers ({', '.join(names)})" if len(names) > 1 else f"versions of {names[0]}"
            raise SeveralParsers(f"{where} has {cls.WHAT} from several {several}: build again with one.")
        parses = table.select("text", *cls.WORDS, *cls.POSITIONS).unique("text").sort("text")
        return cls(parses, **(parsers.row(0, named=True) | recorded))


@dataclass(frozen=True, slots=True)
class Parses(ParsedSentences):
    """Dependency trees of sentences, all by one parser; see `ParsedSentences`."""

    STAGE: ClassVar[str] = DEPENDENCY_STAGE.name
    EXPORT: ClassVar[str] = "parses"
    WHAT: ClassVar[str] = "dependency trees"
    UNREAD: ClassVar[str] = "graph = false"
    WORDS: ClassVar[tuple[str, ...]] = ("tokens", "relations")
    POSITIONS: ClassVar[tuple[str, ...]] = ("starts", "heads")
    RECIPE: ClassVar[Mapping[str, str]] = {"max_words": "max_words"}

    max_words: int  # maximum length of a sentence to parse
    weights: str = ""  # digest of the parser, as in the recipe of the release; empty where it is not recorded

    @property
    def pipeline(self) -> str:
        """The name of the parser without its version: `en_core_web_md`."""
        return self.parser.partition("/")[2].rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Frames(ParsedSentences):
    """Semantic roles of sentences, all by one tagger (`ParsedSentences`); one without a predicate has an empty row."""

    STAGE: ClassVar[str] = SRL_STAGE.name
    EXPORT: ClassVar[str] = "frames"
    WHAT: ClassVar[str] = "semantic roles"
    UNREAD: ClassVar[str] = 'spans = "none"'
    WORDS: ClassVar[tuple[str, ...]] = ("words", "span_labels")
    POSITIONS: ClassVar[tuple[str, ...]] = ("predicates", "span_frames", "span_starts", "span_ends")
    COUNTED: ClassVar[tuple[str, ...]] = ("words", "predicates", "span_frames")
    RECIPE: ClassVar[Mapping[str, str]] = {
        "weights": "",
        "predicates_by": "predicates",
        "precision": "precision",
        "max_words": "max_words",
    }

    weights: str  # digest of the tagger, as in the recipe of the release
    predicates_by: PredicatesBy  # what found the predicates (`predicates` under [srl])
    precision: Precision  # precision of the tagger (`precision` under [srl])
    max_words: int  # maximum length of a sentence to tag

    @property
    def tagger(self) -> str:
        """The name of the tagger as in `model` under [srl]; only the last part if that is a folder."""
        return self.parser.partition("/")[2]

    @property
    def roles(self) -> list[str]:
        """The roles that occur, sorted."""
        return sorted(self.table["span_labels"].explode().drop_nulls().unique().to_list())
