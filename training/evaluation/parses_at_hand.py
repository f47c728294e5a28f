"""Parses of the scored sentences that are there already, so that an encoder with a parser need not parse them.

release ── made by the parser of the encoder? ────┐
                                                  ├── yes: the encoder gets them before it embeds
encoder evaluated before ── has the same parser? ─┘
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from features.core.errors import InputError
from features.sentences import normalise
from training.data.parsed_sentences import ParsedSentences
from training.jobs import Source
from training.modules.parse import Parse

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.modules.structured_transformer import StructuredTransformer

_KEPT = 200_000
"""Number of parses that are kept of each parser; each takes some 2 kB."""


class FoundParses:
    """Parses made in evaluations so far, by the parser that made them; the first 200,000 of each."""

    def __init__(self) -> None:
        self._of: dict[Hashable, dict[str, Parse | None]] = {}

    def of(self, transformer: "StructuredTransformer") -> dict[str, Parse | None]:
        """Return the parses by a transformer's parser, by normalised text; None for a text that it rejected."""
        return self._of.setdefault((type(transformer), transformer.made_by), {})


class ParsesAtHand:
    """Gives an encoder of any kind the parses that are there already; for one without a parser it does nothing.

    Args:
        encoder: the encoder.
        source: source of the sentences; None where they come from elsewhere.
        found: parses of encoders evaluated before; the encoder's own are added.

    Raises:
        StoreError: when the store or the release does not exist, or is damaged.
    """

    def __init__(self, encoder: "SentenceTransformer", source: Source | None, found: FoundParses) -> None:
        from training.modules.structured_transformer import StructuredTransformer

        self._transformer = encoder[0] if isinstance(encoder[0], StructuredTransformer) else None
        self._stored = None if source is None or self._transformer is None else _of_its_parser(source, encoder[0])
        self._found = {} if self._transformer is None else found.of(self._transformer)

    def tell(self, texts: Sequence[str]) -> None:
        """Give the encoder the parses of texts, before it embeds them."""
        if self._transformer is None:
            return
        normal = [normalise(text) for text in texts]
        if self._stored is not None:
            found = zip(normal, self._stored.find(normal), strict=True)
            self._transformer.know({text: parse for text, parse in found if parse is not None})
        self._transformer.know({text: self._found[text] for text in normal if text in self._found})

    def keep(self, texts: Sequence[str]) -> None:
        """Keep the parses of texts for the next encoder, after this one has embedded them."""
        if self._transformer is not None:
            known = self._transformer.known([normalise(text) for text in texts])
            for text in list(known)[: max(0, _KEPT - len(self._found))]:
                self._found[text] = known[text]


def _of_its_parser(source: Source, transformer: object) -> ParsedSentences | None:
    """Return the parses of a source if the transformer's own parser made them; None otherwise, or without any."""
    from training.modules.parse import same_weights
    from training.modules.parsing_transformer import ParsingTransformer
    from training.modules.tagging_transformer import TaggingTransformer

    try:
        if isinstance(transformer, TaggingTransformer):
            frames = source.read_frames(None)
            same = (frames.weights, frames.predicates_by, frames.precision, frames.max_words)
            own = (transformer.tagger_weights, transformer.predicates, transformer.precision, transformer.max_words)
            return frames if same == own else None
        if isinstance(transformer, ParsingTransformer):
            trees = source.read_parses(None)
            own_parser = (transformer.parser_identity, transformer.max_words)
            same_files = same_weights(source.tree_weights(), transformer.parser_weights)
            return trees if (trees.parser, trees.max_words) == own_parser and same_files else None
    except InputError:  # there are none
        return None
    return None
