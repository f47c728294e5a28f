"""Embeddings of texts that are searched, computed a part at a time."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features.core.rows import OnRows, ignore_rows
from training.nearest import unit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ENCODED_AT_ONCE = 256


def embed(model: "SentenceTransformer", texts: Sequence[str], task: str | None = None) -> NDArray[np.float32]:
    """Return the embeddings of texts, (n, d), of unit length.

    Args:
        model: the encoder.
        texts: one or more.
        task: route of an encoder that has routes.

    Raises:
        ModelError: when they are not finite numbers.
    """
    return unit(np.concatenate(list(embed_in_parts(model, texts, task))))


def embed_in_parts(
    model: "SentenceTransformer", texts: Sequence[str], task: str | None = None, on_rows: OnRows = ignore_rows
) -> Iterator[NDArray[np.float32]]:
    """Yield the embeddings of texts in their order, some (n, d) at a time.

    Args:
        model: the encoder.
        texts: one or more.
        task: route of an encoder that has routes.
        on_rows: called with the number of texts done.
    """
    options: dict[str, Any] = {} if task is None else {"task": task}
    on_rows(0, len(texts))
    for start in range(0, len(texts), _ENCODED_AT_ONCE):
        some = list(texts[start : start + _ENCODED_AT_ONCE])
        encoded = model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False, **options)
        yield np.asarray(encoded, np.float32)
        on_rows(start + len(some), len(texts))
