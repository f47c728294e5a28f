"""Numbers with their nouns, in the number that they need."""


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
