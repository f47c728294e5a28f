"""How work over many rows reports its progress, whether to a terminal, to a flow or to nobody."""

from collections.abc import Callable

OnRows = Callable[[int, int], None]
"""Called with the number of finished rows and of all rows."""


def ignore_rows(_done: int, _total: int) -> None:
    """Ignore the progress."""
