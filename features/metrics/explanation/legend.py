"""Two drawings with their facets above them, for a page: choosing a facet colours what it reads, without any script.

    (smatch 0.84) (frames 1.00) (negations 0.00) …     radio buttons: Tab focuses them, arrow keys choose
    negations: Is the same thing negated?              what the chosen facet asks
    ┌ graph ┐  ┌ graph ┐                               side by side if there is room, else stacked

The rules refer to the classes of facets, so a page needs them only once, however many pairs it shows.
"""

from html import escape

from features.metrics.explanation.drawing import STYLE, draw_sides
from features.metrics.explanation.pair import FacetMatch, GraphPair
from features.metrics.explanation.views import BAGS, NODES, TRIPLES
from features.metrics.registry import METRICS

_FIRST = "smatch"
_DRAWN = tuple(name for name in METRICS if name in {*TRIPLES, *BAGS, *NODES})

_LAYOUT = """\
.pair { margin-top: 1rem; }
.pair > input { position: absolute; opacity: 0; pointer-events: none; }
.facets { display: flex; flex-wrap: wrap; gap: .4rem; margin: .25rem 0; }
.facets label { border: 1px solid var(--line, #8a94a3); border-radius: 1rem; padding: .12rem .7rem; font-size: .82rem;
  cursor: pointer; font-variant-numeric: tabular-nums; }
.facets label b { font-weight: 600; margin-left: .3rem; }
.facets small { margin-left: .3rem; font-size: .76rem; }
.asks { min-height: 1.5em; font-size: .9rem; }
.graphs { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; margin: .75rem 0; }
.graphs figure { margin: 0; min-width: 0; max-width: 100%; }
.graphs figcaption { max-width: 30rem; font-size: .9rem; margin-bottom: .35rem; overflow-wrap: anywhere; }
.graphs .scroll { overflow-x: auto; padding-bottom: .25rem; }
.graphs svg { display: block; max-width: 100%; height: auto; }
.swatch { display: inline-block; width: .9rem; height: .6rem; border-radius: .15rem; border: 1.5px solid var(--c);
  margin-right: .3rem; }
.swatch.y { --c: var(--matched); }
.swatch.x { --c: var(--unmatched); border-style: dashed; margin-left: .8rem; }
.swatch.n { --c: var(--unread); margin-left: .8rem; }
"""
# What Smatch reads is coloured by the classes y and x; for another choice, everything is first made grey.
_OTHERS = f".pair > :not(.c-{_FIRST}):checked ~ .graphs .amr"
_GREY = f"""\
{_OTHERS} * {{ --c: var(--unread); }}
{_OTHERS} circle {{ display: none; }}
{_OTHERS} :is(rect, path) {{ stroke-dasharray: none; }}
"""


def _rules(name: str) -> str:
    """Return the rules that colour a chosen facet and show its question."""
    chosen = f".pair > .c-{name}:checked ~"
    focused = f".pair > .c-{name}:focus-visible ~"
    rules = [
        f"{chosen} .facets .l-{name} {{ background: var(--accent-fill, #1f6fc4); color: #fff; }}",
        f"{focused} .facets .l-{name} {{ outline: 2px solid; outline-offset: 2px; }}",
        f'{chosen} .asks::before {{ content: "{name}: {METRICS[name].question}"; }}',
    ]
    if name != _FIRST:
        rules += [
            f"{chosen} .graphs .amr .y-{name} {{ --c: var(--matched); display: initial; }}",
            f"{chosen} .graphs .amr .x-{name} {{ --c: var(--unmatched); display: initial; }}",
            f"{chosen} .graphs .amr :is(rect, path).x-{name} {{ stroke-dasharray: 5 3; }}",
        ]
    return "\n".join(rules) + "\n"


PAGE_STYLE = STYLE + _LAYOUT + _GREY + "".join(map(_rules, _DRAWN))
"""Rules for all pairs of a page."""


def show_pair(pair: GraphPair, titles: tuple[str, str], name: str) -> str:
    """Return the drawings of a pair and its facets as HTML; the page needs `PAGE_STYLE` once.

    Args:
        pair: the graphs with what matches.
        titles: title above each graph.
        name: letters and digits that are unique to the pair within the page.
    """
    shown = [facet for facet in pair.facets if facet.left or facet.right]
    inputs = "".join(
        f'<input type="radio" name="{name}" id="{name}-{facet.name}"{" checked" if facet.name == _FIRST else ""} '
        f'class="c-{facet.name}">'
        for facet in shown
    )
    labels = "".join(
        f'<label for="{name}-{facet.name}" class="l-{facet.name}" title="{escape(METRICS[facet.name].question)}">'
        f"{_in_words(facet)}</label>"
        for facet in shown
    )
    figures = "".join(
        f'<figure>{_caption(title)}<div class="scroll" tabindex="0">{drawing}</div></figure>'
        for title, drawing in zip(titles, draw_sides(pair, titles), strict=True)
    )
    return (
        f'<div class="pair" role="group" aria-label="Facets of two graphs">{inputs}<div class="facets">{labels}</div>'
        f'<p class="asks"></p><div class="graphs">{figures}</div><p class="note">{_key(pair)}</p></div>'
    )


def _caption(title: str) -> str:
    return f'<figcaption dir="auto">{escape(title)}</figcaption>' if title else ""


def _in_words(facet: FacetMatch) -> str:
    text = escape(facet.name)
    if facet.score is not None:
        text += f"<b>{facet.score:.2f}</b>"
    if facet.matched is not None:
        text += f"<small>{facet.matched} of {len(facet.left)} | {len(facet.right)}</small>"
    return text


def _key(pair: GraphPair) -> str:
    """Return the key to colours, numbers and the dot, and the facets that read no single part."""
    proven = ", in an alignment proven to be optimal" if pair.proven else ""
    rest = [facet for facet in pair.facets if not facet.left and not facet.right]
    scored = [f"{facet.name} {facet.score:.2f}" for facet in rest if facet.score is not None]
    others = f" Not drawn: {', '.join(scored)}." if scored else ""
    return (
        '<span class="swatch y"></span>matched<span class="swatch x"></span>not matched'
        '<span class="swatch n"></span>not read by the chosen facet. A dot marks the root; nodes with the same number '
        f"are aligned{proven}.{others}"
    )
