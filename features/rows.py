"""How long work over many rows says how far it is, to whom it may concern: a terminal, or nobody."""

from collections.abc import Callable

OnRows = Callable[[int, int], None]
"""Called with the number of rows that are done, and of all."""


def ignore_rows(_done: int, _total: int) -> None:
    """Tell nobody."""
