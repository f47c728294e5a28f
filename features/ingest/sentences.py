"""Sentences during an ingest: their ids, and the shards in which they are placed in the order in which they come.

Shards never change: rows are cut into new ones, numbered after those that the store has.
"""

from collections import UserDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import SentenceId, Shard
from features.corpora.settings import IngestSettings
from features.ids import IdArray, from_hexadecimal, hexadecimal, positions_in
from features.ingest.known import Known
from features.schemas import SENTENCES
from features.sentences import id_of_normalised, leakage_key, normalise, sentence_id

Rows = Callable[[], pl.DataFrame]
"""Makes the rows of a shard."""


class Shards(UserDict[Shard, Any]):
    """Rows by shard, made by its `Rows` when asked for: all at once would take several times the memory of arrays."""

    def __getitem__(self, shard: Shard) -> pl.DataFrame:
        rows: pl.DataFrame = self.data[shard]()
        return rows


class Sentences:
    """Ids and shards of sentences, known and new."""

    def __init__(self, known: Known, settings: IngestSettings) -> None:
        self.max_words = settings.max_words
        self.new = 0  # how many were placed
        self.names: list[Shard] = [*known.sentence_shards]  # by the number that `place` returns
        self._size = settings.sentences_per_shard
        self._number = next_number(self.names)
        self._known = known
        self._placed: list[tuple[IdArray, NDArray[np.int32]]] = []
        self.shards = Shards()  # the new sentences, in the order in which they were placed
        self._seen: dict[str, tuple[SentenceId, str, bool]] = {}
        self._shared: dict[SentenceId, SentenceId] = {}
        self._taken: dict[SentenceId, str] = {}

    def place(self, ids: IdArray, texts: pl.Series, taken: NDArray[np.integer]) -> NDArray[np.int32]:
        """Place the sentences of a corpus that have no shard yet in new ones.

        Args:
            ids: ids of sentences, sorted, (n_sentences,).
            texts: their normalised texts.
            taken: which of them need a shard, in the order in which they come; more than once is fine.

        Returns:
            The number of the shard of each, -1 where it has none, (n_sentences,).
        """
        shard = self._known.shards_of(ids)
        for others, shards in self._placed:
            here = positions_in(ids, others)
            shard = np.where(here >= 0, shards[here], shard)
        wanted = taken[shard[taken] < 0]
        first = np.empty(len(ids), np.uint32)
        order = np.arange(len(wanted), dtype=np.uint32)
        first[wanted[::-1]] = order[::-1]  # the last assignment counts: that of the first occurrence
        fresh = wanted[first[wanted] == order]
        if len(fresh):
            shard[fresh] = len(self.names) + np.arange(len(fresh)) // self._size
            for start in range(0, len(fresh), self._size):
                self.names.append(shard_name("sentences", self._number))
                self.shards[self.names[-1]] = partial(_rows, ids, texts, fresh[start : start + self._size])
                self._number += 1
            self._placed.append((ids, shard))
            self.new += len(fresh)
        return shard

    def too_long(self, what: str, text: str) -> str:
        """Return what is wrong with a sentence, or text, that is too long."""
        return f"{what} has {text.count(' ') + 1} words; expected at most {self.max_words} ({text[:40]!r}...)"

    # -- one by one, for texts with labels -----------------------------------------------------------------------------

    def identify(self, text: str) -> tuple[SentenceId, str, bool]:
        """Return id, normalised text, and whether the sentence is too long."""
        if text not in self._seen:
            clean = normalise(text)
            clean = text if clean == text else clean  # one object in memory, not two
            self._seen[text] = (id_of_normalised(clean), clean, clean.count(" ") >= self.max_words)
        return self._seen[text]

    def shared_id(self, text: str) -> SentenceId:
        """Return an id that all spellings of a text share: those that are the same for the leakage guard.

        A text of punctuation alone has one spelling, its own.
        """
        sentence, clean, _ = self.identify(text)
        if sentence not in self._shared:
            key = leakage_key(clean)
            self._shared[sentence] = sentence_id(key) if key else sentence
        return self._shared[sentence]

    def take(self, sentence: SentenceId, text: str) -> None:
        """Place a sentence in a shard with the next `place_taken`, unless it has one."""
        self._taken.setdefault(sentence, text)

    def place_taken(self) -> dict[SentenceId, Shard]:
        """Return the shard of each sentence that was taken since the last call."""
        ids = from_hexadecimal(pl.Series(list(self._taken), dtype=pl.String))
        order = np.argsort(ids)
        texts = pl.Series(list(self._taken.values()), dtype=pl.String).gather(order)
        numbers = self.place(ids[order], texts, np.argsort(order))
        names = zip(hexadecimal(ids[order]), numbers.tolist(), strict=True)
        self._taken.clear()
        return {SentenceId(sentence): self.names[number] for sentence, number in names}


def _rows(ids: IdArray, texts: pl.Series, here: NDArray[np.integer]) -> pl.DataFrame:
    return pl.DataFrame({"sentence_id": hexadecimal(ids[here]), "text": texts.gather(here)}, schema=SENTENCES)


def shard_name(table: str, number: int) -> Shard:
    """Return the name of a shard.

    >>> shard_name("pairs", 7)
    'pairs-00007'
    """
    return Shard(f"{table}-{number:05d}")


def next_number(known: Iterable[Shard]) -> int:
    """Return the first free number after those of the known shards."""
    return 1 + max((int(name.rpartition("-")[2]) for name in known), default=-1)


def cut(height: int, rows: Callable[[slice], pl.DataFrame], table: str, size: int, first: int) -> dict[Shard, Rows]:
    """Cut rows into shards of `size` rows, the last one with the remainder, numbered from `first`."""
    return {
        shard_name(table, first + number): partial(rows, slice(start, start + size))
        for number, start in enumerate(range(0, height, size))
    }
