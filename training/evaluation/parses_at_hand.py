"""Parses of the scored sentences that a release already has, so that an encoder with a parser need not parse them.

release ── made by the parser of the encoder? ──┬── yes: the encoder gets them before it embeds
                                                └── no, or there are none: it parses
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from features.errors import InputError
from features.sentences import normalise
from training.data.parsed_sentences import ParsedSentences
from training.jobs import Source

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def parses_at_hand(source: Source | None, encoder: "SentenceTransformer") -> Callable[[Sequence[str]], None]:
    """Return a callback that gives an encoder the parses its source already has, before it embeds texts.

    Args:
        source: source of the sentences; None where they come from elsewhere.
        encoder: of any kind; for one without a parser the callback does nothing.

    Raises:
        StoreError: when the store or the release does not exist, or is damaged.
    """
    from training.modules.structured_transformer import StructuredTransformer

    transformer = encoder[0]
    if source is None or not isinstance(transformer, StructuredTransformer):
        return lambda _: None
    try:
        parses = _of_its_parser(source, transformer)
    except InputError:  # there are none
        parses = None
    if parses is None:
        return lambda _: None

    def tell(texts: Sequence[str]) -> None:
        normal = [normalise(text) for text in texts]
        found = zip(normal, parses.find(normal), strict=True)
        transformer.know({text: parse for text, parse in found if parse is not None})

    return tell


def _of_its_parser(source: Source, transformer: object) -> ParsedSentences | None:
    """Return the parses of a source where the transformer's own parser made them, otherwise None."""
    from training.modules.parser_weights import same_weights
    from training.modules.parsing_transformer import ParsingTransformer
    from training.modules.tagging_transformer import TaggingTransformer

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
    return None
