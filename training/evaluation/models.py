"""The encoder that is evaluated and the model that it started from, as functions that embed each text once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.encoders.loading import load_encoder
from training.progress import Counted

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts → embeddings, (n, d)."""
_ENCODED_AT_ONCE = 1024  # texts between two looks at the clock: enough to sort by length, seconds on a slow machine


@dataclass(frozen=True, slots=True)
class Models:
    """What suites embed with.

    Args:
        encoder: the one that is evaluated.
        start: the model that it started from; None where that is not known.
    """

    encoder: Embed
    start: Embed | None


class Embedder:
    """Encodes each text once, whatever number of suites, pairs and sets it is in.

    Args:
        folder: of the model.
        name: what the progress calls it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.model = load_encoder(folder)
        self.name = name
        self.positions: dict[str, int] = {}
        self.vectors = np.empty((0, 0), dtype=np.float32)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, (n, d)."""
        new = list(dict.fromkeys(text for text in texts if text not in self.positions))
        counted = Counted(f"encoding with {self.name}", len(new), "sentences")
        for start in range(0, len(new), _ENCODED_AT_ONCE):
            some = new[start : start + _ENCODED_AT_ONCE]
            encoded = self.model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False)
            self.positions.update({text: len(self.vectors) + row for row, text in enumerate(some)})
            self.vectors = encoded if not len(self.vectors) else np.concatenate([self.vectors, encoded])
            counted.add(len(some))
        return self.vectors[[self.positions[text] for text in texts]]
