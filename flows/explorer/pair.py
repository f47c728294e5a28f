"""The view of two sentences: what they have in common, facet by facet and word by word, and both graphs."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from features.core.errors import ModelError
from features.core.faults import EmptyText, UnknownName
from features.metrics.registry import METRICS
from flows.console.explaining import Explained
from flows.explorer.session import Asked
from flows.explorer.views import ENCODER, Answer, Parameter, Query, View
from training.attribution import Attribution
from training.encoders.s3bert.facets import WHOLE

_TINY = 1e-6


class PairView(View):
    """Two sentences."""

    name = "pair"
    title = "Pair"
    gives = "the explanation: facets measured and predicted, what matches in both graphs, and the shares of the words"
    parameters = (
        Parameter("a", "the first sentence"),
        Parameter("b", "the second sentence"),
        Parameter("facet", "whose similarity is shared among the words: a facet, `residual`, or `sentence` for all"),
        ENCODER,
    )

    def answer(self, query: Query) -> Answer | None:
        """Explain the pair, and share the similarity of the chosen facet among the words."""
        a, b, facet = query.text("a"), query.text("b"), query.text("facet", WHOLE)
        if not a and not b:
            return None
        if not a or not b:
            raise EmptyText(f"The {'second' if a else 'first'} sentence is empty: give two.")
        explainer, note, shares = self.explainer(query), "", None
        key = (str(explainer.folder), a, b)
        result_of = partial(self.session.background.result_of, patience=query.patience)
        release = [each.number for each in self.session.releases()[1][-1:]]  # which may have other graphs
        explained = result_of(("pair", *key, *release), lambda _: explainer.explain([(a, b)])[0], "Explaining the pair")
        explanation = explained.explanation
        names = [reading.name for reading in explanation.facets]
        if facet not in (more := [*names, *(["residual"] if explanation.residual is not None else []), WHOLE]):
            raise UnknownName(f"There is no facet {facet!r}; choose from {', '.join(more)}.")
        try:
            shares = result_of(
                ("shares", *key, facet),
                lambda _: explainer.attribute(explanation.sentence_a, explanation.sentence_b, facet),
                "Sharing the similarity among the words",
            )
        except ModelError as error:  # such as an encoder that pools otherwise
            note = str(error)
        similarity = "" if explanation.similarity is None else f"{explanation.similarity:.2f}  "
        words = f"{similarity}{explanation.sentence_a} | {explanation.sentence_b}"
        self.session.remember(Asked(self.name, query.changed(facet=None), words))
        return Answer(
            {
                "explanation": explanation,
                "facts": explainer.facts,
                "origin": explained.origin,
                "sides": _sides(explained, shares, facet),
                "facet": facet,
                "shares": shares,
                "whole": WHOLE,
                "note": note,
                "question": METRICS[facet].question if facet in METRICS else "",
            },
            explained.as_json(explainer.facts, graphs=True) | ({} if shares is None else {"shares": shares.as_json()}),
        )


def _sides(explained: Explained, shares: Attribution | None, facet: str) -> list[dict[str, Any]]:
    """Return both sentences: their words, and their graphs with what matches in a facet."""
    from features.metrics.explanation.comparing import ComparedGraphs
    from features.metrics.explanation.drawing import draw_sides, links_of

    sentences = (explained.explanation.sentence_a, explained.explanation.sentence_b)
    words = [sentence.split() for sentence in sentences] if shares is None else [shares.words_a, shares.words_b]
    parts: list[list[float] | None] = [None, None] if shares is None else [shares.of_a.tolist(), shares.of_b.tolist()]
    most = max((abs(part) for side in parts for part in side or ()), default=0.0) or 1.0
    whole = 0.0 if shares is None else shares.similarity
    drawings: Sequence[str] = ("", "")
    spans: list[list[tuple[int, int, str]]] = [[], []]
    if (pair := explained.graphs) is not None:
        drawings = draw_sides(pair, sentences, facet if facet in {each.name for each in pair.facets} else "smatch")
        anchors = ComparedGraphs(pair, sentences).anchors
        spans = [
            [(token.start, token.end, links[node]) for node, token in of_side.items()]
            for of_side, links in zip(anchors, links_of(pair), strict=True)
        ]
    sides = []
    for side, sentence in enumerate(sentences):
        placed: list[dict[str, Any]] = []
        end = 0
        for n, text in enumerate(words[side]):
            if (start := sentence.find(text, end)) >= 0:
                end = start + len(text)
            part = None if (side_parts := parts[side]) is None else side_parts[n]
            placed.append(
                {
                    "text": text,  # the word, or a mark of the tokenizer such as `[CLS]`
                    "space": start <= 0 or sentence[start - 1].isspace(),  # whether a blank precedes it
                    "links": " ".join(link for first, last, link in spans[side] if first <= start < last),
                    # its share of the similarity, 1 for all of it; None where shares are unknown
                    "share": part / whole if part is not None and abs(whole) > _TINY else None,
                    "strength": abs(part or 0.0) / most,  # relative to the largest share of both, in [0, 1]
                    "mark": start < 0,  # not of the sentence
                }
            )
        sides.append({"letter": "ab"[side], "text": sentence, "words": placed, "drawing": drawings[side]})
    return sides
