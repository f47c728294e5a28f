"""Aligned graphs as a page: contents, and for each pair its sentences and what matches. It opens offline."""

from datetime import datetime

from features.core.pages import render, tell_date
from features.graph_files.aligned import AlignedFiles, AlignedPair
from features.metrics.explanation.legend import facet_rules, show_pair
from features.metrics.registry import METRICS


def render_aligned(aligned: AlignedFiles, date: datetime | None = None) -> str:
    """Return the pairs as a page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        aligned: the pairs.
        date: the date shown on the page; now when None.
    """
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
