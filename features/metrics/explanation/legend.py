"""Two drawings with their facets above them, for a page: choosing a facet colours what it reads, without any script.

    (smatch 0.84) (frames 1.00) (negations 0.00) …     radio buttons: Tab focuses them, arrow keys choose
    negations: Is the same thing negated?              what the chosen facet asks
    ┌ graph ┐  ┌ graph ┐                               side by side if there is room, else stacked

The rules refer to the classes of facets, so a page needs them only once, however many pairs it shows.
"""

from markupsafe import Markup

from features.core.pages import render
from features.metrics.explanation.drawing import draw_sides
from features.metrics.explanation.pair import GraphPair
from features.metrics.explanation.views import BAGS, NODES, TRIPLES
from features.metrics.registry import METRICS

_FIRST = "smatch"


def facet_rules() -> Markup:
    """Return the rules that colour the chosen facet in all pairs of a page."""
    drawn = {name: metric.question for name, metric in METRICS.items() if name in {*TRIPLES, *BAGS, *NODES}}
    return render("features.metrics.explanation/facets.css", questions=drawn, first=_FIRST)


def show_pair(pair: GraphPair, titles: tuple[str, str], name: str) -> Markup:
    """Return the drawings of a pair and its facets as HTML; the page needs `facet_rules` once.

    Args:
        pair: the graphs with what matches.
        titles: title above each graph.
        name: letters and digits that are unique to the pair within the page.
    """
    drawn = [facet for facet in pair.facets if facet.left or facet.right]
    return render(
        "features.metrics.explanation/pair.html",
        name=name,
        first=_FIRST,
        facets=drawn,
        others=[facet for facet in pair.facets if facet not in drawn and facet.score is not None],
        questions={facet.name: METRICS[facet.name].question for facet in drawn},
        sides=list(zip(titles, draw_sides(pair, titles), strict=True)),
        proven=pair.proven,
    )
