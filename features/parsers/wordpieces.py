"""From words to the word pieces of BERT, word by word, so that every piece belongs to a known word.

    words     The  cat  meowed
    pieces    [CLS]  the  cat  me  ##owed  [SEP]
    starts            1    2    3
    ends              1    2    4

`of_encoder` splits a word as the encoder's own tokenizer does: accents are stripped, punctuation is split off.
`of_vocabulary` splits it as AllenNLP's `srl` reader does: longest pieces first, [UNK] if none fits, and nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from features.core.faults import ModelDamaged
from features.core.libraries import importing

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_LONGEST_WORD = 100  # characters, as in BERT
_KEPT = 2**16  # words whose pieces are kept, about 36 MiB
_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


@dataclass(frozen=True, slots=True)
class Pieces:
    """A sentence as BERT reads it."""

    ids: tuple[int, ...]  # vocabulary indices, including the begin and end pieces
    starts: tuple[int, ...]  # position in `ids` of the first piece of each word
    ends: tuple[int, ...]  # position in `ids` of the last piece of each word; before the first if the word has none


class Wordpieces:
    """Splits words into pieces of a vocabulary; the pieces of the latest words are cached."""

    def __init__(self, file: Path, tokenizer: "Tokenizer", cut: Callable[[str], list[int]]) -> None:
        self.vocabulary: dict[str, int] = tokenizer.get_vocab()
        if missing := [piece for piece in (_BEGIN, _END, _UNKNOWN) if piece not in self.vocabulary]:
            raise ModelDamaged(f"The vocabulary {str(file)!r} has no {missing[0]!r}; give that of a BERT.")
        self._begin, self._end, self.unknown = (self.vocabulary[piece] for piece in (_BEGIN, _END, _UNKNOWN))
        self._pieces_of = lru_cache(_KEPT)(cut)

    @classmethod
    def of_encoder(cls, folder: Path) -> Self:
        """Return an instance that splits words as the tokenizer in an encoder's folder does."""
        with importing("The parser needs tokenizers", "encoders"):
            from tokenizers import Tokenizer

        file = folder / "tokenizer.json"
        tokenizer = Tokenizer.from_str(_read(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(file, tokenizer, lambda word: tokenizer.encode(word, add_special_tokens=False).ids)

    @classmethod
    def of_vocabulary(cls, file: Path, *, lowercase: bool) -> Self:
        """Return an instance that splits words as AllenNLP's `srl` reader does, by BERT's `vocab.txt`."""
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece

        lines = _read(file).split("\n")
        index = {piece.rstrip("\r"): number for number, piece in enumerate(lines) if piece}
        model = WordPiece(index, unk_token=_UNKNOWN, max_input_chars_per_word=_LONGEST_WORD)
        tokenizer = Tokenizer(model)

        def cut(word: str) -> list[int]:
            parts = (word.lower() if lowercase else word).split()
            return [piece for part in parts for piece in tokenizer.encode(part, add_special_tokens=False).ids]

        return cls(file, tokenizer, cut)

    def cut(self, words: Sequence[str], *, most: int | None = None) -> Pieces:
        """Return the word pieces of a sentence: of each word only the first `most`, where an unknown word has one."""
        ids, starts, ends = [self._begin], [], []
        for word in words:
            starts.append(len(ids))
            pieces = self._pieces_of(word)
            ids += pieces if most is None else pieces[:most] or [self.unknown]
            ends.append(len(ids) - 1)
        ids.append(self._end)
        return Pieces(tuple(ids), tuple(starts), tuple(ends))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelDamaged(f"The vocabulary {str(file)!r} cannot be read ({error}).") from error
