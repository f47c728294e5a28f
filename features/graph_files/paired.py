"""Two files of AMR graphs, paired line by line: the first block of one with the first of the other, and so on.

    a.amr  # ::id 1 (b / bark-01 …)    # ::id 2 # ::reject …    # ::id 3 (r / rain-01)
    b.amr  # ::id 1 (b / bark-01 …)    # ::id 2 (d / dog)       # ::id 3 (p / pour-01)
                    pair 1              pair 2, without graphs           pair 3

A block without a graph keeps its place, and so do all that follow it. Files that do not match are refused: a pair of
graphs that do not belong together would have scores like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from features.core.faults import FileEmpty, NotParallel
from features.core.files import source_name
from features.core.wording import clipped, counted
from features.graphs.graph import AmrGraph
from features.graphs.penman_files import PenmanBlock, read_blocks

BY_POSITION = "if they belong together nevertheless, pair them with --by-position"


@dataclass(frozen=True, slots=True)
class BlockPair:
    """Two blocks that belong together."""

    number: int  # its number, from 1
    first: PenmanBlock  # block of the first file
    second: PenmanBlock  # block of the second file

    @property
    def ids(self) -> tuple[str | None, str | None]:
        """`::id` of each block, None if it has none."""
        first, second = (" ".join(block.metadata.get("id", "").split()) for block in (self.first, self.second))
        return first or None, second or None

    @property
    def name(self) -> str:
        """Number and ids of the pair, for messages."""
        ids = dict.fromkeys(identity for identity in self.ids if identity)
        if not ids or list(ids) == [str(self.number)]:
            return f"pair {self.number}"
        return f"pair {self.number} (id {' | '.join(map(repr, ids))})"

    @property
    def graphs(self) -> tuple[AmrGraph, AmrGraph] | None:
        """Both graphs; None if one is wrong."""
        if self.first.graph is None or self.second.graph is None:
            return None
        return self.first.graph, self.second.graph

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the blocks, one sentence each."""
        return faults_of((self.first, self.second))


def faults_of(blocks: Sequence[PenmanBlock]) -> tuple[str, ...]:
    """Return what is wrong with blocks, one sentence each, with the folders of two files that have the same name."""
    alike = len({block.path for block in blocks}) > len({block.path.name for block in blocks})
    return tuple(f"{block.path.parent}/" * alike + block.error.message for block in blocks if block.error is not None)


def pair_files(first: Path, second: Path, *, by_position: bool = False) -> list[BlockPair]:
    """Pair the blocks of two files in PENMAN (`.gz` too; `-` is standard input); ids may differ only `by_position`.

    Raises:
        InputError: a file cannot be read or has no block, or the files do not match.
    """
    sides = read_both(first, second)
    require_parallel((first, second), sides, by_position=by_position)
    return [BlockPair(number, *blocks) for number, blocks in enumerate(zip(*sides, strict=True), start=1)]


def read_both(first: Path, second: Path) -> list[list[PenmanBlock]]:
    """Return the blocks of two files; a file without any is refused."""
    sides = [list(read_blocks(path)) for path in (first, second)]
    for path, blocks in zip((first, second), sides, strict=True):
        if not blocks:
            raise FileEmpty(f"{source_name(path)} has no graph; give a file of graphs in PENMAN.")
    return sides


def require_parallel(
    paths: tuple[Path, Path], sides: Sequence[Sequence[PenmanBlock]], *, by_position: bool, why: str = ""
) -> None:
    """Refuse two files of which a block has no partner, or one with another id unless `by_position`; also say `why`."""
    counts, names = [len(blocks) for blocks in sides], [source_name(path) for path in paths]
    # Sentences may differ; where blocks are missing, they tell from which one on.
    keys = [*([] if by_position else ["id"]), *(["snt"] if counts[0] != counts[1] else [])]
    for number, both in enumerate(zip_longest(*sides), start=1):
        if None not in both and _agree(both, keys):
            continue
        files, what_to_do = f"{names[0]} and {names[1]} do not match line by line", BY_POSITION
        if counts[0] != counts[1]:
            files = f"{names[0]} has {counted(counts[0], 'graph')} and {names[1]} has {counts[1]:,}"
            what_to_do = "give files with one block per pair"
        left, right = map(_in_words, both)
        raise NotParallel(
            f"{files}{why}: pair {number} would be {left} with {right}{_earlier(sides, number)}; {what_to_do}."
        )


def _agree(both: Sequence[PenmanBlock], keys: Sequence[str]) -> bool:
    """Return whether two blocks agree in the first of some fields that both have: in the letters of sentences."""
    for key in keys:
        left, right = (block.metadata.get(key, "") for block in both)
        if left and right:
            spelt = ["".join(filter(str.isalnum, text.lower())) for text in (left, right)]
            return left == right or (key == "snt" and spelt[0] == spelt[1])
    return True


def _in_words(block: PenmanBlock | None) -> str:
    if block is None:
        return "nothing"
    identity, sentence = block.metadata.get("id"), clipped(block.metadata.get("snt", ""), 60)
    name = f"id {identity!r}" if identity else repr(sentence) if sentence else ""
    return f"{name} ({block.place})" if name else block.place


def _earlier(sides: Sequence[Sequence[PenmanBlock]], number: int) -> str:
    """Return what is wrong with a graph before a difference: a blank line within a graph splits it into two blocks."""
    for block in (block for pair in zip(*(blocks[:number] for blocks in sides), strict=False) for block in pair):
        if block.lines and block.error is not None:
            return f", perhaps because of {block.error.message}"
    return ""
