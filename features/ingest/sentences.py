"""Sentences during an ingest: their ids, and the shard in which each is placed when its first pair is taken.

Shards never change: rows are cut into new ones, numbered after those that the store has.
"""

from collections.abc import Iterable, Set

import polars as pl

from features.core.faults import UnknownShard
from features.core.types import SentenceId, Shard
from features.corpora.settings import IngestSettings
from features.ingest.known import Known
from features.schemas import SENTENCES
from features.sentences import id_of_normalised, leakage_key, normalise, sentence_id


class Sentences:
    """Ids of sentences, known and new; a new one is placed in the next shard when its first pair is taken."""

    def __init__(self, known: Known, settings: IngestSettings) -> None:
        self.shard_of = known.shard_of
        self.max_words = settings.max_words
        self.new: dict[SentenceId, str] = {}
        self._size = settings.sentences_per_shard
        self._number = next_number("sentences", set(known.shard_of.values())) - 1
        self._room = 0
        self._shard = Shard("")
        self._seen: dict[str, tuple[SentenceId, str, bool]] = {}
        self._shared: dict[SentenceId, SentenceId] = {}

    def identify(self, text: str) -> tuple[SentenceId, str, bool]:
        """Return id, normalised text, and whether the sentence is too long."""
        if text not in self._seen:
            clean = normalise(text)
            clean = text if clean == text else clean  # one object in memory, not two
            self._seen[text] = (id_of_normalised(clean), clean, clean.count(" ") >= self.max_words)
        return self._seen[text]

    def text_of(self, sentence: SentenceId) -> str:
        """Return the normalised text of a sentence that was identified."""
        return next(clean for identity, clean, _ in self._seen.values() if identity == sentence)

    def texts(self, sentences: Set[SentenceId]) -> dict[SentenceId, str]:
        """Return the normalised texts of sentences that were identified."""
        return {identity: clean for identity, clean, _ in self._seen.values() if identity in sentences}

    def shared_id(self, text: str) -> SentenceId:
        """Return an id that all spellings of a text share: those that are the same for the leakage guard.

        A text of punctuation alone has one spelling, its own.
        """
        sentence, clean, _ = self.identify(text)
        if sentence not in self._shared:
            key = leakage_key(clean)
            self._shared[sentence] = sentence_id(key) if key else sentence
        return self._shared[sentence]

    def place(self, sentence: SentenceId, text: str) -> None:
        """Place a sentence in a shard unless it has one."""
        if sentence not in self.shard_of:
            if not self._room:
                self._number += 1
                self._room = self._size
                self._shard = shard_name("sentences", self._number)
            self._room -= 1
            self.shard_of[sentence] = self._shard
            self.new[sentence] = text

    def open_shard(self) -> None:
        """Start a new shard with the next new sentence."""
        self._room = 0

    def shards(self) -> dict[Shard, pl.DataFrame]:
        """Return the new sentences by shard, in the order in which they were placed."""
        rows = pl.DataFrame(
            {
                "sentence_id": list(self.new),
                "text": list(self.new.values()),
                "shard": [self.shard_of[sentence] for sentence in self.new],
            },
            schema={**SENTENCES, "shard": pl.String},
        )
        parts = rows.partition_by("shard", maintain_order=True, as_dict=True, include_key=False)
        return {Shard(str(shard)): part for (shard,), part in parts.items()}


def shard_name(table: str, number: int) -> Shard:
    """Return the name of a shard.

    >>> shard_name("pairs", 7)
    'pairs-00007'
    """
    return Shard(f"{table}-{number:05d}")


def next_number(table: str, known: Iterable[Shard]) -> int:
    """Return the first free number after those of the known shards."""
    last = -1
    for name in known:
        prefix, _, number = name.rpartition("-")
        if prefix != table or not number.isdecimal():
            raise UnknownShard(f"the known shard {name!r} is not a shard of {table!r}: pass the shards of that table.")
        last = max(last, int(number))
    return last + 1


def cut(rows: pl.DataFrame, table: str, size: int, first: int) -> dict[Shard, pl.DataFrame]:
    """Cut rows into shards of `size` rows, the last one with the remainder, numbered from `first`."""
    return {
        shard_name(table, first + number): rows.slice(start, size)
        for number, start in enumerate(range(0, rows.height, size))
    }
