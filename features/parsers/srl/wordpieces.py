"""Words to the word pieces of BERT, as AllenNLP's `srl` reader does.

    words     The  cat  meowed                    each word is cut on its own: longest pieces first, [UNK] if none fits
    pieces    [CLS]  the  cat  me  ##owed  [SEP]
    starts            1    2    3
    ends              1    2    4                  pieces before [SEP] that lie at or before the word, without [CLS]

A word is not split at its punctuation first and keeps its accents, which BERT's own tokenizer would take off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from features.errors import ModelError

_LONGEST_WORD = 100  # characters, as in BERT
_CLS, _SEP, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


@dataclass(frozen=True, slots=True)
class Pieces:
    """A sentence as BERT reads it.

    Args:
        ids: vocabulary indices, with [CLS] and [SEP].
        starts: position in `ids` of the first piece of each word.
        ends: position in `ids` of the last piece of each word.
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class Wordpieces:
    """The vocabulary, and the cutting of words.

    Args:
        vocabulary: BERT's `vocab.txt`, a piece a line.
        lowercase: whether the model is uncased.

    Raises:
        ModelError: the file cannot be read, or lacks BERT's special pieces.
    """

    def __init__(self, vocabulary: Path, *, lowercase: bool) -> None:
        try:
            lines = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"The vocabulary {str(vocabulary)!r} cannot be read ({error}).") from error
        self._index = {piece.rstrip("\r"): number for number, piece in enumerate(lines) if piece}
        missing = [piece for piece in (_CLS, _SEP, _UNKNOWN) if piece not in self._index]
        if missing:
            raise ModelError(f"The vocabulary {str(vocabulary)!r} has no {missing[0]!r}; give the vocab.txt of a BERT.")
        self._lowercase = lowercase
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return max(self._index.values()) + 1

    def cut(self, words: Sequence[str]) -> Pieces:
        """Return the word pieces of a sentence."""
        ids, starts, ends = [self._index[_CLS]], [], []
        for word in words:
            starts.append(len(ids))
            ids += self._pieces(word)
            ends.append(len(ids) - 1)
        ids.append(self._index[_SEP])
        return Pieces(tuple(ids), tuple(starts), tuple(ends))

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._known.get(word)
        if known is None:
            text = word.lower() if self._lowercase else word
            known = tuple(piece for part in text.split() for piece in self._longest_first(part))
            self._known[word] = known
        return known

    def _longest_first(self, text: str) -> list[int]:
        unknown = [self._index[_UNKNOWN]]
        if len(text) > _LONGEST_WORD:
            return unknown
        pieces: list[int] = []
        start = 0
        while start < len(text):
            prefix = "##" if start else ""
            for end in range(len(text), start, -1):
                found = self._index.get(prefix + text[start:end])
                if found is not None:
                    pieces.append(found)
                    start = end
                    break
            else:
                return unknown
        return pieces
