"""Two files of AMR graphs aligned pair by pair: what `facetflow align A.amr B.amr` does, callable in a notebook."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType

from features.errors import InputError
from features.files import short_name, source_name
from features.metrics.explanation.drawing import draw_pair
from features.metrics.explanation.legend import PAGE_STYLE, show_pair
from features.metrics.explanation.pair import GraphPair, explain_graphs
from features.outputs import Formats
from features.paired_files import pair_files

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>facetflow: aligned graphs</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; max-width: 70rem; padding: 0 1.25rem; font: 15px/1.5 system-ui, sans-serif; }}
.scroll {{ overflow-x: auto; }}
.note {{ opacity: .75; font-size: .85rem; }}
{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair of graphs of two files.

    Args:
        number: from 1.
        ids: `::id` of each graph, None where it has none.
        names: `::snt` of each graph, else its `::id`, else nothing.
        graphs: what matches; None where one of them is wrong.
        wrong: what is wrong with them, a sentence each.
    """

    number: int
    ids: tuple[str | None, str | None]
    names: tuple[str, str]
    graphs: GraphPair | None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Pairs of two files, in their order.

    Args:
        files: their names.
        pairs: those that were asked for.
    """

    files: tuple[str, str]
    pairs: tuple[AlignedPair, ...]

    @property
    def wrong(self) -> tuple[str, ...]:
        """Why pairs could not be aligned, a sentence each."""
        return tuple(f"pair {pair.number}: {reason}" for pair in self.pairs for reason in pair.wrong)


def align_files(
    first: Path, second: Path, *, start: int = 1, count: int | None = None, by_position: bool = False
) -> AlignedFiles:
    """Align the graphs of two files line by line, with the counting facets (no label vectors are needed).

    Args:
        first: a file of graphs in PENMAN (`.gz` too; `-` is standard input).
        second: another, that matches it line by line.
        start: number of the first pair, from 1.
        count: so many pairs; all when None.
        by_position: pair by position whatever the ids are.

    Raises:
        InputError: a file cannot be read, the files do not match line by line, or have fewer pairs than `start`.
    """
    files = pair_files(first, second, by_position=by_position)
    if start > len(files):
        raise InputError(
            f"there is no pair {start}: {source_name(first)} has {len(files)} graphs; give a smaller --start."
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


def write_lines(aligned: AlignedFiles) -> str:
    """Return the pairs as JSON, a line each."""
    return "".join(json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n" for pair in aligned.pairs)


def render_page(aligned: AlignedFiles) -> str:
    """Return the pairs as a page. Every text is escaped; nothing is fetched from anywhere."""
    title = escape(f"{aligned.files[0]} | {aligned.files[1]}")
    pairs = [f"<h2>{_heading(pair)}</h2>{_show(pair)}" for pair in aligned.pairs]
    return _PAGE.format(title=title, style=PAGE_STYLE, body="\n".join(pairs))


def _heading(pair: AlignedPair) -> str:
    """Return the number of a pair, and its ids where they say more."""
    known = dict.fromkeys(identity for identity in pair.ids if identity not in {None, str(pair.number)})
    return escape(" · ".join([str(pair.number), *map(str, known)]))


def _show(pair: AlignedPair) -> str:
    if pair.graphs is None:
        lines = (*(name for name in pair.names if name), *(f"Not aligned: {reason}" for reason in pair.wrong))
        return "".join(f'<p class="note">{escape(line)}</p>' for line in lines)
    return show_pair(pair.graphs, pair.names, f"p{pair.number}")


def render_drawing(aligned: AlignedFiles) -> str:
    """Return the drawing of the first pair, as a file of its own.

    Raises:
        InputError: when its graphs are wrong.
    """
    (pair, *_) = aligned.pairs
    if pair.graphs is None:
        raise InputError(f"there is nothing to draw: {' '.join(aligned.wrong)}")
    return draw_pair(pair.graphs, pair.names) + "\n"


FORMATS: Formats = {"jsonl": (".jsonl", ".ndjson"), "html": (".html", ".htm"), "svg": (".svg",)}
"""What alignments are written as."""

WRITERS: Mapping[str, tuple[Callable[[AlignedFiles], str], int | None]] = MappingProxyType(
    {"jsonl": (write_lines, None), "html": (render_page, 50), "svg": (render_drawing, 1)}
)
"""Format → how alignments are written, and how many when nothing else is asked for: a pair on a page is some 15 kB."""
