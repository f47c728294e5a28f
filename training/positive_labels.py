"""Which label of judged pairs is the positive one: paraphrase, duplicate."""

from collections.abc import Collection

POSITIVE = ("1", "paraphrase", "duplicate", "true", "yes")
"""Labels that mean a paraphrase where the encoder names no `positive_label`; case-insensitive."""


def positive_of(labels: Collection[str], named: str | None = None) -> str | None:
    """Return which of some labels is the positive one, None where it is unclear.

    Args:
        labels: all labels that pairs have.
        named: the `positive_label` of the encoder, which takes precedence; None where it has none.
    """
    if named in labels:
        return named
    known = [label for label in labels if label.casefold() in POSITIVE]
    return known[0] if len(known) == 1 else None
