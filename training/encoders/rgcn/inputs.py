"""Word pieces and trees of all sentences of a training, computed once by the same function as in `encode`."""

from collections.abc import Sequence

from training.data.parses import Parses
from training.encoders.backbone import Tokens
from training.encoders.structures import Structures
from training.encoders.structures import read_sentences as read
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.trees import HEADS, LABELS, PLACES

# Heads first: they are 0 only in padding, whereas a word without a piece has place 0.
_COLUMNS = ((HEADS, PLACES, LABELS),)


def read_sentences(
    transformer: ParsingTransformer, texts: Sequence[str], parses: Parses, further: Sequence[str] = ()
) -> tuple[Tokens, Structures]:
    """Return word pieces and trees of sentences; arguments as in `training.encoders.structures`."""
    return read(transformer, texts, parses, _COLUMNS, further=further, what="word pieces and trees")
