"""Files of AMR graphs: blocks of PENMAN with metadata, separated by blank lines.

    # ::id 7 ::date 2013-05-13          metadata: {"id": "7", "date": "2013-05-13", "snt": "A boy sleeps."}
    # ::snt A boy sleeps.
    (s / sleep-01                       text: from the first parenthesis on
       :ARG0 (b / boy))

A block that is wrong is an item like any other, with its error; the file goes on.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from features.errors import InputError, RowError
from features.graphs.graph import AmrGraph, decode
from features.types import RejectCode

_KEY = re.compile(r"(?:^|\s)::(\S+)")
_UP_TO_THE_END = ("snt", "tok")  # a sentence may contain `::`
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class PenmanBlock:
    """One block of a file.

    Args:
        metadata: values of the `# ::key value` lines, by key.
        text: the graph as written, without metadata; empty when there is none.
        path: the file.
        line: number of the block's first line, from 1.
        graph: the decoded graph; None when there is an error.
        error: why there is no graph: code, and a message with file, line and column.
    """

    metadata: dict[str, str]
    text: str
    path: Path
    line: int
    graph: AmrGraph | None = None
    error: RowError | None = None


def read_blocks(path: Path | str) -> Iterator[PenmanBlock]:
    """Read the blocks of a PENMAN file, in order.

    Comments that are not metadata are skipped, and so are blocks that hold nothing else.

    Args:
        path: UTF-8 text; gzip when the name ends in `.gz`.

    Yields:
        Each block, with its graph or its error.

    Raises:
        InputError: when the file cannot be read at all, or breaks off inside its compression.
    """
    path = Path(path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for block in _split(file):  # type: ignore[arg-type]  # GzipFile is iterated like any binary file
                if block.holds_something:
                    yield block.finish(path)
    except (OSError, EOFError) as error:
        raise InputError(
            f"the PENMAN file {str(path)!r} cannot be read ({error}); check path and permissions"
        ) from error


@dataclass(slots=True)
class _Lines:
    """The lines of one block, as they come."""

    first: int
    metadata: list[bytes] = field(default_factory=list)
    graph: list[bytes] = field(default_factory=list)
    graph_line: int = 0

    @property
    def holds_something(self) -> bool:
        return bool(self.graph) or any(b"::" in line for line in self.metadata)

    def finish(self, path: Path) -> PenmanBlock:
        metadata = _metadata(self.metadata)
        try:
            text = b"".join(self.graph).decode().strip()
        except UnicodeDecodeError as error:
            where = f"{path.name}, block at line {self.first}"
            message = f"{where}: not UTF-8 ({error.reason}); convert the file to UTF-8"
            return PenmanBlock(metadata, "", path, self.first, error=RowError(RejectCode.BAD_ENCODING, message))
        if not text:
            message = f"{path.name}, block at line {self.first}: there is metadata but no graph"
            return PenmanBlock(metadata, "", path, self.first, error=RowError(RejectCode.NO_GRAPH, message))
        try:
            return PenmanBlock(metadata, text, path, self.first, graph=decode(text))
        except RowError as error:
            message = f"{path.name}, graph at line {self.graph_line}: {error.message}"
            return PenmanBlock(metadata, text, path, self.first, error=RowError(error.code, message))


def _split(file: BinaryIO) -> Iterator[_Lines]:
    block = _Lines(1)
    for number, line in enumerate(file, start=1):
        line = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line  # noqa: PLW2901  # the same line
        content = line.strip()
        comment = content.startswith(b"#")
        # Metadata after a graph starts a block even where the blank line was forgotten.
        if not content or (comment and b"::" in content and block.graph):
            yield block
            block = _Lines(number if content else number + 1)
        if comment:
            block.metadata.append(content)
        elif content:
            block.graph_line = block.graph_line or number
            block.graph.append(line)
    yield block


def _metadata(lines: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        text = line.decode(errors="replace").lstrip("#").strip()
        keys = list(_KEY.finditer(text))
        # A comment without a key has no first one to follow: strict would count the None.
        for key, following in zip(keys, [*keys[1:], None], strict=False):
            if key[1] in _UP_TO_THE_END:
                found[key[1]] = text[key.end() :].strip()
                break
            found[key[1]] = text[key.end() : following.start() if following else None].strip()
    return found
