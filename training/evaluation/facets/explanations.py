"""Explained sentence pairs, for the report and as one page that opens offline: facets, and what matches in graphs.

The report draws the graphs of pairs of readable size: most and least similar by Smatch, and in the middle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from features.core.errors import StoreError
from features.core.pages import render, tell, tell_date
from features.graph_files.sentence_graphs import StoredGraphs
from features.metrics.explanation.drawing import facet_rules, show_pair
from features.metrics.explanation.pair import GraphPair, explain_graphs
from features.metrics.registry import BUILT_IN
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.explain import EncoderFacts, Explanation
from training.encoders.s3bert.facet_reading import DISAGREES
from training.evaluation.tables import NOTES
from training.jobs import Source
from training.writing import read_json

GRAPHS_FILE = "graphs.json"
_NODES = range(3, 21)  # sizes that can be taken in at a glance
_CANDIDATES = 400


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
) -> str:
    """Return the page: of each pair its explanation and, by its position, its graphs, which come from an `origin`."""
    return render(
        "training.evaluation/explanations.html",
        title="How two sentences are similar",
        project=project,
        date=tell_date(),
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


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair of the report: why it was chosen, its sentences, and their graphs, with what matches."""

    which: str
    sentence_a: str
    sentence_b: str
    pair: GraphPair


def _stored_graphs(source: Source | None) -> StoredGraphs | None:
    try:
        return None if source is None or source.store is None else StoredGraphs(source.store, source.release)
    except StoreError:
        return None


def vacuous_in(pairs: Sequence[tuple[str, str]], source: Source | None) -> dict[tuple[str, str], list[str]]:
    """Return pair of sentences → facets that find nothing in either graph, for pairs whose graphs the release has."""
    stored = _stored_graphs(source)
    graphs = {} if stored is None else stored.find([text for pair in pairs for text in pair])
    parsed = [pair for pair in pairs if all(text in graphs for text in pair)]
    explained = explain_graphs([(graphs[a], graphs[b]) for a, b in parsed])
    vacuous = [[facet.name for facet in pair.facets if facet.is_vacuous] for pair in explained]
    return dict(zip(parsed, vacuous, strict=True))


def choose_pairs(data: MeasuredPairs, source: Source | None) -> list[DrawnPair]:
    """Return the evaluated pairs to draw; none where the release has no graphs, or there is no release."""
    stored = _stored_graphs(source)
    if stored is None:
        return []
    # A few hundred pairs over the whole range of Smatch, to avoid reading all graphs of a release for three.
    order = np.argsort(-data.metrics(("smatch",))[:, 0], kind="stable")
    positions = np.unique(np.linspace(0, len(order) - 1, min(_CANDIDATES, len(order))).astype(int))
    texts = [(data.texts[data.first[row]], data.texts[data.second[row]]) for row in order[positions]]
    graphs = stored.find(list(dict.fromkeys(text for pair in texts for text in pair)))
    readable = [
        pair
        for pair in texts
        if all(text in graphs and len(graphs[text].concepts) in _NODES for text in pair)
        and graphs[pair[0]] != graphs[pair[1]]
    ]
    chosen = _ends_and_middle(list(dict.fromkeys(readable)))
    pairs = [(graphs[a], graphs[b]) for a, b in chosen.values()]
    explained = explain_graphs(pairs, stored.vectors([graph for pair in pairs for graph in pair]))
    return [DrawnPair(which, a, b, pair) for (which, (a, b)), pair in zip(chosen.items(), explained, strict=True)]


def _ends_and_middle(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    if len(pairs) < 3:
        return dict(zip(("Most similar", "Least similar"), pairs, strict=False))
    return {"Most similar": pairs[0], "In the middle": pairs[len(pairs) // 2], "Least similar": pairs[-1]}


def read_drawn(path: Path) -> list[DrawnPair]:
    """Read the drawn pairs of an evaluation; none where it has none."""
    return TypeAdapter(list[DrawnPair]).validate_python(read_json(path)) if path.exists() else []
