"""From the labels of graphs to vectors: the words of a label, and the mean of their vectors.

    want-01           → want                 the sense does not count
    natural-disaster  → natural, disaster
    "New York"        → new, york
    -                 → -                    a constant without a letter or digit is a word of its own

A word that is not in the table gets a random vector seeded by the word, so that it is the same in every shard and run
(the reference draws it at random). Every word's vector has length 1: known and unknown words weigh the same.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from features.core.faults import VectorsWrong

Vectors = npt.NDArray[np.float32]

_SENSE = re.compile(r"(?<=[^\W\d_])-[0-9]+$")
_BETWEEN_WORDS = re.compile(r"[-_\s]+")


@lru_cache(maxsize=1 << 16)  # most labels recur in the next shard
def split_label(label: str) -> tuple[str, ...]:
    """Return the words of a label: lower case, without quotes, apostrophes and sense.

    >>> split_label("have-rel-role-91"), split_label('"New York"'), split_label("-")
    (('have', 'rel', 'role'), ('new', 'york'), ('-',))
    """
    plain = label.replace('"', "").replace("'", "").lower().strip()
    words = tuple(word for word in _BETWEEN_WORDS.split(_SENSE.sub("", plain)) if word)
    return words or (plain,)


def labels_of(amr: pl.DataFrame) -> list[str]:
    """Return the distinct labels in rows of the table `amr`: concepts and constants."""
    columns = (amr["concepts"], amr["attribute_values"])
    return pl.concat([column.explode().drop_nulls() for column in columns]).unique().to_list()


def words_of(labels: Iterable[str]) -> list[str]:
    """Return the words whose vectors these labels need, sorted."""
    return sorted({word for label in labels for word in split_label(label)})


class LabelVectors:
    """A table of word vectors.

    Args:
        words: distinct words, as `split_label` gives them.
        matrix: their vectors, float32, (n_words, n_dimensions), of any non-zero length.
    """

    def __init__(self, words: Sequence[str], matrix: Vectors) -> None:
        lengths = np.linalg.norm(matrix.astype(np.float64), axis=1)
        bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
        if len(bad):
            raise VectorsWrong(
                f"the label vector of {words[bad[0]]!r} is zero or not finite; leave the word out to have one drawn"
            )
        self._row_of = {word: row for row, word in enumerate(words)}
        self._matrix = np.asarray(matrix / lengths[:, None], np.float32)

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> "LabelVectors":
        """Make the table from rows of `LABEL_VECTORS`, of any shards, by one model."""
        rows = rows.unique("label", keep="first", maintain_order=True)
        if rows.is_empty():
            return NO_VECTORS
        matrix = rows["vector"].explode().to_numpy().reshape(len(rows), -1)
        return cls(rows["label"].to_list(), matrix.astype(np.float32))

    def of_labels(self, labels: Sequence[str]) -> Vectors:
        """Return the mean vector of the words of each label, float32, shape (n_labels, n_dimensions)."""
        dimensions = self._matrix.shape[1]
        if not labels:
            return np.empty((0, dimensions), np.float32)
        words_of_label = [split_label(label) for label in labels]
        words = [word for words in words_of_label for word in words]
        unknown = [word for word in dict.fromkeys(words) if word not in self._row_of]
        row_of, matrix = self._row_of, self._matrix
        if unknown:
            row_of = row_of | {word: len(matrix) + number for number, word in enumerate(unknown)}
            matrix = np.concatenate([matrix, *(_drawn(word, dimensions) for word in unknown)])
        rows = np.array([row_of[word] for word in words])
        counts = np.array([len(words) for words in words_of_label])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        sums = matrix[rows[starts]]
        for further in range(1, counts.max()):  # most labels have one word
            longer = counts > further
            sums[longer] += matrix[rows[starts[longer] + further]]
        sums /= counts[:, None].astype(np.float32)
        return np.asarray(sums, np.float32)


def _drawn(word: str, dimensions: int) -> Vectors:
    """Draw the vector of an unknown word: normally distributed, seeded by the word, of length 1, shape (1, d)."""
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    vector = np.random.default_rng(seed).standard_normal((1, dimensions))
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


NO_VECTORS = LabelVectors([], np.empty((0, 64), np.float32))
"""For metrics that compare none; others get a random vector of 64 dimensions for each word."""
