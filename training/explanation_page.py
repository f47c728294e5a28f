"""Explained pairs of sentences as one page that opens offline: the facets, and what matches in the graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape

from features.metrics.explanation.pair import GraphPair
from training.evaluation.page import explanation_card, render_page
from training.explain import Explanation

_LEGEND = (
    "Similarity is the cosine of a facet, predicted the value that it means for its AMR metric, measured that of the "
    "graphs, standing the share of dev pairs that agree less."
)


def render_explanations(
    explanations: Sequence[Explanation], graphs: Mapping[int, GraphPair], encoder: str, origin: str
) -> str:
    """Return the page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        explanations: one a pair.
        graphs: position of the pair → its graphs.
        encoder: what explained.
        origin: where the graphs are from.
    """
    cards = []
    for position, explanation in enumerate(explanations):
        pair = graphs.get(position)
        measured = None if pair is None else {facet.name: facet.score for facet in pair.facets}
        example = asdict(explanation) | {"measured": measured}
        cards.append(explanation_card(example, pair, f"pair{position}", fold=False))
    body = [
        "<h1>Why two sentences are similar</h1>",
        f'<p class="quiet">Encoder {escape(encoder)}; {escape(origin)}</p>',
        f"<p>{_LEGEND}</p>",
        *cards,
    ]
    return render_page("facetflow: why two sentences are similar", "\n".join(body))
