"""Files of AMR graphs: blocks of PENMAN with metadata, separated by blank lines.

    # ::id 7 ::date 2013-05-13          metadata: {"id": "7", "date": "2013-05-13", "snt": "A boy sleeps."}
    # ::snt A boy sleeps.
    (s / sleep-01                       text: from the first parenthesis on
       :ARG0 (b / boy))

A wrong block is an item like any other, with its error; reading goes on. So is a placeholder for a sentence without a
graph, as written by `facetflow parse amr`:

    # ::id 8
    # ::snt The dogs.
    # ::reject no_graph: no graph file has a graph with ::snt 'The dogs.'

Such a block deliberately has no parenthesis: smatch skips it, amrlib's `load_amr_entries` keeps it as an entry without
a graph, penman takes its metadata for the next graph's and fails where there is none. A graph of one invented node
would be scored like any other, and smatch 1.0.4 fails on `()`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from features.core.errors import RowError
from features.core.faults import NotText
from features.core.files import open_bytes, short_name, source_name
from features.core.types import RejectCode
from features.graphs.graph import AmrGraph, decode

_KEY = re.compile(r"(?:^|\s)::(\S+)")
_REJECT = "reject"
_UP_TO_THE_END = ("snt", "tok", _REJECT)  # a sentence may contain `::`
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 4096
_LARGEST = 1 << 20  # bytes of a block; those of real corpora have some thousands


@dataclass
class PenmanBlock:
    """One block of a file; its graph is decoded when it is first asked for."""

    path: Path  # the file
    line: int  # number of the block's first line, from 1
    comments: list[bytes] = field(default_factory=list)  # lines that start with `#`
    lines: list[bytes] = field(default_factory=list)  # the other lines
    graph_line: int = 0  # number of the first of them
    size: int = 0  # bytes of the block; what is above a mebibyte is not kept

    @property
    def place(self) -> str:
        """File and line, as messages name them."""
        return f"{short_name(self.path)}, block at line {self.line}"

    @cached_property
    def metadata(self) -> dict[str, str]:
        """Values of the `# ::key value` lines, by key."""
        values: dict[str, str] = {}
        for line in self.comments:
            text = line.decode(errors="replace").lstrip("#").strip()
            keys = list(_KEY.finditer(text))
            # A comment without a key has no first key to follow: strict would count the None.
            for key, following in zip(keys, [*keys[1:], None], strict=False):
                if key[1] in _UP_TO_THE_END:
                    values[key[1]] = text[key.end() :].strip()
                    break
                values[key[1]] = text[key.end() : following.start() if following else None].strip()
        return values

    @property
    def text(self) -> str:
        """The graph as written, without metadata; empty if there is none."""
        return self._content[0]

    @property
    def graph(self) -> AmrGraph | None:
        """The decoded graph; None if there is an error."""
        return self._content[1]

    @property
    def error(self) -> RowError | None:
        """Why there is no graph: code, and a message with file, line and column."""
        return self._content[2]

    @cached_property
    def _content(self) -> tuple[str, AmrGraph | None, RowError | None]:
        metadata = self.metadata
        if self.size > _LARGEST:
            return self._wrong(RejectCode.BAD_PENMAN, f"larger than {_LARGEST >> 20} MiB")
        try:
            text = b"".join(self.lines).decode().strip()
        except UnicodeDecodeError as error:
            why = f"not UTF-8 ({error.reason}); convert the file to UTF-8"
            return self._wrong(RejectCode.BAD_ENCODING, why)
        if not text and _REJECT in metadata:
            return self._wrong(_code(metadata[_REJECT]), f"rejected as {metadata[_REJECT]}")
        if not text:
            return self._wrong(RejectCode.NO_GRAPH, "the block has metadata but no graph")
        try:
            return text, decode(text), None
        except RowError as error:
            message = f"{short_name(self.path)}, graph at line {self.graph_line}: {error.message}"
            return text, None, RowError(error.code, message)

    def _wrong(self, code: RejectCode, why: str) -> tuple[str, None, RowError]:
        return "", None, RowError(code, f"{self.place}: {why}")


def read_blocks(path: Path | str) -> Iterator[PenmanBlock]:
    """Yield the blocks of a PENMAN file, in order, each with its graph or its error.

    Comments that are not metadata are skipped, and so are blocks that contain nothing else. The file is UTF-8, gzip
    when its name ends in `.gz`; `-` is standard input.
    """
    path = Path(path)
    with open_bytes(path) as file:
        if b"\x00" in file.peek(_HEAD_BYTES)[:_HEAD_BYTES]:
            raise NotText(f"{source_name(path)} is not PENMAN text (it contains null bytes); give a file of graphs.")
        for block in _split(file, path):
            # A block of a sentence has a graph, too much of one, or metadata.
            if block.lines or block.size > _LARGEST or any(b"::" in line for line in block.comments):
                yield block


def format_block(identity: str, text: str, penman: str) -> str:
    """Return a block, including its blank line."""
    return f"{_head(identity, text)}{penman}\n\n"


def format_reject(identity: str, text: str, code: str, message: str) -> str:
    """Return the placeholder block of a sentence without a graph.

    >>> print(format_reject("8", "The dogs.", "no_graph", "no file has it"), end="")
    # ::id 8
    # ::snt The dogs.
    # ::reject no_graph: no file has it
    <BLANKLINE>
    """
    return f"{_head(identity, text)}# ::{_REJECT} {code}: {' '.join(message.split())}\n\n"


def _head(identity: str, text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in (f"# ::id {identity}", f"# ::snt {text}"))


def _code(reject: str) -> RejectCode:
    """Return the code that a `::reject` line starts with."""
    name = reject.partition(":")[0].strip()
    return RejectCode(name) if name in RejectCode.__members__.values() else RejectCode.NO_GRAPH


def _split(file: Iterable[bytes], path: Path) -> Iterator[PenmanBlock]:
    block = PenmanBlock(path, 1)
    for number, line in enumerate(file, start=1):
        line = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line  # noqa: PLW2901  # the same line
        content = line.strip()
        comment = content.startswith(b"#")
        # Metadata after a graph starts a block even if the blank line is missing.
        if not content or (comment and b"::" in content and block.lines):
            yield block
            block = PenmanBlock(path, number if content else number + 1)
        block.size += len(line)
        if block.size > _LARGEST:
            continue
        if comment:
            block.comments.append(content)
        elif content:
            block.graph_line = block.graph_line or number
            block.lines.append(line)
    yield block
