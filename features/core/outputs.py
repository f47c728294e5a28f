"""Files that are written whole or not at all, and the formats that their suffixes name.

-o graphs.amr      written under a temporary name, flushed, renamed: a reader sees the old or the complete new file
-o graphs.amr.gz   the same, compressed
-o -               standard output, once everything is ready
-o /dev/stdout     anything but a regular file (a device, a pipe) is written to directly, and never replaced
"""

import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from features.core import leftovers
from features.core.errors import InputError
from features.core.faults import OutputOverwrites, OutputRefused, UnknownFormat
from features.core.file_errors import explain

STANDARD = Path("-")
"""Standard input where a file is read, standard output where one is written."""

Formats = Mapping[str, tuple[str, ...]]
"""Format name → the suffixes that select it."""

TABLE_FORMATS = {"tsv": (".tsv", ".txt"), "csv": (".csv",), "jsonl": (".jsonl", ".ndjson"), "parquet": (".parquet",)}
"""The formats of tables; see `features.core.files`."""

BINARY = frozenset({"parquet", "arrow"})
"""Formats that are already compressed."""

_IN_MEMORY = 1 << 26  # bytes of standard output buffered in memory before a temporary file is used


def shown(path: Path, standard: str = "standard output") -> str:
    """Return a file's name for messages: its path in quotes, or for `-` that of the standard stream."""
    return standard if path == STANDARD else repr(str(path))


def format_of(path: Path, formats: Formats, chosen: str | None = None, *, by_name: bool = True) -> str:
    """Return the format to write: the chosen one, or that of the suffix, or the first for standard output.

    `.gz` after another suffix compresses; `by_name` is whether there is an option `--format` to choose the format.
    """
    suffix, zipped = format_suffix(path)
    kind = chosen or next((name for name, suffixes in formats.items() if suffix in suffixes), None)
    if kind is None and path == STANDARD:
        kind = next(iter(formats))
    if kind is not None and not (zipped and kind in BINARY):
        return kind
    what = "has no suffix of a supported output format" if kind is None else f"would compress {kind} twice"
    listed = ", ".join(suffix for suffixes in formats.values() for suffix in suffixes)
    named = f", or choose with --format ({', '.join(formats)})" if by_name else ""
    raise UnknownFormat(f"{shown(path)} {what}: use one of {listed}{named}; text formats also with .gz.")


def format_suffix(path: Path) -> tuple[str, bool]:
    """Return the suffix that names a format, in lower case, and whether `.gz` follows it.

    >>> format_suffix(Path("v1.2.TSV.gz"))
    ('.tsv', True)
    """
    zipped = path.suffix.lower() == ".gz"
    return (path.with_suffix("") if zipped else path).suffix.lower(), zipped


def check_output(path: Path, *others: Path) -> None:
    """Refuse an output that cannot be written, before any work is done; `others` are all other files of the command."""
    if path == STANDARD:
        return
    for other in others:
        if other != STANDARD and path.resolve() == other.resolve() and (path.is_file() or not path.exists()):
            raise OutputOverwrites(
                f"{shown(path)} is named twice, and the output would overwrite the other file: give the "
                "output a file of its own."
            )
    try:
        if path.is_dir():
            raise _refused(path, IsADirectoryError())
        if path.exists() and not path.is_file():
            return
        folder = next(above for above in path.resolve().parents if above.exists())
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise _refused(path, error) from error


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Provide a binary file to write to; it becomes `path` when the block ends without an exception.

    It is compressed if the path ends in `.gz`. Missing parent folders are created; `-` is standard output.

    Raises:
        InputError: it cannot be written.
        BrokenPipeError: the reader of standard output is gone.
    """
    try:
        if path == STANDARD:
            with _standard_output() as file:
                yield file
        else:
            with _replacing(path) as file, _compressed(file, path) as target:
                yield target
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refused(path, error) from error


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a UTF-8 text file, whole or not at all, from the parts of its text; path and errors as for `whole_file`."""
    with whole_file(path) as file:
        file.writelines(part.encode() for part in parts)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        yield file
        file.seek(0)
        sys.stdout.flush()
        try:
            if sys.stdout.isatty():  # as text, in which the command line escapes control characters
                sys.stdout.write(file.read().decode(errors="replace"))
                sys.stdout.flush()
                return
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError:
            # Do not retry the failed write when the process ends.
            with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            raise


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # the file that a link points to, not the link
    temporary = leftovers.beside(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with leftovers.held_file(temporary) as file:
        with suppress(OSError):  # a new file, or a file system without modes
            shutil.copymode(path, temporary)
        yield file
        file.flush()
        os.fsync(file.fileno())
        temporary.replace(path)


def _compressed(file: IO[bytes], path: Path) -> AbstractContextManager[Any]:
    # No name and no time inside: equal content gives equal bytes.
    zipped = path.suffix.lower() == ".gz"
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if zipped else nullcontext(file)


def _refused(path: Path, error: OSError) -> InputError:
    return OutputRefused(f"{shown(path)} cannot be written: {explain(error)}.")
