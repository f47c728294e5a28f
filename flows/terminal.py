r"""What a command prints, and where: results on standard output, everything else on standard error.

                  --quiet   (default)   --verbose
    result          yes        yes         yes       standard output
    warn, conclude  yes        yes         yes       standard error
    say             no         yes         yes       standard error; also progress bars and lines
    detail          no         no          yes       standard error

With `--json`, standard output holds only JSON, so that another program can read it. Listeners (`heard_by`) receive
every line at every verbosity, with its level. Control characters of corpora, which could clear the screen or turn the
text around, are shown as JSON escapes them, `\u001b`; files have the characters themselves.
"""

import errno
import io
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr
from enum import IntEnum
from pathlib import Path
from typing import Any

import click


class Verbosity(IntEnum):
    """How much a command prints besides its results."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL
_n_json = 0
_hear: Callable[[int, str], object] | None = None
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, other line breaks, and overrides of the direction of text."""


def visible(text: str) -> str:
    r"""Return the text with its control characters escaped.

    >>> print(visible("\x1b[2Jgone"))
    \u001b[2Jgone
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class _Visible(io.TextIOWrapper):
    """Standard output or error, on which text appears with its control characters escaped."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        self.rich_proxied_file = stream
        """Where rich writes colours, bars and tables, of text that is `visible`."""

    def write(self, text: str) -> int:
        try:
            return super().write(visible(text))
        except OSError as error:
            if error.errno != errno.EIO or not os.fstat(self.fileno()).st_rdev:  # else a terminal that was closed
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # the work goes on, to its exit code
            return len(text)


def show_controls() -> None:
    """Escape the control characters of what this process prints from now on."""
    for name in ("stdout", "stderr"):
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            setattr(sys, name, _Visible(stream))


def bars_of_libraries() -> AbstractContextManager[Any]:
    """Let libraries draw progress bars, by control characters, on standard error in this context."""
    return redirect_stderr(getattr(sys.stderr, "rich_proxied_file", sys.stderr))


def verbosity() -> Verbosity:
    """Return the verbosity of the running command."""
    return _verbosity


def set_verbosity(level: Verbosity) -> None:
    """Set the verbosity of the running command."""
    global _verbosity  # noqa: PLW0603 (one command runs in a process, like the level of a logger)
    _verbosity = level


def count_json() -> int:
    """Return how many JSON values this process has written to standard output."""
    return _n_json


@contextmanager
def heard_by(hear: Callable[[int, str], object]) -> Iterator[None]:
    """Pass every line, with its level as in `logging`, to a listener, also those that the terminal does not show."""
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
    """Write a line about the result, even with `--quiet`."""
    _tell(logging.INFO, Verbosity.QUIET, text)


def say(text: str) -> None:
    """Write a line about what is happening."""
    _tell(logging.INFO, Verbosity.NORMAL, text)


def detail(text: str) -> None:
    """Write a line that only helps to diagnose problems."""
    _tell(logging.DEBUG, Verbosity.VERBOSE, text)


def overheard(level: int, text: str) -> None:
    """Pass listeners a line that is already on the terminal, or is not meant for it; the level is as in `logging`."""
    if _hear is not None:
        _hear(level, text)


def write_error(text: str) -> None:
    """Write to standard error; where its reader has gone, as in `build 2>&1 | head`, or its terminal, work goes on."""
    stream = sys.stderr or io.StringIO()  # rich's while there are bars; none in a process below one begun with `2>&-`
    try:
        stream.write(text)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _tell(level: int, least: Verbosity, text: str) -> None:
    text = visible(text)
    if _verbosity >= least:
        write_error(f"{text}\n")
    overheard(level, text)


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """Write one JSON value to standard output: strict, so that NaN and infinities are refused."""
    global _n_json  # noqa: PLW0603 (a process has one standard output)
    click.echo(json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False))
    _n_json += 1


def keep_traceback(text: str) -> Path:
    """Write a traceback to a file of its own, which only the user can read, and return its path."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="facetflow-error-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as log:
        log.write(text)
    return Path(log.name)
