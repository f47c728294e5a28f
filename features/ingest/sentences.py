"""Sentences during an ingest: their ids, and the shard in which each is placed when its first pair is taken."""

from collections.abc import Set

import polars as pl

from features.core.types import SentenceId, Shard
from features.corpora.settings import IngestSettings
from features.ingest.known import Known
from features.ingest.shards import next_number, shard_name
from features.schemas import SENTENCES
from features.sentences import leakage_key, normalise, sentence_id


class Sentences:
    """Ids of sentences, known and new; a new one is placed in the next shard when its first pair is taken."""

    def __init__(self, known: Known, settings: IngestSettings) -> None:
        self.shard_of = known.shard_of
        self.max_words = settings.max_words
        self.new: dict[SentenceId, str] = {}
        self._size = settings.sentences_per_shard
        self._number = next_number("sentences", set(known.shard_of.values())) - 1
        self._room = 0
        self._seen: dict[str, tuple[SentenceId, str, bool]] = {}
        self._shared: dict[SentenceId, SentenceId] = {}

    def identify(self, text: str) -> tuple[SentenceId, str, bool]:
        """Return id, normalised text, and whether the sentence is too long."""
        found = self._seen.get(text)
        if found is None:
            clean = normalise(text)
            found = self._seen[text] = (sentence_id(clean), clean, clean.count(" ") >= self.max_words)
        return found

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
        found = self._shared.get(sentence)
        if found is None:
            key = leakage_key(clean)
            found = self._shared[sentence] = sentence_id(key) if key else sentence
        return found

    def place(self, sentence: SentenceId, text: str) -> None:
        """Place a sentence in a shard unless it has one."""
        if sentence not in self.shard_of:
            if not self._room:
                self._number += 1
                self._room = self._size
            self._room -= 1
            self.shard_of[sentence] = shard_name("sentences", self._number)
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
