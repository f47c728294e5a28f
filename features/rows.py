"""How work over many rows reports its progress, without knowing to whom: a terminal, a flow, or nobody."""

from collections.abc import Callable

OnRows = Callable[[int, int], None]
"""Called with the number of rows that are done, and of all."""


def ignore_rows(_done: int, _total: int) -> None:
    """Tell nobody."""
