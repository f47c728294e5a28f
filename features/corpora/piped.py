"""Tables from pipes, which can be read only once, as files, which can be read again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from features.core.errors import InputError
from features.core.faults import FileEmpty
from features.core.files import open_bytes, source_name
from features.core.leftovers import scratch
from features.core.outputs import STANDARD, TABLES


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """Yield a file that can be read several times: a named pipe, or `-` for standard input, is copied to a file.

    Errors raised within the block name the pipe, not the copy.
    """
    if path != STANDARD and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    name = source_name(path)
    with open_bytes(path) as source:
        content = source.read()
    if not content.strip():
        raise FileEmpty(f"{name[0].upper()}{name[1:]} is empty: write a table to it, with a header line.")
    with scratch("input") as folder:
        copy = folder / _name_of_copy(path, content.split(b"\n", 1)[0])
        copy.write_bytes(content)
        try:
            yield copy
        except InputError as error:
            error.args = (str(error).replace(repr(str(copy)), name),)
            raise


def _name_of_copy(path: Path, first: bytes) -> str:
    """Return a name whose suffix is that of a pipe, which `open_bytes` decompresses, or what the first line shows."""
    name = "standard input" if path == STANDARD else path.name.removesuffix(".gz")
    if any(name.lower().endswith(suffix) for suffixes in TABLES.values() for suffix in suffixes):
        return name
    suffix = ".jsonl" if first.lstrip().startswith(b"{") else ".tsv" if b"\t" in first or b"," not in first else ".csv"
    return f"{name}{suffix}"
