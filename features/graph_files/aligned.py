"""Alignment of two files of AMR graphs pair by pair: `facetflow align A.amr B.amr` for notebooks."""

from dataclasses import dataclass
from pathlib import Path

from features.core.faults import CannotPair
from features.core.files import short_name, source_name
from features.graph_files.paired import pair_files
from features.metrics.explanation.pair import GraphPair, explain_graphs


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair of graphs from two files."""

    number: int  # its number, from 1
    ids: tuple[str | None, str | None]  # `::id` of each graph, None if it has none
    names: tuple[str, str]  # `::snt` of each graph, else its `::id`, else empty
    graphs: GraphPair | None  # what matches; None if one of them is wrong
    wrong: tuple[str, ...] = ()  # what is wrong with them, one sentence each


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Pairs of two files, in order."""

    files: tuple[str, str]  # their names
    pairs: tuple[AlignedPair, ...]  # the requested pairs

    @property
    def wrong(self) -> tuple[str, ...]:
        """Why pairs could not be aligned, one sentence each."""
        return tuple(f"pair {pair.number}: {reason}" for pair in self.pairs for reason in pair.wrong)


def align_files(
    first: Path, second: Path, *, start: int = 1, count: int | None = None, by_position: bool = False
) -> AlignedFiles:
    """Align the graphs of two files line by line, with the counting facets (no label vectors are needed).

    Args:
        first: a file of graphs in PENMAN (`.gz` too; `-` is standard input).
        second: another one, which matches it line by line.
        start: number of the first pair, from 1.
        count: number of pairs; all when None.
        by_position: pair by position, whatever the ids.

    Raises:
        InputError: a file cannot be read, the files do not match line by line, or have fewer pairs than `start`.
    """
    files = pair_files(first, second, by_position=by_position)
    if start > len(files):
        raise CannotPair(
            f"pair {start} does not exist: {source_name(first)} has {len(files)} graphs; give a smaller --start."
        )
    pairs = files.pairs(start - 1, None if count is None else start - 1 + count)
    explained = iter(explain_graphs([pair.graphs for pair in pairs if pair.graphs is not None]))
    return AlignedFiles(
        files=(short_name(first), short_name(second)),
        pairs=tuple(
            AlignedPair(
                number=pair.number,
                ids=pair.ids,
                names=(_name(pair.first.metadata), _name(pair.second.metadata)),
                graphs=None if pair.graphs is None else next(explained),
                wrong=pair.faults,
            )
            for pair in pairs
        ),
    )


def _name(metadata: dict[str, str]) -> str:
    return metadata.get("snt") or metadata.get("id", "")
