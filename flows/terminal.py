"""What a command says, and where: results on standard output, everything else on standard error.

                  --quiet   (default)   --verbose
    result          yes        yes         yes       standard output
    warn, conclude  yes        yes         yes       standard error
    say             no         yes         yes       standard error; progress bars and lines likewise
    detail          no         no          yes       standard error

With `--json` standard output holds JSON and nothing else, so that it can be read by another program.
Whoever listens (`heard_by`) hears every line at every verbosity, with its level.
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from typing import Any

import click


class Verbosity(IntEnum):
    """How much a command says beside its results."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL
_write: Callable[[str], object] = partial(click.echo, err=True)
_hear: Callable[[int, str], object] | None = None


def verbosity() -> Verbosity:
    """Return how much the running command says."""
    return _verbosity


def set_verbosity(level: Verbosity) -> None:
    """Choose how much the running command says."""
    global _verbosity  # noqa: PLW0603 (one command runs in a process, like the level of a logger)
    _verbosity = level


@contextmanager
def written_by(write: Callable[[str], object]) -> Iterator[None]:
    """Let a display that redraws itself, such as bars, write all lines that come meanwhile, so that it stays whole.

    Args:
        write: is given each line.
    """
    global _write  # noqa: PLW0603 (a terminal has one display)
    before, _write = _write, write
    try:
        yield
    finally:
        _write = before


@contextmanager
def heard_by(hear: Callable[[int, str], object]) -> Iterator[None]:
    """Let something else hear every line too, also those that the terminal does not show.

    Args:
        hear: is given the level of each line, as in `logging`, and the line.
    """
    global _hear  # noqa: PLW0603 (a process runs one command)
    before, _hear = _hear, hear
    try:
        yield
    finally:
        _hear = before


def warn(text: str) -> None:
    """Write a line that a user must not miss."""
    _tell(logging.WARNING, Verbosity.QUIET, text)


def conclude(text: str) -> None:
    """Write a line that says what came of it, which is also said with `--quiet`."""
    _tell(logging.INFO, Verbosity.QUIET, text)


def say(text: str) -> None:
    """Write a line about what is going on."""
    _tell(logging.INFO, Verbosity.NORMAL, text)


def detail(text: str) -> None:
    """Write a line that only helps to find out what went wrong."""
    _tell(logging.DEBUG, Verbosity.VERBOSE, text)


def overheard(level: int, text: str) -> None:
    """Let whoever listens hear a line that is on the terminal already, or is not for it.

    Args:
        level: as in `logging`.
        text: the line.
    """
    if _hear is not None:
        _hear(level, text)


def _tell(level: int, least: Verbosity, text: str) -> None:
    if _verbosity >= least:
        _write(text)
    overheard(level, text)


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """Write one JSON value to standard output: strict, so that NaN and infinities are refused.

    Args:
        value: what `json` can write.
        indent: blanks for each level; None for one line, as in JSON Lines.

    Raises:
        ValueError: when the value has a NaN or an infinity.
    """
    click.echo(json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False))
