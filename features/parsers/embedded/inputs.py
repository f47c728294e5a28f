"""Sentences and nodes as padded tensors.

While training, lengths are padded to even numbers, so that matrices come in fewer shapes; each new one costs the CPU
library a plan. Padding to multiples of eight would cost a tenth of a training, and a fifth of a parser's time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.words import Word, spelling_features

if TYPE_CHECKING:
    import torch

    from features.parsers.embedded.network import NodeTensors, TextTensors

Ids = NDArray[np.int64]

_MOST_PIECES_OF_A_WORD = 8
_MULTIPLE = 2


@dataclass(frozen=True, slots=True)
class TextIds:
    """One sentence as numbers.

    Args:
        pieces: word pieces with those of begin and end, shape (n_pieces,).
        first: first piece of each word, shape (n_words,).
        last: last piece of each word, shape (n_words,).
        spelling: casing, suffix and spelling of each word, shape (n_words, 3).
    """

    pieces: Ids
    first: Ids
    last: Ids
    spelling: Ids


class WordPieces:
    """Turns words into word pieces; each distinct word is looked up once.

    Args:
        folder: of the base encoder.
        positions: the longest sequence that it reads.
    """

    def __init__(self, folder: Path, positions: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        vocabulary = self._tokenizer.get_vocab()
        self._begin, self._end, self._unknown = (vocabulary[token] for token in ("[CLS]", "[SEP]", "[UNK]"))
        self.longest = positions - 2
        """Word pieces of the longest sentence, without those of begin and end."""
        self._known: dict[str, tuple[list[int], tuple[int, int, int]]] = {}

    def spelt_words(self) -> set[str]:
        """Return the pieces that are whole words: of letters, and longer than most fragments."""
        return {piece for piece in self._tokenizer.get_vocab() if piece.isalpha() and len(piece) > 2}

    def count(self, words: Sequence[Word]) -> int:
        """Return how many word pieces a sentence has."""
        return sum(len((self._known.get(word.text) or self._look_up(word.text))[0]) for word in words)

    def ids(self, words: Sequence[str]) -> TextIds:
        """Return a sentence as numbers; words beyond the longest sequence share its last piece."""
        pieces, first, last, spelling = [self._begin], [], [], []
        for word in words:
            found = self._known.get(word) or self._look_up(word)
            first.append(len(pieces))
            pieces += found[0]
            last.append(len(pieces) - 1)
            spelling.append(found[1])
        return TextIds(
            pieces=np.array([*pieces[: self.longest + 1], self._end]),
            first=np.minimum(first, self.longest).astype(np.int64),
            last=np.minimum(last, self.longest).astype(np.int64),
            spelling=np.array(spelling, np.int64).reshape(-1, 3),
        )

    def _look_up(self, word: str) -> tuple[list[int], tuple[int, int, int]]:
        pieces = self._tokenizer.encode(word, add_special_tokens=False).ids[:_MOST_PIECES_OF_A_WORD]
        found = (pieces or [self._unknown], spelling_features(word))
        self._known[word] = found
        return found


def text_tensors(
    sentences: Sequence[TextIds], device: "torch.device | str" = "cpu", multiple: int = _MULTIPLE
) -> "TextTensors":
    """Return a batch of sentences; lengths are padded to the next multiple."""
    import torch

    def ready(array: NDArray[np.generic]) -> "torch.Tensor":
        return torch.from_numpy(array).to(device)

    words = [len(sentence.first) for sentence in sentences]
    pieces = [len(sentence.pieces) for sentence in sentences]
    return {
        "pieces": ready(pad([sentence.pieces for sentence in sentences], multiple=multiple)),
        "piece_mask": ready(present(pieces, multiple)),
        "first": ready(pad([sentence.first for sentence in sentences], multiple=multiple)),
        "last": ready(pad([sentence.last for sentence in sentences], multiple=multiple)),
        "word_mask": ready(present(words, multiple)),
        "spelling": ready(pad([sentence.spelling for sentence in sentences], multiple=multiple)),
    }


def node_tensors(
    nodes: Sequence[Ids], device: "torch.device | str" = "cpu", multiple: int = _MULTIPLE
) -> "NodeTensors":
    """Return the nodes of a batch: word, place and concept of each, shape (n_nodes, 3) a sentence."""
    import torch

    words, places, concepts = torch.from_numpy(pad(nodes, multiple=multiple)).to(device).unbind(-1)
    return {
        "node_words": words,
        "node_places": places,
        "node_concepts": concepts,
        "node_mask": torch.from_numpy(present([len(row) for row in nodes], multiple)).to(device),
    }


def padded_length(length: int, multiple: int) -> int:
    """Return the next multiple, at least one."""
    return max(1, -(-length // multiple)) * multiple


def pad(rows: Sequence[Ids], value: int = 0, multiple: int = _MULTIPLE) -> Ids:
    """Return rows of different length as one array, shape (n_rows, padded length, ...)."""
    padded = np.full((len(rows), padded_length(max(map(len, rows)), multiple), *rows[0].shape[1:]), value, np.int64)
    for position, row in enumerate(rows):
        padded[position, : len(row)] = row
    return padded


def present(lengths: Sequence[int], multiple: int = _MULTIPLE) -> NDArray[np.bool_]:
    """Return where a padded row has a value, shape (n_rows, padded length)."""
    return np.arange(padded_length(max(lengths), multiple))[None, :] < np.array(lengths)[:, None]
