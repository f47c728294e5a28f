"""A sentence as words: abbreviations, numbers, words, clitics and single marks, with their positions in the text."""

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from features.core.wording import POWERS

SUFFIXES = 4096
SPELLINGS = 16384
CASINGS = 8

_WORD = re.compile(
    r"""(?:[A-Za-z]\.){2,}            # U.S.
      | \d+(?:[.,]\d+)*               # 2,500.5
      | [^\W\d_]+(?=n['’]t\b)         # do|n't
      | n['’]t\b
      | ['’](?:s|re|ve|ll|d|m)\b
      | [^\W\d_]+
      | \S""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(\.\d+)?")


class Word(NamedTuple):
    """A word and the characters that it covers: `text[start:end]`."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Return the words of a sentence.

    >>> [word.text for word in split_words("The U.S. didn't pay $2.5 million.")]
    ['The', 'U.S.', 'did', "n't", 'pay', '$', '2.5', 'million', '.']
    """
    return [Word(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]


def is_readable(text: str) -> bool:
    """Return whether an English parser can read anything in a sentence: a Latin letter, or a digit and no other letter.

    >>> [is_readable(text) for text in ("A cat.", "Été 2008", "12:30", "他有2只猫", "🙂 !")]
    [True, True, True, False, False]
    """
    letters = [sign for sign in text if sign.isalpha()]
    if letters:
        return any(unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    return any(sign.isdigit() for sign in text)


def number_at(words: Sequence[str], position: int) -> str | None:
    """Return the value of the number that starts at a word, times a power that follows it; None if there is none.

    >>> number_at(["2.5", "million"], 0)
    '2500000'
    """
    digits = words[position].replace(",", "")
    if not digits[:1].isdigit() or not _NUMBER.fullmatch(digits):
        return None
    following = words[position + 1].lower() if position + 1 < len(words) else ""
    if following not in POWERS:
        return digits
    value = float(digits) * POWERS[following]
    return str(int(value)) if abs(value - round(value)) < 1e-6 else repr(round(value, 6))


@lru_cache(maxsize=1 << 16)
def spelling_features(word: str) -> tuple[int, int, int]:
    """Return features that the encoder's uncased word pieces lack: casing, hashed suffix, hashed spelling."""
    lower = word.lower()
    return _casing(word), zlib.crc32(lower[-3:].encode()) % SUFFIXES, zlib.crc32(lower.encode()) % SPELLINGS


def _casing(word: str) -> int:
    if word[0].isdigit():
        return 1
    if len(word) == 1 and not word.isalnum():
        return 2
    if word.islower():
        return 3
    if word.isupper() and len(word) > 1:
        return 4
    return 5 if word[0].isupper() else 6
