"""A drawing with its facets beside it, for a page: choosing a facet colours what it reads, without any script."""

from html import escape

from features.metrics.explanation.drawing import MATCHED, STYLE, UNMATCHED, draw_pair
from features.metrics.explanation.pair import FacetMatch, GraphPair

PAGE_STYLE = (
    STYLE
    + f"""\
.pair {{ margin-top: 1rem; }}
.pair > input {{ position: absolute; opacity: 0; pointer-events: none; }}
.pair .scroll {{ padding-bottom: .25rem; }}
.pair svg.amr {{ width: auto; max-width: none; height: auto; margin: .25rem 0 .75rem; }}
.facets {{ display: flex; flex-wrap: wrap; gap: .4rem; margin: .25rem 0; }}
.facets label {{ border: 1px solid var(--line, #8a94a3); border-radius: 1rem; padding: .12rem .7rem; font-size: .82rem;
  cursor: pointer; white-space: nowrap; font-variant-numeric: tabular-nums; }}
.facets label b {{ font-weight: 600; margin-left: .3rem; }}
.facets small {{ opacity: .7; margin-left: .3rem; font-size: .76rem; }}
.swatch {{ display: inline-block; width: .9rem; height: .6rem; border-radius: .15rem; border: 1.5px solid;
  margin-right: .3rem; }}
.swatch.y {{ border-color: {MATCHED}; background: {MATCHED}22; }}
.swatch.x {{ border-color: {UNMATCHED}; background: {UNMATCHED}22; border-style: dashed; margin-left: 1rem; }}
"""
)
"""Rules for all pairs of a page; those of one pair stand beside it."""

_FIRST = "smatch"


def show_pair(pair: GraphPair, titles: tuple[str, str], name: str) -> str:
    """Return a drawing and its facets as HTML; the page needs `PAGE_STYLE` once.

    Args:
        pair: the graphs with what matches.
        titles: what stands above each graph.
        name: letters and digits that no other pair of the page has.
    """
    shown = [facet for facet in pair.facets if facet.left or facet.right]
    inputs = "".join(
        f'<input type="radio" name="{name}" id="{name}-{facet.name}"{" checked" if facet.name == _FIRST else ""}>'
        for facet in shown
    )
    labels = "".join(f'<label for="{name}-{facet.name}">{_told(facet)}</label>' for facet in shown)
    note = (
        '<span class="swatch y"></span>matched<span class="swatch x"></span>not matched; grey is not read by the '
        f"chosen facet. Nodes with the same number lie on each other{_proven(pair)}.{_rest(pair)}"
    )
    return (
        f'<div class="pair"><style>{_rules(shown, name)}</style>{inputs}<div class="facets">{labels}</div>'
        f'<div class="scroll">{draw_pair(pair, titles, alone=False)}</div><p class="note">{note}</p></div>'
    )


def _told(facet: FacetMatch) -> str:
    text = escape(facet.name)
    if facet.score is not None:
        text += f"<b>{facet.score:.2f}</b>"
    if facet.matched is not None:
        text += f"<small>{facet.matched} of {len(facet.left)} | {len(facet.right)}</small>"
    return text


def _rules(facets: list[FacetMatch], name: str) -> str:
    """Return what a choice colours: first nothing, then what the facet reads."""
    rules = []
    for facet in facets:
        chosen = f"#{name}-{facet.name}:checked ~"
        if facet.name != _FIRST:
            rules += [
                f"{chosen} .scroll .amr * {{ --c: #8a94a3; }}",
                f"{chosen} .scroll .amr circle {{ display: none; }}",
                f"{chosen} .scroll .amr :is(rect, path) {{ stroke-dasharray: none; }}",
                *(
                    f"{chosen} .scroll .amr .{state}-{facet.name} {{ --c: {colour}; display: initial; }}"
                    for state, colour in (("y", MATCHED), ("x", UNMATCHED))
                ),
                f"{chosen} .scroll .amr :is(rect, path).x-{facet.name} {{ stroke-dasharray: 5 3; }}",
            ]
        rules.append(f"{chosen} .facets label[for={name}-{facet.name}] {{ background: #2f7fd6; color: #fff; }}")
        rules.append(
            f"#{name}-{facet.name}:focus-visible ~ .facets label[for={name}-{facet.name}] {{ outline: 2px solid; }}"
        )
    return "\n".join(rules)


def _proven(pair: GraphPair) -> str:
    return ", in an alignment that is proven to be the best" if pair.proven else ""


def _rest(pair: GraphPair) -> str:
    """Return the facets that read no single part."""
    rest = [facet for facet in pair.facets if not facet.left and not facet.right]
    scored = [f"{facet.name} {facet.score:.2f}" for facet in rest if facet.score is not None]
    return f" Not drawn: {', '.join(scored)}." if scored else ""
