"""Word pieces and spans of all sentences of a training, computed once by the same function as in `encode`."""

from collections.abc import Sequence

from training.data.frames import Frames
from training.encoders.backbone import Tokens
from training.encoders.structures import Structures
from training.encoders.structures import read_sentences as read
from training.modules.frames import NUMBERS, ROLES, SPAN_PLACES
from training.modules.tagging_transformer import TaggingTransformer

_COLUMNS = ((NUMBERS, SPAN_PLACES), (ROLES,))


def read_sentences(
    transformer: TaggingTransformer, texts: Sequence[str], frames: Frames, further: Sequence[str] = ()
) -> tuple[Tokens, Structures]:
    """Return word pieces and spans of sentences; arguments as in `training.encoders.structures`."""
    return read(transformer, texts, frames, _COLUMNS, further=further, what="word pieces and spans")
