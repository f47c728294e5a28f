"""Sentences and nodes as padded tensors.

In training, and by the tagger of roles, lengths are padded to even numbers, so that matrices have fewer shapes; for
each new one the CPU library makes a plan. Padding to multiples of eight would cost a tenth of training and of tagging
time, and a fifth of parsing time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.words import Word, spelling_features
from features.parsers.wordpieces import Wordpieces

if TYPE_CHECKING:
    import torch

    from features.parsers.embedded.network import NodeTensors, TextTensors

Ids = NDArray[np.int64]

_MOST_PIECES_OF_A_WORD = 8
_MULTIPLE = 2


@dataclass(frozen=True, slots=True)
class TextIds:
    """One sentence as numbers."""

    pieces: Ids  # word pieces, including the begin and end pieces, (n_pieces,)
    first: Ids  # first piece of each word, (n_words,)
    last: Ids  # last piece of each word, (n_words,)
    spelling: Ids  # casing, suffix and spelling of each word, (n_words, 3)


class SentenceReader:
    """Turns words into the network's input, word pieces and spelling, for a base encoder of at most `positions`."""

    def __init__(self, folder: Path, positions: int) -> None:
        self._pieces = Wordpieces.of_encoder(folder)
        self.longest = positions - 2  # word pieces of a sentence, without the begin and end pieces

    def spelt_words(self) -> set[str]:
        """Return the pieces that are whole words: made of letters, and longer than most fragments."""
        return {piece for piece in self._pieces.vocabulary if piece.isalpha() and len(piece) > 2}

    def count(self, words: Sequence[Word]) -> int:
        """Return how many word pieces a sentence has."""
        return len(self._pieces.cut([word.text for word in words], most=_MOST_PIECES_OF_A_WORD).ids) - 2

    def ids(self, words: Sequence[str]) -> TextIds:
        """Return a sentence as numbers; words beyond the longest sequence share its last piece."""
        pieces = self._pieces.cut(words, most=_MOST_PIECES_OF_A_WORD)
        *inner, end = pieces.ids
        return TextIds(
            pieces=np.array([*inner[: self.longest + 1], end]),
            first=np.minimum(pieces.starts, self.longest).astype(np.int64),
            last=np.minimum(pieces.ends, self.longest).astype(np.int64),
            spelling=np.array([spelling_features(word) for word in words], np.int64).reshape(-1, 3),
        )


def text_tensors(
    sentences: Sequence[TextIds], device: "torch.device | str" = "cpu", multiple: int = _MULTIPLE
) -> "TextTensors":
    """Return a batch of sentences; lengths are padded to the next multiple."""
    import torch

    def padded(name: str) -> "torch.Tensor":
        return torch.from_numpy(pad([getattr(each, name) for each in sentences], multiple=multiple)).to(device)

    def mask(lengths: Sequence[int]) -> "torch.Tensor":
        return torch.from_numpy(present(lengths, multiple)).to(device)

    return {
        "pieces": padded("pieces"),
        "piece_mask": mask([len(sentence.pieces) for sentence in sentences]),
        "first": padded("first"),
        "last": padded("last"),
        "word_mask": mask([len(sentence.first) for sentence in sentences]),
        "spelling": padded("spelling"),
    }


def node_tensors(
    nodes: Sequence[Ids], device: "torch.device | str" = "cpu", multiple: int = _MULTIPLE
) -> "NodeTensors":
    """Return the nodes of a batch: word, place and concept of each, shape (n_nodes, 3) per sentence."""
    import torch

    words, places, concepts = torch.from_numpy(pad(nodes, multiple=multiple)).to(device).unbind(-1)
    return {
        "node_words": words,
        "node_places": places,
        "node_concepts": concepts,
        "node_mask": torch.from_numpy(present([len(row) for row in nodes], multiple)).to(device),
    }


def padded_length(length: int, multiple: int = _MULTIPLE) -> int:
    """Return the next multiple, at least one."""
    return max(1, -(-length // multiple)) * multiple


def pad(rows: Sequence[Ids], value: int = 0, multiple: int = _MULTIPLE) -> Ids:
    """Return rows of different lengths as one array, shape (n_rows, padded length, ...)."""
    padded = np.full((len(rows), padded_length(max(map(len, rows)), multiple), *rows[0].shape[1:]), value, np.int64)
    for position, row in enumerate(rows):
        padded[position, : len(row)] = row
    return padded


def present(lengths: Sequence[int], multiple: int = _MULTIPLE) -> NDArray[np.bool_]:
    """Return where a padded row has a value, shape (n_rows, padded length)."""
    return np.arange(padded_length(max(lengths), multiple))[None, :] < np.array(lengths)[:, None]
