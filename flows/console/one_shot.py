"""What the commands on files share: how they end, and how they report lines that were not processed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from features.core.faults import OutputOverwrites
from features.core.outputs import STANDARD, TABLE_FORMATS, check_output, format_of, shown
from flows.terminal import Verbosity, say, verbosity, warn

_NAMED = 20
"""Number of unprocessed lines that are named; the others are only counted."""


@contextmanager
def nothing_half_written(left: str = "nothing was written") -> Iterator[None]:
    """Let the command line report at an interrupt that the output is unchanged, or what else is left."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Interrupted; {left}.") from None


def require_one_standard(first: Path, second: Path) -> None:
    """Refuse to read two files from standard input."""
    if first == second == STANDARD:
        raise click.UsageError("only one of the two files can be '-': standard input is read once")


def check_table(output: Path, form: str | None, *inputs: Path) -> None:
    """Check before the work starts that a table can be written: in a format that there is, and over no input."""
    format_of(output, TABLE_FORMATS, form)
    check_output(output, *inputs)


def check_page(html: Path | None, *inputs: Path, as_json: bool) -> None:
    """Check before the work starts that a page can be written: over no input or other file, and not amid JSON."""
    if as_json and html == STANDARD:
        raise click.UsageError("--html - and --json would both write to standard output; give the page a file")
    if html is not None:
        check_output(html, *inputs)
        if html.is_file() and html.suffix.lower() not in {"", ".html", ".htm"}:  # such as the project or a corpus
            raise OutputOverwrites(f"{shown(html)} is there already, and is no page: name another file, as page.html.")


def warn_of_languages(texts: Iterable[str]) -> None:
    """Say on stderr that some sentences seem not to be English, if any do."""
    from features.parsers.language import tell_languages

    if note := tell_languages(texts):
        warn(f"Note: {note}")


def name_wrong(sentences: Sequence[str]) -> None:
    """Name what was not processed, one a line; after the twentieth only count, unless `--verbose` asks for all."""
    shown = len(sentences) if verbosity() >= Verbosity.VERBOSE else _NAMED
    for sentence in sentences[:shown]:
        warn(sentence)
    if len(sentences) > shown:
        warn(f"… and {len(sentences) - shown:,} more; --verbose names them all.")


def say_written(what: str, output: Path) -> None:
    """Report what was written to a file; say nothing when the result goes to standard output."""
    if output != STANDARD:
        say(f"Wrote {what} to {os.fspath(output)}.")
