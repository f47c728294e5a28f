"""Embeddings of texts, and a cache of them: an encoder embeds each text of a search or of `predict` only once.

    runs/.vectors/<digest of encoder and route>/<random name>.npz     text keys, (n, 16) bytes; vectors, (n, d)

Vectors are written while they are computed: a killed command resumes where it stopped, and a file that has grown costs
only its new texts. Each part appears whole or not at all and never changes, so concurrent commands do not disturb each
other; at worst both embed the same texts. Above 2 GiB, the parts that have been unused for longest are removed.
"""

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from features import models
from features.core import leftovers
from features.core.errors import InputError
from features.core.outputs import whole_file
from features.core.types import OnRows, ignore_rows
from features.parsers.sentence_encoder import TextEncoder
from training.nearest import require_finite, unit

FOLDER = ".vectors"
"""In the folder of a project's runs; no encoder's name begins with a dot."""
_PARTS = f"{'[0-9a-f]' * 32}.npz"
"""Pattern of the names of parts: another file is never removed, as where a folder is a link to elsewhere."""
_MOST_BYTES = 2 << 30
_WRITTEN_EVERY = 30.0  # seconds; a kill costs no more work than this
_SMALL_BYTES = 16 << 20
_MOST_SMALL = 32  # parts before they are merged
_KEY_BYTES = 16
_ENCODED_AT_ONCE = 256
_DAMAGED = (OSError, ValueError, KeyError, EOFError, BadZipFile)

Vectors = NDArray[np.float32]


def embed(model: TextEncoder, texts: Sequence[str], task: str | None = None) -> Vectors:
    """Return the embeddings of texts, (n, d), of unit length, by a route of an encoder that has routes."""
    return unit(np.concatenate(list(embed_in_parts(model, texts, task))))


def embed_in_parts(
    model: TextEncoder, texts: Sequence[str], task: str | None = None, on_rows: OnRows = ignore_rows
) -> Iterator[Vectors]:
    """Yield the embeddings of texts in their order, some (n, d) at a time, and report the number of texts done."""
    on_rows(0, len(texts))
    for start in range(0, len(texts), _ENCODED_AT_ONCE):
        some = list(texts[start : start + _ENCODED_AT_ONCE])
        encoded = model.encode(some, batch_size=64, show_progress_bar=False, task=task)
        yield np.asarray(encoded, np.float32)
        on_rows(start + len(some), len(texts))


def cached_vectors(
    runs: Path | None,
    encoder: Path,
    task: str | None,
    texts: Sequence[str],
    embed: Callable[[Sequence[str]], Iterable[Vectors]],
) -> Vectors:
    """Return the embeddings of texts, (n, d), computing only those that are not cached in the folder of runs, if any.

    `embed` yields the embeddings of new texts in their order, some (n, d) at a time; duplicates are embedded once.
    """
    numbers: dict[bytes, int] = {}
    keys = (hashlib.blake2b(text.encode(), digest_size=_KEY_BYTES).digest() for text in texts)
    rows = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    folder = None
    if runs is not None:
        made_by = f"{models.digest(encoder)}\0{task or ''}".encode()
        folder = runs / FOLDER / hashlib.blake2b(made_by, digest_size=16).hexdigest()
    cache = _Cache(folder, numbers)
    new = np.flatnonzero(~cache.is_known)
    if len(new):
        text_of = dict(zip(rows.tolist(), texts, strict=True))
        parts = embed([text_of[number] for number in new.tolist()])
        cache.add(new, (require_finite(part, encoder) for part in parts))
    return cache.vectors if len(numbers) == len(texts) else cache.vectors[rows]


class _Cache:
    """Vectors of some texts (key → row), read from a folder of parts of one encoder and route and written to it."""

    def __init__(self, folder: Path | None, numbers: dict[bytes, int]) -> None:
        self._folder = folder
        self._keys = list(numbers)
        self.is_known = np.zeros(len(numbers), dtype=bool)
        self._used: set[Path] = set()
        self.vectors: Vectors = np.empty((len(numbers), 0), dtype=np.float32)
        """(n_texts, d); d is 0 until the first vector is known. Rows of unknown texts are undefined."""
        for part in () if folder is None else sorted(folder.glob(_PARTS)):
            self._read(part, numbers)

    def add(self, rows: NDArray[np.int64], parts: Iterable[Vectors]) -> None:
        """Add the vectors of some rows as they arrive; those that arrived are written however this ends."""
        done = written = 0
        last = time.monotonic()
        try:
            for part in parts:
                self._set(rows[done : done + len(part)], part)
                done += len(part)
                if time.monotonic() - last > _WRITTEN_EVERY:
                    self._write(rows[written:done])
                    written, last = done, time.monotonic()
        finally:
            self._write(rows[written:done])
            self._tidy()

    def _set(self, rows: NDArray[np.int64], vectors: Vectors) -> None:
        if not self.vectors.shape[1]:
            self.vectors = np.empty((len(self._keys), vectors.shape[1]), dtype=np.float32)
        self.vectors[rows] = vectors
        self.is_known[rows] = True

    def _read(self, part: Path, numbers: dict[bytes, int]) -> None:
        try:
            keys, vectors = _load(part, numbers.keys())
        except FileNotFoundError:  # another search has just merged it
            return
        except _DAMAGED:
            with suppress(OSError):
                part.unlink()
            return
        wanted = [(numbers[key], at) for at, key in enumerate(keys) if key in numbers]
        if wanted:
            rows, positions = np.array(wanted).T
            self._set(rows, vectors[positions])
            self._used.add(part)
            with suppress(OSError):
                os.utime(part)  # used now, so not the next to be removed

    def _write(self, rows: NDArray[np.int64]) -> None:
        if self._folder is not None and len(rows):
            self._used |= _save(self._folder, [self._keys[row] for row in rows], self.vectors[rows])

    def _tidy(self) -> None:
        if self._folder is None:
            return
        with suppress(OSError):
            small = [part for part in self._folder.glob(_PARTS) if part.stat().st_size < _SMALL_BYTES]
            if len(small) > _MOST_SMALL:
                self._used |= _merge(self._folder, small)
        with suppress(OSError):
            leftovers.remove_dead(self._folder.parent.rglob(".*.npz.*.tmp"))  # of searches that were killed
            leftovers.remove_oldest(self._folder.parent.rglob(_PARTS), _MOST_BYTES, self._used)


def _load(part: Path, wanted: KeysView[bytes] | None = None) -> tuple[list[bytes], Vectors]:
    """Return keys and vectors of a part, or nothing if none of its keys is wanted; raise one of `_DAMAGED`."""
    with part.open("rb") as file, np.load(file, allow_pickle=False) as content:
        keys = [row.tobytes() for row in content["keys"]]
        if wanted is not None and wanted.isdisjoint(keys):
            return [], np.empty((0, 0), np.float32)
        return keys, content["vectors"]


def _save(folder: Path, keys: Sequence[bytes], vectors: Vectors) -> set[Path]:
    """Write a part and return it; nothing if it cannot be written, which is no reason for a search to fail."""
    part = folder / f"{uuid.uuid4().hex}.npz"
    try:
        with whole_file(part) as output:
            np.savez(output, keys=np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _KEY_BYTES), vectors=vectors)
    except InputError:
        return set()
    return {part}


def _merge(folder: Path, parts: Sequence[Path]) -> set[Path]:
    vectors: dict[bytes, NDArray[np.float32]] = {}
    for part in parts:
        with suppress(*_DAMAGED):
            vectors.update(zip(*_load(part), strict=True))
    merged = _save(folder, list(vectors), np.stack(list(vectors.values()))) if vectors else set()
    if merged:
        for part in parts:
            part.unlink(missing_ok=True)
    return merged
