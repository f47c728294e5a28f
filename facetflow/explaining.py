"""What two sentences have in common and what not: measured on their graphs, and predicted if there is an encoder.

explain(a, b)              words, graphs and metrics, and predictions of the encoder that comes with facetflow
encoder.explain(a, b)      the same with predictions of another encoder
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import overload

from facetflow import internals
from facetflow.arguments import Texts, near, pair_sentences
from features.core.faults import UnknownName
from features.core.pages import render
from features.graph_files.sentence_graphs import measured_pairs
from features.metrics.explanation.drawing import draw_sides
from features.metrics.explanation.pair import GraphPair
from features.models import bundled_encoder
from features.parsers.sentence_encoder import TextEncoder


@dataclass(frozen=True, repr=False)
class Explanation(internals.Explanation):
    """The facets in which two sentences agree and differ; a notebook shows it as a table with the graphs drawn.

    Args:
        sentence_a: the first sentence, with single spaces.
        sentence_b: the second sentence, with single spaces.
        similarity: cosine of the whole embeddings, in [-1, 1]; None without an encoder.
        residual: cosine of the dimensions that belong to no facet; None if there are none, or without an encoder.
        facets: the reading of each facet, in the order of their dimensions: `name`, `similarity`, `prediction` (of the
            value of its metric), `measured` (on the graphs), `standing`, `reliable` and more. Without an encoder there
            is one for each metric, which is measured alone.
        headline: what stands out.
        words: what the graphs share and where they differ, as one sentence; None without graphs.
        differences: the differences one by one, each with the facet that measures it.
        notes: further remarks, one sentence each: that a sentence was truncated, or is not English.
        graphs: both graphs and what matches in them; None if nothing was measured.
        graphs_from: where the graphs come from, or why there are none.
        encoder: the encoder and its training data, in one line; empty without one.
    """

    graphs: GraphPair | None = None
    graphs_from: str = ""
    encoder: str = ""

    def facet(self, name: str) -> internals.FacetReading:
        """Return the reading of one facet.

        Raises:
            SettingsError: there is no such facet.
        """
        for reading in self.facets:
            if reading.name == name:
                return reading
        raise UnknownName(f"there is no facet {name!r}; {near(name, [reading.name for reading in self.facets])}")

    def __repr__(self) -> str:
        stands_out = self.headline if self.words is None or self.equal else self.words
        similarity = "" if self.similarity is None else f" {self.similarity:.2f}."
        return f"<explanation of {self.sentence_a!r} and {self.sentence_b!r}:{similarity} {stands_out}>"

    def _repr_html_(self) -> str:
        sentences = self.sentence_a, self.sentence_b
        drawn = draw_sides(self.graphs, sentences) if self.graphs is not None else []
        return str(render("facetflow/explanation.html", explanation=self, graphs=drawn))


@overload
def explain(a: str, b: str) -> Explanation: ...  # type: ignore[overload-overlap]
@overload
def explain(a: Texts, b: str | Texts) -> list[Explanation]: ...
@overload
def explain(a: Iterable[tuple[str, str]], b: None = None) -> list[Explanation]: ...
def explain(
    a: str | Texts | Iterable[tuple[str, str]], b: str | Texts | None = None
) -> Explanation | list[Explanation]:
    """Explain what sentences have in common and what not, by the parser and the encoder that come with facetflow.

    Args:
        a: a sentence, several, or, without `b`, pairs of sentences.
        b: a sentence, or several. Two lists are compared pair by pair, a single sentence with each of a list.

    Returns:
        An explanation, with metrics measured on the graphs, and beside them what the encoder predicts from the
        sentences alone, where its start model is pulled; for several pairs a list, one per pair. A pair with a
        sentence that cannot be parsed has no graphs, and nothing measured.

    Raises:
        InputError: a sentence is empty or not a string, or the lists differ in length.
    """
    first, second, single = pair_sentences(a, b)
    pairs = list(zip(first, second, strict=True))
    if (folder := bundled_encoder()) is None:  # its start model is not pulled yet
        explanations = explain_readings(internals.without_encoder(pairs), "")
    else:
        model, layout, encoder = _loaded(folder)
        explanations = explain_readings(internals.explain_with(model, layout, pairs), encoder)
    return explanations[0] if single else explanations


@cache
def _loaded(folder: Path) -> tuple[TextEncoder, internals.FacetLayout, str]:
    """Return an encoder, its facets and a line on it."""
    layout = internals.FacetLayout.load(folder)
    return internals.load_reader(folder), layout, internals.encoder_facts(folder).sentence


def explain_readings(
    readings: Sequence[internals.Explanation], encoder: str, *, graphs: bool = True
) -> list[Explanation]:
    """Return readings of pairs with what is measured on their graphs; `encoder` describes in a line what read them."""
    texts = [(reading.sentence_a, reading.sentence_b) for reading in readings]
    measured = measured_pairs(texts) if graphs else [(None, "not asked for")] * len(texts)
    explanations = []
    for reading, (pair, origin) in zip(readings, measured, strict=True):
        whole = reading if pair is None else internals.with_graphs(reading, pair)
        values = {field.name: getattr(whole, field.name) for field in fields(whole)}
        explanations.append(Explanation(**values, graphs=pair, graphs_from=origin, encoder=encoder))
    return explanations
