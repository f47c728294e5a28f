"""Cache of text vectors for repeated searches: computed once, and reused while encoder and texts are the same.

    runs/.vectors/<digest of encoder, route and texts>.npy      float32, (n_texts, d), of unit length

Files are written atomically; the least recently used ones are removed when they take more than 2 GiB.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features import leftovers, models
from features.errors import InputError
from features.outputs import whole_file
from features.rows import OnRows, ignore_rows
from training.nearest import unit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

KEPT = ".vectors"
"""Folder of cached vectors within that of a project's runs; no encoder's name begins with a dot."""
_MOST_BYTES = 2 << 30
_ENCODED_AT_ONCE = 256


def embed(
    model: "SentenceTransformer", texts: Sequence[str], task: str | None = None, on_rows: OnRows = ignore_rows
) -> NDArray[np.float32]:
    """Return the embeddings of texts, (n, d), of unit length.

    Args:
        model: the encoder.
        texts: one or more.
        task: route of an encoder that has routes.
        on_rows: called with the number of texts done.

    Raises:
        ModelError: when embeddings are not finite numbers.
    """
    options: dict[str, Any] = {} if task is None else {"task": task}
    on_rows(0, len(texts))
    parts = []
    for start in range(0, len(texts), _ENCODED_AT_ONCE):
        some = list(texts[start : start + _ENCODED_AT_ONCE])
        encoded = model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False, **options)
        parts.append(np.asarray(encoded, np.float32))
        on_rows(start + len(some), len(texts))
    return unit(np.concatenate(parts))


def kept_vectors(
    runs: Path | None,
    encoder: Path,
    task: str | None,
    texts: Sequence[str],
    make: Callable[[], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Return the embeddings of texts, from the cache where encoder, route and texts are the same.

    Args:
        runs: folder of the project's runs, which contains the cache; None for no cache.
        encoder: folder of the encoder.
        task: its route.
        texts: the texts, in order.
        make: computes the embeddings, (n, d).
    """
    if runs is None:
        return make()
    file = runs / KEPT / f"{_key(encoder, task, texts)}.npy"
    known = _read(file, len(texts))
    if known is not None:
        return known
    vectors = make()
    with suppress(InputError):  # a search does not fail because vectors cannot be cached
        with whole_file(file) as output:
            np.save(output, vectors, allow_pickle=False)
        _forget(file)
    return vectors


def _key(encoder: Path, task: str | None, texts: Sequence[str]) -> str:
    hashed = hashlib.blake2b(f"{models.digest(encoder)}\0{task or ''}\0".encode(), digest_size=16)
    for text in texts:
        hashed.update(text.encode() + b"\0")
    return hashed.hexdigest()


def _read(file: Path, count: int) -> NDArray[np.float32] | None:
    """Return cached vectors, None where there are no usable ones."""
    try:
        vectors = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    with suppress(OSError):
        os.utime(file)  # used now, so not the next to be removed
    return vectors if vectors.dtype == np.float32 and vectors.ndim == 2 and len(vectors) == count else None


def _forget(newest: Path) -> None:
    """Remove leftovers of killed searches, and the least recently used vectors where there are too many."""
    leftovers.remove_dead(newest.parent.glob(".*.tmp"))
    files = sorted(newest.parent.glob("*.npy"), key=lambda file: -file.stat().st_mtime)
    taken = 0
    for file in files:
        taken += file.stat().st_size
        if taken > _MOST_BYTES and file != newest:
            file.unlink(missing_ok=True)
