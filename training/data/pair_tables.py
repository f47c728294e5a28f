"""Pairs of texts as tables: each text is stored once, and each row has the positions of its two.

text_a  text_b           texts       first  second
A dog.  A cat.    ──>    0  A cat.       1       0
A cat.  A cow.           1  A dog.       0       2
                         2  A cow.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import polars as pl

from features.core.faults import SplitsOverlap
from features.core.files import write_table
from features.core.wording import all_of, counted
from features.sentences import leakage_key
from training.data.releases import OpenRelease, choose_rows
from training.progress import log
from training.types import Positions

TEXTS = ("text_a", "text_b")
SENTENCES = ("sentence_a", "sentence_b")
POSITIONS = ("first", "second")


@dataclass(frozen=True, slots=True)
class IndexedPairs:
    """Pairs of sentences; each sentence is stored once."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """Columns that every table of such pairs has, besides its texts."""

    texts: tuple[str, ...]  # the unique sentences, (n_texts,)
    pairs: pl.DataFrame  # one row per pair, with `POSITIONS` in `texts`
    source: dict[str, Any] = field(default_factory=dict, kw_only=True)  # for model cards: release and versions, or file

    def __len__(self) -> int:
        return self.pairs.height

    @property
    def first(self) -> Positions:
        """Positions of the sentences a in `texts`, (n_pairs,)."""
        return self.pairs["first"].to_numpy()

    @property
    def second(self) -> Positions:
        """Positions of the sentences b in `texts`, (n_pairs,)."""
        return self.pairs["second"].to_numpy()

    @property
    def corpora(self) -> list[str]:
        """The corpora of the pairs, sorted."""
        return sorted(self.pairs["corpus"].unique())

    @property
    def by_split(self) -> dict[str, int]:
        """Split → number of its pairs, sorted."""
        return dict(self.pairs.group_by("split").len().sort("split").iter_rows())

    def sides(self) -> tuple[list[str], list[str]]:
        """Return the sentences a and the sentences b, (n_pairs,) each."""
        a, b = ([self.texts[position] for position in self.pairs[name]] for name in POSITIONS)
        return a, b

    def select(
        self,
        *,
        splits: Collection[str] = (),
        corpora: Collection[str] = (),
        kinds: Collection[str] = (),
        labels: Collection[str] = (),
    ) -> Self:
        """Return the pairs of some splits, corpora, kinds and labels (all when empty), with only their sentences."""
        return self._with(choose_rows(self.pairs, split=splits, corpus=corpora, kind=kinds, label=labels))

    def keep(self, kept: pl.Series) -> Self:
        """Return the pairs for which `kept`, (n_pairs,), is true, with only their sentences."""
        return self._with(self.pairs.filter(kept))

    def export(self, path: Path) -> None:
        """Write pairs and texts as one table that `from_file` reads."""
        texts = pl.Series(self.texts, dtype=pl.String)
        sides = (texts.gather(self.pairs[end]).alias(name) for name, end in zip(TEXTS, POSITIONS, strict=True))
        write_table(self.pairs.select(*self.COLUMNS, *sides, pl.exclude(*self.COLUMNS, *POSITIONS)), path)

    def _with(self, rows: pl.DataFrame) -> Self:
        if rows.height == self.pairs.height:  # rows are left out, never moved or changed
            return self
        kept = np.zeros(len(self.texts), dtype=bool)
        kept[np.concatenate([rows[name].to_numpy() for name in POSITIONS])] = True
        if kept.all():
            return replace(self, pairs=rows)  # no vectors to copy
        used, moved = np.flatnonzero(kept), np.cumsum(kept) - 1
        positions = [pl.Series(name, moved[rows[name].to_numpy()], dtype=pl.Int64) for name in POSITIONS]
        texts = tuple(self.texts[position] for position in used)
        return replace(self, texts=texts, pairs=rows.with_columns(positions), **self._text_fields(used))

    def _text_fields(self, positions: Positions) -> dict[str, Any]:
        """Return the fields with a value for each text, of some texts."""
        return {}


def index_texts(table: pl.DataFrame) -> tuple[tuple[str, ...], pl.DataFrame]:
    """Return the unique texts of a table with `TEXTS`, in order, and the table with `POSITIONS` (int64) added."""
    texts = pl.concat([table[name].alias("text") for name in TEXTS]).unique(maintain_order=True)
    return tuple(texts), table.with_columns(_positions(TEXTS, texts))


def index_sentences(pinned: OpenRelease, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the sentences of pairs of a release (`OpenRelease.texts_of`), and the pairs with `POSITIONS` in them."""
    sentences = pinned.texts_of(*(pairs[name] for name in SENTENCES))
    return sentences, pairs.with_columns(_positions(SENTENCES, sentences["sentence_id"])).drop_nulls(POSITIONS)


def _positions(ends: Sequence[str], among: pl.Series) -> list[pl.Expr]:
    """Return `POSITIONS`: where the values of two columns are among others, null where they are not."""
    numbers = pl.int_range(len(among), dtype=pl.Int64, eager=True)
    return [
        pl.col(end).replace_strict(among, numbers, default=None, return_dtype=pl.Int64).alias(position)
        for end, position in zip(ends, POSITIONS, strict=True)
    ]


def digest_of(texts: Iterable[str], *parts: bytes) -> str:
    """Return 20 hexadecimal digits that change with any text, and with any of the further parts."""
    hashed = hashlib.blake2b(digest_size=10)
    for text in texts:
        hashed.update(text.encode() + b"\0")
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()


class PairsAmong:
    """Finds those of some pairs, (n,), whose two sentences, (n_pairs,), are both in a batch."""

    def __init__(self, first: Positions, second: Positions, pairs: Positions) -> None:
        self._pairs = pairs[np.argsort(first[pairs], kind="stable")]
        self._second = second[self._pairs]
        count = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
        self._starts = np.searchsorted(first[self._pairs], np.arange(count + 1))
        self._inside = np.zeros(count, dtype=np.bool_)

    def find(self, sentences: Positions) -> Positions:
        """Return the pairs among some sentences, each given once, (n_found,), ascending."""
        self._inside[sentences] = True
        starts, stops = self._starts[sentences], self._starts[sentences + 1]
        rows = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
        chosen = self._pairs[rows[self._inside[self._second[rows]]]]
        self._inside[sentences] = False
        return np.sort(chosen)


Pairs = TypeVar("Pairs", bound=IndexedPairs)


def apart(data: Pairs, split: str, corpora: Sequence[str] = ()) -> tuple[Pairs, int]:
    """Return the pairs of some corpora, or of all, that may be learnt from, and how many of them may not.

    Those may not that one split has and another has, too, in any corpus, in either order and any spelling.

    train   (A, B)   (C, D)         train   (A, B)
    dev     (D, c!)  (E, F)   ──>   dev     (D, c!)  (E, F)

    Sentences are the same here whatever their case and punctuation, as for the leakage guard.
    """
    data = data.keep((data.pairs["split"] != split) | data.pairs["corpus"].is_in(corpora or data.corpora))
    overlap = also_elsewhere(data.pairs, POSITIONS, data.texts, split, "pair")
    return data.keep(~overlap).select(corpora=corpora), int(overlap.sum())


def also_elsewhere(rows: pl.DataFrame, ends: Sequence[str], texts: Sequence[str], split: str, what: str) -> pl.Series:
    """Return which rows of a split are also in another one, in any order of their texts, and log their number.

    Texts that differ only in case or punctuation are the same here. A row has a split; `ends` are the columns of its
    texts. If all rows of the split are also in another one, SplitsOverlap is raised.
    """
    learnt = rows["split"] == split

    def overlapping(spellings: Sequence[str]) -> pl.Series:
        numbers = pl.Series(spellings, dtype=pl.Categorical).to_physical().cast(pl.Int64)
        numbered = rows.select(numbers.gather(rows[end]).alias(end) for end in ends)
        keys = numbered.select(pl.min_horizontal(*ends) * 2**32 + pl.max_horizontal(*ends)).to_series()
        return learnt & keys.is_in(keys.filter(~learnt).implode())

    overlap = overlapping([leakage_key(text) or text for text in texts])  # what is marks alone is like no other
    if count := int(overlap.sum()):
        spelt = int((overlap & ~overlapping(texts)).sum())
        spelling = f" ({spelt:,} with other case or punctuation)" if spelt else ""
        left_out = f"{counted(count, what)} of split {split!r}{spelling}"
        log.warning("not trained on, because also in another split: %s", left_out)
        if count == learnt.sum():
            raise SplitsOverlap(
                f"{all_of(count, what)} of the split {split!r} {'is' if count == 1 else 'are'} also in another split: "
                "check `files` of the corpora."
            )
    return overlap
