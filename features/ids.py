"""Ids of sentences and pairs by the million: ten bytes each in an array, as hexadecimal digits only where written.

The order of the bytes is that of the digits, so that sorted ids are sorted either way.
"""

from binascii import hexlify
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import PairKind, Split
from features.schemas import PAIRS
from features.sentences import ID_BYTES, normalise

IdArray = NDArray[np.bytes_]
"""Ids as bytes, (n_ids,)."""

ID = f"S{ID_BYTES}"
_BATCH = 1 << 18  # ids that are Python objects at a time
_NORMAL = r"^[!-~]+(?: [!-~]+)*$"
"""ASCII words with single spaces between them, which `normalise` leaves as they are."""


def normalised(texts: pl.Series) -> pl.Series:
    """Return texts as `normalise` returns each."""
    others = (~texts.str.contains(_NORMAL)).arg_true()
    if not len(others):
        return texts
    return texts.scatter(others, [normalise(text) for text in texts.gather(others).to_list()])


def ids_of_texts(texts: pl.Series) -> IdArray:
    """Return the ids of normalised texts."""
    return _digests(text.encode() for text in texts.to_list())


def pair_ids(
    corpus: str, split: Split, kind: PairKind, first: IdArray, second: IdArray, occurrences: NDArray[np.integer]
) -> IdArray:
    """Return the ids of pairs; `occurrences` count their earlier rows in the split, so that no repeat is lost."""
    parts = [np.empty(0, ID)]
    for start in range(0, len(first), _BATCH):
        here = slice(start, start + _BATCH)
        a, b = (hexadecimal(side[here]).to_list() for side in (first, second))
        rows = zip(a, b, occurrences[here].tolist(), strict=True)
        parts.append(_digests(f"{corpus}\x1f{split}\x1f{kind}\x1f{a}\x1f{b}\x1f{n}".encode() for a, b, n in rows))
    return np.concatenate(parts)


def draws(ids: IdArray, attempt: int) -> NDArray[np.uint64]:
    """Return a hash of each pair's id and the number of the attempt, (n_ids,)."""
    parts = [np.empty(0, np.uint64)]
    for start in range(0, len(ids), _BATCH):
        names = hexadecimal(ids[start : start + _BATCH]).to_list()
        raw = b"".join([blake2b(f"{name}{attempt}".encode(), digest_size=8).digest() for name in names])
        parts.append(np.frombuffer(raw, dtype=">u8").astype(np.uint64))
    return np.concatenate(parts)


def hexadecimal(ids: IdArray) -> pl.Series:
    """Return ids as they are written."""
    digits = np.frombuffer(hexlify(ids.tobytes()), dtype=f"S{2 * ID_BYTES}")
    return pl.Series(digits, dtype=pl.Binary).cast(pl.String)


def from_hexadecimal(written: pl.Series) -> IdArray:
    """Return ids that were written as `hexadecimal` does."""
    parts = [bytes.fromhex(written.slice(start, _BATCH).str.join().item()) for start in range(0, len(written), _BATCH)]
    return np.frombuffer(b"".join(parts), dtype=ID)


def positions_in(values: NDArray[np.generic], among: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the position of each value among sorted ones, -1 for one that is not among them, (n_values,)."""
    if not len(among):
        return np.full(len(values), -1, np.int64)
    order = np.argsort(values, kind="stable")  # neighbours are looked up near each other, which is much faster
    ordered = values[order]
    nearest = np.minimum(np.searchsorted(among, ordered), len(among) - 1)
    positions = np.empty(len(values), np.int64)
    positions[order] = np.where(among[nearest] == ordered, nearest, -1)
    return positions


def unique_ids(ids: IdArray) -> tuple[IdArray, NDArray[np.int64], NDArray[np.uint32]]:
    """Return the unique ids, sorted, the first position of each, and the number of each given one among them."""
    # np.unique takes half as much memory again.
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ids)]
    numbers = np.empty(len(ids), np.uint32)
    numbers[order] = np.cumsum(is_first, dtype=np.uint32) - np.uint32(1)
    return ordered[is_first], order[is_first], numbers


def occurrences_of(keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return how often the key of each row occurred in the rows before it, (n_rows,)."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(keys)])
    counts = np.empty(len(keys), np.uint32)
    counts[order] = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
    return counts


def pair_rows(names: IdArray, first: IdArray, second: IdArray, **columns: Any) -> pl.DataFrame:
    """Return pairs by the ids of them and of their sentences, with the columns of `PAIRS`; those not given are null."""
    ids = {"pair_id": hexadecimal(names), "sentence_a": hexadecimal(first), "sentence_b": hexadecimal(second)}
    return pl.DataFrame(dict.fromkeys(PAIRS) | ids | columns, schema=PAIRS)


def _digests(texts: Iterable[bytes]) -> IdArray:
    return np.frombuffer(b"".join([blake2b(text, digest_size=ID_BYTES).digest() for text in texts]), dtype=ID)
