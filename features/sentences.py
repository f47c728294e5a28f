"""What a sentence is: its normalised text and the id derived from it.

Two texts are one sentence when they differ only in white space or in Unicode composition. Case and punctuation count,
because a parser sees them.
"""

import hashlib
import re
import unicodedata

from features.core.types import LabelId, SentenceId, Split

_NOT_A_WORD = re.compile(r"[^\w\s]")
ID_BYTES = 10  # 80 bits: for 10^9 sentences the chance of any collision is below 10^-6


def normalise(text: str) -> str:
    """Return the text in Unicode NFC, stripped, with every run of white space replaced by one space.

    >>> normalise("  A cat   sleeps. ")
    'A cat sleeps.'
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def leakage_key(text: str) -> str:
    """Return the text that the leakage guard compares: NFKC, case-folded, without punctuation, single spaces.

    >>> leakage_key("A cat, sleeping!") == leakage_key("a cat sleeping")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_NOT_A_WORD.sub(" ", folded).split())


def sentence_id(text: str) -> SentenceId:
    """Return the id of a sentence: 20 hexadecimal digits of BLAKE2b over its normalised text."""
    return id_of_normalised(normalise(text))


def id_of_normalised(text: str) -> SentenceId:
    """Return the id of a sentence whose text is normalised, which is not checked."""
    return SentenceId(_digest(text))


def label_id(corpus: str, split: Split, sentence: SentenceId, aspect: str, label: str, occurrence: int) -> LabelId:
    """Return the id of a label of a text.

    `label` is empty where a text has one label in an aspect, which may be corrected. `occurrence` is 0 for the first
    row of the split with this text, 1 for the next, where rows are counted.
    """
    return LabelId(_digest("\x1f".join((corpus, split, "label", sentence, aspect, label, str(occurrence)))))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=ID_BYTES).hexdigest()
