"""Explained sentence pairs, for the report and as one page that opens offline: facets, and what matches in graphs."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from features.core.pages import render, tell, tell_date
from features.metrics.explanation.drawing import facet_rules, show_pair
from features.metrics.explanation.pair import GraphPair
from features.metrics.registry import BUILT_IN
from training.encoders.s3bert.explain import EncoderFacts, Explanation
from training.encoders.s3bert.facet_reading import DISAGREES
from training.evaluation.tables import NOTES


def explanation_card(
    explanation: Explanation, pair: GraphPair | None = None, name: str = "", *, fold: bool = True
) -> str:
    """Return an explained sentence pair as HTML, with its graphs, if any, under a name that is unique on the page."""
    sentences = (explanation.sentence_a, explanation.sentence_b)
    graphs = show_pair(pair, sentences, name) if pair is not None else ""
    return render(
        "training.evaluation/explanation.html",
        explanation=explanation,
        graphs=graphs,
        fold=fold,
        compares={name: metric.compares for name, metric in BUILT_IN.items()},
        disagrees=DISAGREES,
    )


def render_explanations(
    explanations: Sequence[Explanation],
    graphs: Mapping[int, GraphPair],
    encoder: EncoderFacts | None,
    origin: str,
    *,
    project: str = "",
    date: datetime | None = None,
) -> str:
    """Return the page: of each pair its explanation and, by its position, its graphs, which come from an `origin`."""
    return render(
        "training.evaluation/explanations.html",
        title="How two sentences are similar",
        project=project,
        date=tell_date(date),
        rules=facet_rules(),
        about="Without an encoder." if encoder is None else f"Encoder {encoder.sentence}.",
        origin=origin,
        legend=tell(NOTES, "legend", predicted=encoder is not None),
        graphs=bool(graphs),
        cards=[
            explanation_card(explanation, graphs.get(position), f"pair{position}", fold=False)
            for position, explanation in enumerate(explanations)
        ],
    )
