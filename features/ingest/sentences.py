"""Sentences while an ingest runs: their ids, and the shard that each is placed in when its first pair is taken."""

from features.corpora.settings import IngestSettings
from features.ingest.known import Known
from features.ingest.shards import next_number, shard_name
from features.sentences import normalise, sentence_id
from features.types import SentenceId


class Sentences:
    """Ids of sentences, known and new; a new one is placed in the next shard when its first pair is taken."""

    def __init__(self, known: Known, settings: IngestSettings) -> None:
        self.shard_of = known.shard_of
        self.max_words = settings.max_words
        self.new: dict[SentenceId, str] = {}
        self._size = settings.sentences_per_shard
        self.first_shard = next_number("sentences", set(known.shard_of.values()))
        self._seen: dict[str, tuple[SentenceId, str, bool]] = {}

    def identify(self, text: str) -> tuple[SentenceId, str, bool]:
        """Return id, normalised text, and whether the sentence is too long."""
        found = self._seen.get(text)
        if found is None:
            clean = normalise(text)
            found = self._seen[text] = (sentence_id(clean), clean, clean.count(" ") >= self.max_words)
        return found

    def place(self, sentence: SentenceId, text: str) -> None:
        """Place a sentence in a shard unless it has one."""
        if sentence not in self.shard_of:
            self.shard_of[sentence] = shard_name("sentences", self.first_shard + len(self.new) // self._size)
            self.new[sentence] = text
