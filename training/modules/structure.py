"""Structures of sentences that encoders read beside word pieces: their parses, and the tensors of these.

    texts ──┬── parsed here, with a cache ──────────────────────┐
            └── in the cache already, as parses of a store are ─┴── one function ── tensors next to `input_ids`

Training from a store and encoding on the fly therefore give the same embedding.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from torch import Tensor

from features.parsers.light import LightEncoder
from features.parsers.sentence_encoder import TextEncoder
from features.stages.stage import MOST_CHARACTERS
from training.modules.parse import Parse, ParseCache, Pieces

_CACHED = 10_000
"""Number of parses in a cache that no other encoder shares."""


class Structure(ABC):
    """What a parser says of sentences; each parser has a subclass.

    Its arguments, attributes of the same names, are saved with the encoder. Sentences of more than `max_words` between
    blanks are not parsed, as in a build.
    """

    what: ClassVar[str]
    """Its name, in the plural: "trees"."""
    parsed_by: ClassVar[tuple[str, ...]]
    """What its parses depend on besides the text and `max_words`."""
    columns: ClassVar[tuple[tuple[str, ...], ...]]
    """Keys of the tensors, together those of the same shape; where the first of them is 0 is padding."""

    def __init__(self, max_words: int) -> None:
        self.max_words = max_words
        self.device = "cpu"
        """Where a parser runs that can use a GPU."""
        self.parsing_seconds = 0.0
        """Time spent on parsing since the encoder was loaded."""
        self.parses, self.most_parses = ParseCache(), _CACHED
        """Parses at hand, and how many are kept of those that were used last."""
        self.stored: Callable[[Sequence[str]], Sequence[Parse | None]] | None = None
        """Looks up parses of normalised texts that its parser has made before, None for others; such as of a store."""

    @property
    def made_by(self) -> Hashable:
        """What its parses depend on besides the text: encoders with equal values share them."""
        return type(self), self.max_words, *(getattr(self, name) for name in self.parsed_by)

    @abstractmethod
    def parse_texts(self, texts: Sequence[str]) -> Sequence[Parse | None]:
        """Return the parses of normalised texts, none longer than `max_words`; None for one that the parser rejects.

        Raises:
            ModelError: when the parser is missing, or not the one that the encoder was trained with.
        """

    @abstractmethod
    def tensors(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the tensors of a batch of normalised texts, batch first, integers, 0 for padding."""

    def parse(self, every: Sequence[str]) -> list[Parse | None]:
        """Return the parses of normalised texts, None for one without or a longer one; errors as in `parse_texts`."""
        texts = [text for text in every if len(text.split()) <= self.max_words and len(text) <= MOST_CHARACTERS]
        new = list(dict.fromkeys(text for text in texts if text not in self.parses))
        if self.stored is not None:
            stored = zip(new, self.stored(new), strict=True)
            self.parses.update({text: parse for text, parse in stored if parse is not None})
        if new := [text for text in new if text not in self.parses]:
            started = time.monotonic()
            self.parses.update(zip(new, self.parse_texts(new), strict=True))
            self.parsing_seconds += time.monotonic() - started
        for text in texts:
            self.parses.move_to_end(text)
        parses = [self.parses.get(text) for text in every]
        while len(self.parses) > self.most_parses:
            self.parses.popitem(last=False)
        return parses


def structure_of(encoder: TextEncoder) -> Structure | None:
    """Return the structure that an encoder reads beside word pieces, None for one that reads no other."""
    reader = encoder if isinstance(encoder, LightEncoder) else encoder[0]
    structure = getattr(reader, "structure", None)
    return structure if isinstance(structure, Structure) else None
