"""Parts of messages: numbers with their nouns, times, hints at the name that was meant, and numbers in letters."""

import difflib
from collections.abc import Iterable


def counted(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "pair"), counted(2000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def all_of(number: int, what: str) -> str:
    """Return all of a number of things as the subject of a sentence.

    >>> all_of(1, "pair"), all_of(2000, "pair")
    ('The only pair', 'All 2,000 pairs')
    """
    return f"The only {what}" if number == 1 else f"All {counted(number, what)}"


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> clock(3725.2)
    '1:02:05'
    """
    minutes, whole = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}"


def clipped(text: str, most: int = 300, start: int = 0) -> str:
    """Return so many letters of a text, from a position on; all of a text that has no more.

    >>> clipped("two words", 20), clipped("two words", 4), clipped("two words", 3, 4)
    ('two words', 'two…', '…wor…')
    """
    end = start + most
    if len(text) <= most:
        return text
    return f"{'…' if start else ''}{text[start:end].rstrip()}{'…' if end < len(text) else ''}"


def did_you_mean(name: object, known: Iterable[str], then: str) -> str:
    """Return the end of a message about an unknown name: the known name closest to it, if one is close, then `then`.

    >>> did_you_mean("tran", ["train", "dev"], "use train or dev")
    "did you mean 'train'? Use train or dev"
    >>> did_you_mean("other", ["train", "dev"], "use train or dev")
    'use train or dev'
    """
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]!r}? {then[:1].upper()}{then[1:]}" if close else then


POWERS = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELT = {
    **{word: str(value) for value, word in enumerate(f"{_UNITS} seventeen eighteen nineteen".split())},
    **{word: str(10 * value) for value, word in enumerate(_TENS.split(), start=2)},
    **{word: str(value) for word, value in POWERS.items()},
}


def spelt_number(word: str) -> str | None:
    """Return the value of a number written in letters; None for any other word.

    >>> spelt_number("Fifty")
    '50'
    """
    return _SPELT.get(word.lower())
