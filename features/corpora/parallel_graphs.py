"""Parsed pairs of sentences: two PENMAN files whose n-th blocks are the n-th pair."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from features.core.errors import RowError
from features.core.faults import FileEmpty, NotParallel
from features.core.types import RejectCode
from features.corpora.tables import TableRow
from features.graphs.penman_files import PenmanBlock, read_blocks


def read_parallel(first: Path, second: Path) -> Iterator[TableRow | tuple[int, RowError]]:
    """Read the sentences of two parallel PENMAN files.

    A block whose graph is broken still has its sentence; the parse stage reports what is wrong with the graph.

    Yields:
        The two sentences of each position (`# ::snt`) at the line of block a, or what was wrong.

    Raises:
        InputError: a file cannot be read or is empty, or the numbers of blocks differ.
    """
    count = 0
    for block_a, block_b in zip_longest(read_blocks(first), read_blocks(second)):
        if block_a is None or block_b is None:
            longer = second if block_a is None else first
            raise NotParallel(
                f"{str(first)!r} and {str(second)!r} are not parallel: {longer.name} continues after {count} blocks; "
                "give two files with one block per pair."
            )
        count += 1
        unnamed = [block for block in (block_a, block_b) if not block.metadata.get("snt", "").strip()]
        if unnamed:
            yield block_a.line, _without_sentence(unnamed[0])
        else:
            yield TableRow(block_a.line, block_a.metadata["snt"], block_b.metadata["snt"], None, None, None)
    if not count:
        raise FileEmpty(f"{str(first)!r} has no graphs: check that it was written to its end.")


def _without_sentence(block: PenmanBlock) -> RowError:
    where = f"{block.path.name}:{block.line}"
    return RowError(RejectCode.EMPTY_SENTENCE, f"the block at {where} has no sentence; expected a line '# ::snt ...'")
