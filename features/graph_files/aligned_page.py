"""Aligned graphs as a page: contents, and for each pair its sentences and what matches. It opens offline."""

from datetime import UTC, datetime
from html import escape

from features.core.page import described, folded, heading, render_page, tell_date
from features.graph_files.aligned import AlignedFiles, AlignedPair
from features.metrics.explanation.legend import PAGE_STYLE, show_pair
from features.metrics.registry import METRICS

_STYLE = """\
main { max-width: 76rem; }
h2 { font-size: 1.05rem; line-height: 1.45; scroll-margin-top: 1rem; }
h2 > span, .contents a > span { display: block; width: fit-content; max-width: 100%; overflow-wrap: anywhere; }
.contents a > span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.contents { padding: 0; margin: 1rem 0; list-style: none; font-size: .9rem;
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: .5rem 2rem; }
.contents li { display: grid; grid-template-columns: 2.2rem 1fr auto; gap: .5rem; align-items: baseline; }
.contents .number, h2 .number { color: var(--quiet); font-weight: 400; font-variant-numeric: tabular-nums; }
"""
_UNNAMED = "a graph without a sentence"
_READING = (
    "Choose a facet to colour what it reads and which of it matches. Its name is followed by its score, and by how "
    "many items match, of how many on the left | right."
)


def render_aligned(aligned: AlignedFiles, date: datetime | None = None) -> str:
    """Return the pairs as a page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        aligned: the pairs.
        date: the date shown on the page; now when None.
    """
    first, second = aligned.files
    drawn = sum(pair.graphs is not None for pair in aligned.pairs)
    count = f"{drawn:,} pair{'' if drawn == 1 else 's'} of graphs"
    made = tell_date((date or datetime.now(UTC)).isoformat())
    body = [
        heading(f"{first} | {second}", count, made),
        _left_out(aligned.wrong),
        _contents(aligned.pairs) if len(aligned.pairs) > 1 else "",
        f"<p>{_READING}</p>",
        folded("What each facet asks", described({name: metric.question for name, metric in METRICS.items()})),
        *(_section(pair, aligned.files) for pair in aligned.pairs),
    ]
    return render_page(f"{first} | {second} · facetflow", "\n".join(part for part in body if part), PAGE_STYLE + _STYLE)


def _left_out(wrong: tuple[str, ...]) -> str:
    """Return a warning about pairs that could not be aligned; they keep their places below."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in wrong)
    return (
        f'<div class="warning">Not aligned, because a graph is wrong or missing:<ul>{items}</ul></div>' if wrong else ""
    )


def _contents(pairs: tuple[AlignedPair, ...]) -> str:
    items = "".join(
        f'<li><span class="number">{pair.number}</span><a href="#pair-{pair.number}">{_sentences(pair)}</a>'
        f"<span>{_smatch(pair)}</span></li>"
        for pair in pairs
    )
    return f'<nav aria-label="Contents"><ol class="contents">{items}</ol></nav>'


def _section(pair: AlignedPair, files: tuple[str, str]) -> str:
    named = dict.fromkeys(identity for identity in pair.ids if identity not in {None, str(pair.number)})
    number = escape(" · ".join([f"Pair {pair.number}", *map(str, named)]))
    title = f'<h2 id="pair-{pair.number}"><span class="number">{number}</span>{_sentences(pair)}</h2>'
    if pair.graphs is None:
        shown = "".join(f'<p class="note">Not aligned: {escape(reason)}</p>' for reason in pair.wrong)
    else:
        shown = show_pair(pair.graphs, files, f"p{pair.number}")
    return f"<section>{title}{shown}</section>"


def _sentences(pair: AlignedPair) -> str:
    return "".join(f'<span dir="auto">{escape(name or _UNNAMED)}</span>' for name in pair.names)


def _smatch(pair: AlignedPair) -> str:
    if pair.graphs is None:
        return ""
    score = next(facet.score for facet in pair.graphs.facets if facet.name == "smatch")
    return "" if score is None else f'<span class="quiet">{score:.2f}</span>'
