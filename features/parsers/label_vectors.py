"""Vectors of the words in labels: from the sentence encoder, or from a text file such as GloVe's.

spaCy's medium vectors are not offered: they are pruned to 20,000 rows, so that cat, kitten and dog share one vector.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from features.core.faults import FileEmpty, RowWrong
from features.core.files import open_text
from features.core.types import OnRows, ignore_rows
from features.models import stamp
from features.parsers.sentence_encoder import SentenceEncoder
from features.parsers.sentence_encoder import load as load_encoder
from features.parsers.settings import EmbeddingSettings, LabelVectorSettings


class TextVectors:
    """Vectors from a text file; a word that is not in it has none.

    Args:
        path: file with a word and its numbers, separated by spaces, on each line; `.gz` by suffix. A first line with
            only the counts (word2vec) is skipped. All is kept in memory: 0.5 GB for 400,000 words of 300 numbers.
    """

    def __init__(self, path: Path) -> None:
        self._rows, self._matrix = _read(path)

    def look_up(self, words: Sequence[str], on_rows: OnRows = ignore_rows) -> tuple[list[str], NDArray[np.float32]]:
        """Return the words that the file has, and their vectors, (n, d) float32 of unit length."""
        on_rows(0, len(words))
        recorded = [word for word in words if word in self._rows]
        return recorded, self._matrix[[self._rows[word] for word in recorded]]


WordVectors = SentenceEncoder | TextVectors


def load(settings: LabelVectorSettings, *, light: bool = False) -> WordVectors:
    """Load word vectors, once per process and state of settings and files; their encoder may be `light`."""
    if settings.file is not None:
        return _load_text(settings.file, stamp(settings.file))
    encoder = EmbeddingSettings(model=settings.model, device=settings.device, threads=settings.threads)
    return load_encoder(encoder, light=light)


@lru_cache(maxsize=1)
def _load_text(path: Path, _stamp: object) -> TextVectors:
    return TextVectors(path)


def _read(path: Path) -> tuple[dict[str, int], NDArray[np.float32]]:
    rows: dict[str, int] = {}
    vectors: list[NDArray[np.float32]] = []
    dimension = 0
    with open_text(path, newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2:
                continue
            dimension = dimension or len(fields) - 1
            # From the right: a few words in GloVe's largest file contain spaces.
            word, numbers = " ".join(fields[:-dimension]), fields[-dimension:]
            try:
                vector = np.array(numbers, dtype=np.float32)
            except ValueError as error:
                raise RowWrong(
                    f"Line {number} of {str(path)!r} is not a word with {dimension} numbers ({line[:40]!r}...): give"
                    f" word vectors as text, one word per line."
                ) from error
            norm = float(np.linalg.norm(vector))
            if not word or not np.isfinite(norm):
                raise RowWrong(f"Line {number} of {str(path)!r} has no word or no finite numbers; repair the file.")
            if word not in rows and norm > 0:
                rows[word] = len(vectors)
                vectors.append(vector / norm)
    if not vectors:
        raise FileEmpty(f"The file {str(path)!r} has no word vectors; give a text file with one word per line.")
    return rows, np.stack(vectors)
