"""Explained sentence pairs as one page that opens offline: the facets, and what matches in the graphs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from features.core.page import heading, tell_date
from features.metrics.explanation.pair import GraphPair
from training.encoders.s3bert.encoder_facts import EncoderFacts
from training.encoders.s3bert.explain import Explanation
from training.evaluation.facets.explanation_card import explanation_card
from training.evaluation.page import render_page

_TITLE = "How two sentences are similar"

_MEASURED = (
    "Measured: an AMR metric on the graphs of the two sentences; where neither has what it reads, it is 1, and where "
    "a parser errs, so do measured values and words."
)
LEGEND = (
    f"{_MEASURED} Predicted: the encoder's estimate of it without the graphs. "
    "Similarity: that of the facet. Reliability: how well the facet orders dev pairs as its metric does (Spearman, "
    "with a 95 % interval); where that is not clearly above 0, the encoder's numbers are grey. Standing: the share of "
    "dev pairs that agree less in the facet."
)
_BRACKETS = "A measured value in brackets: neither graph has what the metric reads."


def render_explanations(
    explanations: Sequence[Explanation],
    graphs: Mapping[int, GraphPair],
    encoder: EncoderFacts | None,
    origin: str,
    *,
    project: str = "",
    date: datetime | None = None,
) -> str:
    """Return the page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        explanations: one per pair.
        graphs: position of the pair → its graphs.
        encoder: facts about the explaining encoder; None without one.
        origin: where the graphs come from.
        project: name of the project; empty where no project file was read.
        date: date on the page; now when None.
    """
    cards = [
        explanation_card(explanation, graphs.get(position), f"pair{position}", fold=False)
        for position, explanation in enumerate(explanations)
    ]
    about = "Without an encoder." if encoder is None else f"Encoder {encoder.sentence}."
    body = [
        heading(_TITLE, project, tell_date((date or datetime.now(UTC)).isoformat())),
        f'<p class="quiet">{escape(about)} Graphs: {escape(origin)}.</p>',
        f"<p>{_MEASURED if encoder is None else LEGEND}{f' {_BRACKETS}' if graphs else ''}</p>",
        *cards,
    ]
    title = " · ".join(part for part in (_TITLE, project, "facetflow") if part)
    return render_page(title, "\n".join(body))
