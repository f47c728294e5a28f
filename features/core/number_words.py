"""Numbers in letters: "fifty" is 50."""

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
