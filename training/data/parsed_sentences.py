"""Parses of sentences by any parser: lookup by text, selection, and digest."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from features.core.faults import ReleaseLacks, SeveralParsers


@dataclass(frozen=True, slots=True)
class ParsedSentences:
    """Parses of sentences, all by one parser.

    Args:
        table: `text`, and `WORDS` and `POSITIONS` as in the table of the store; sorted by text. A rejected sentence
            has no row.
    """

    WORDS: ClassVar[tuple[str, ...]] = ()
    """Columns of lists of text."""
    POSITIONS: ClassVar[tuple[str, ...]] = ()
    """Columns of lists of numbers."""

    table: pl.DataFrame
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {text: place for place, text in enumerate(self.table["text"])})

    def __len__(self) -> int:
        """Return the number of parses."""
        return self.table.height

    def __contains__(self, text: str) -> bool:
        """Return whether a sentence has a parse."""
        return text in self._places

    def find(self, texts: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return the parse of each sentence, None if it has none."""
        places = [self._places.get(text) for text in texts]
        chosen = self.table[[place for place in places if place is not None]]
        rows = chosen.select(*self.WORDS, *self.POSITIONS).iter_rows(named=True)
        return [None if place is None else next(rows) for place in places]

    def digest_with(self, told: str, *, counted: Sequence[str] = ()) -> str:
        """Return 20 hexadecimal digits that change with any parse.

        Args:
            told: description of the parser, which is part of the digest.
            counted: columns whose lengths do not follow from the other columns.
        """
        hashed = hashlib.blake2b(told.encode(), digest_size=10)
        for column in ("text", *self.WORDS):
            words = self.table[column] if column == "text" else self.table[column].explode().drop_nulls()
            hashed.update("\0".join(words).encode())
        for column in self.POSITIONS:
            hashed.update(self.table[column].explode().drop_nulls().to_numpy().astype(np.int64).tobytes())
        for column in counted:
            hashed.update(self.table[column].list.len().to_numpy().astype(np.int64).tobytes())
        return hashed.hexdigest()


def choose_sentences(
    table: pl.DataFrame, texts: Sequence[str] | None, columns: Sequence[str], *, where: str, what: str, remedy: str
) -> tuple[pl.DataFrame, str]:
    """Return the parses of some sentences, sorted by text, and the name of their parser.

    Args:
        table: `text`, `parser` and the columns of parses.
        texts: the sentences; all when None.
        columns: columns of parses.
        where: source of the table, for messages.
        what: kind of parses, for messages: "dependency trees".
        remedy: what to do if there are none, for messages.

    Raises:
        InputError: when none of the sentences has a parse, or they are of several parsers.
    """
    if texts is not None:
        table = table.filter(pl.col("text").is_in(pl.Series(texts, dtype=pl.String).implode()))
    if not table.height:
        of = "" if texts is None else f" for any of the {len(texts):,} training sentences"
        raise ReleaseLacks(f"{where} has no {what}{of}: {remedy}.")
    parsers = table["parser"].unique().sort().to_list()
    if len(parsers) > 1:
        raise SeveralParsers(f"{where} has {what} from several parsers ({', '.join(parsers)}): build again with one.")
    return table.select("text", *columns).unique("text").sort("text"), parsers[0]
