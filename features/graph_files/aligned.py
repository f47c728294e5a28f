"""Alignment of two files of AMR graphs pair by pair: `facetflow align A.amr B.amr` for notebooks."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from features.core.faults import GraphUnusable, WrongValue
from features.core.files import short_name, source_name
from features.core.outputs import Formats
from features.core.pages import render, tell_date
from features.core.types import OnRows, ignore_rows
from features.core.wording import counted
from features.graph_files.paired import pair_files
from features.graphs.graph import AmrGraph
from features.metrics.explanation.drawing import draw_pair, facet_rules, show_pair
from features.metrics.explanation.pair import GraphPair, explain_graphs
from features.metrics.registry import METRICS

_AT_ONCE = 256  # pairs, after which progress is reported


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
    first: Path,
    second: Path,
    *,
    start: int = 1,
    count: int | None = None,
    by_position: bool = False,
    on_rows: OnRows = ignore_rows,
) -> AlignedFiles:
    """Align the graphs of two files pair by pair, with the facets that compare no word vectors.

    Files are paired as by `pair_files`; of the pairs, `count` (all when None) are taken, from number `start` on.

    Raises:
        InputError: as `pair_files`.
        SettingsError: there is no pair with the number `start`.
    """
    files = pair_files(first, second, by_position=by_position)
    if start > len(files):
        raise WrongValue(
            f"pair {start} does not exist: {source_name(first)} has {counted(len(files), 'graph')}; give a smaller "
            "--start."
        )
    pairs = files[start - 1 : None if count is None else start - 1 + count]
    explained = _explained([pair.graphs for pair in pairs if pair.graphs is not None], on_rows)
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


def _explained(graphs: Sequence[tuple[AmrGraph, AmrGraph]], on_rows: OnRows) -> Iterator[GraphPair]:
    for at in range(0, len(graphs), _AT_ONCE):
        on_rows(at, len(graphs))
        yield from explain_graphs(graphs[at : at + _AT_ONCE])


def _name(metadata: dict[str, str]) -> str:
    return metadata.get("snt") or metadata.get("id", "")


def render_aligned(aligned: AlignedFiles, date: datetime | None = None) -> str:
    """Return the pairs as a page with a date, by default today's. Every text is escaped; nothing is fetched."""
    drawn = {pair.number: pair.graphs for pair in aligned.pairs if pair.graphs is not None}
    return render(
        "features.graph_files/aligned.html",
        title=" | ".join(aligned.files),
        date=tell_date(date),
        rules=facet_rules(),
        drawn=len(drawn),
        wrong=aligned.wrong,
        questions={name: metric.question for name, metric in METRICS.items()},
        pairs=aligned.pairs,
        labels={pair.number: _label(pair) for pair in aligned.pairs},
        smatch={
            number: facet.score
            for number, graphs in drawn.items()
            for facet in graphs.facets
            if facet.name == "smatch" and facet.score is not None
        },
        shown={number: show_pair(graphs, aligned.files, f"p{number}") for number, graphs in drawn.items()},
    )


def _label(pair: AlignedPair) -> str:
    """Return the number of a pair, with the ids of its graphs where they say more."""
    ids = dict.fromkeys(identity for identity in pair.ids if identity not in {None, str(pair.number)})
    return " · ".join([f"Pair {pair.number}", *map(str, ids)])


def write_lines(aligned: AlignedFiles) -> Iterator[str]:
    """Yield the pairs as JSON, one per line."""
    for pair in aligned.pairs:
        yield json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n"


def render_drawing(aligned: AlignedFiles) -> str:
    """Return the drawing of the first pair, as a file of its own; an InputError if its graphs are wrong."""
    (pair, *_) = aligned.pairs
    if pair.graphs is None:
        raise GraphUnusable(f"there is nothing to draw: {' '.join(aligned.wrong)}")
    return draw_pair(pair.graphs, pair.names) + "\n"


FORMATS: Formats = {"jsonl": (".jsonl", ".ndjson"), "html": (".html", ".htm"), "svg": (".svg",)}
"""The formats of alignments."""

WRITERS: Mapping[str, tuple[Callable[[AlignedFiles], Iterable[str]], int | None]] = {
    "jsonl": (write_lines, None),
    "html": (lambda aligned: [render_aligned(aligned)], 50),
    "svg": (lambda aligned: [render_drawing(aligned)], 1),
}
"""Format → how alignments are written, and how many by default: a pair on a page takes some 12 kB."""
