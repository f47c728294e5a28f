"""Two files of AMR graphs aligned pair by pair: what `facetflow align A.amr B.amr` does, callable in a notebook."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

from features.aligned_page import render_aligned
from features.errors import InputError
from features.graphs.penman_files import read_blocks
from features.metrics.explanation.drawing import draw_pair
from features.metrics.explanation.pair import GraphPair, explain_graphs


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair of graphs of two files.

    Args:
        number: from 1.
        names: `::snt` of each graph, else its `::id`, else nothing.
        graphs: what matches.
    """

    number: int
    names: tuple[str, str]
    graphs: GraphPair


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Pairs of two files, and what is wrong with the others, a sentence each."""

    files: tuple[str, str]
    pairs: tuple[AlignedPair, ...]
    wrong: tuple[str, ...]


def align_files(first: Path, second: Path, *, start: int = 1, count: int | None = None) -> AlignedFiles:
    """Align the graphs of two files by position, with the counting facets (no label vectors are needed).

    Args:
        first: a file of graphs in PENMAN (`.gz` too).
        second: another, with as many.
        start: number of the first pair, from 1.
        count: so many pairs; all when None.

    Raises:
        InputError: a file cannot be read, they have different numbers of graphs, or fewer than `start`.
    """
    sides = [list(read_blocks(path)) for path in (first, second)]
    if len(sides[0]) != len(sides[1]) or not sides[0]:
        raise InputError(
            f"{str(first)!r} has {len(sides[0])} graphs and {str(second)!r} has {len(sides[1])}: graphs are paired by "
            "position, so give two files with the same number of graphs, at least one."
        )
    if start > len(sides[0]):
        raise InputError(f"there is no pair {start}: {str(first)!r} has {len(sides[0])} graphs")
    blocks = list(zip(*sides, strict=True))[start - 1 :][:count]
    good = [(n, left, right) for n, (left, right) in enumerate(blocks, start=start) if left.graph and right.graph]
    explained = explain_graphs([(left.graph, right.graph) for _, left, right in good if left.graph and right.graph])
    return AlignedFiles(
        files=(first.name, second.name),
        pairs=tuple(
            AlignedPair(n, (_name(left.metadata), _name(right.metadata)), pair)
            for (n, left, right), pair in zip(good, explained, strict=True)
        ),
        wrong=tuple(block.error.message for pair in blocks for block in pair if block.error is not None),
    )


def _name(metadata: dict[str, str]) -> str:
    return metadata.get("snt") or metadata.get("id", "")


def write_lines(aligned: AlignedFiles) -> str:
    """Return the pairs as JSON, a line each."""
    return "".join(json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n" for pair in aligned.pairs)


def render_drawing(aligned: AlignedFiles) -> str:
    """Return the drawing of the first pair, as a file of its own.

    Raises:
        InputError: when its graphs are wrong.
    """
    if not aligned.pairs:
        raise InputError(f"there is nothing to draw: {' '.join(aligned.wrong)}")
    return draw_pair(aligned.pairs[0].graphs, aligned.pairs[0].names) + "\n"


WRITERS: Mapping[str, tuple[Callable[[AlignedFiles], str], int | None]] = MappingProxyType(
    {".jsonl": (write_lines, None), ".html": (render_aligned, 50), ".svg": (render_drawing, 1)}
)
"""Suffix → how alignments are written, and how many when nothing else is asked for: a pair on a page is some 12 kB."""
