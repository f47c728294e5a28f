"""Drawings of sentences as encoders see them: trees, weighted predicate-argument spans, or only words.

The structures come from the encoder itself: a random tree where it was trained on random trees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from features.core.errors import FacetflowError
from training.differences.tree_drawing import MOST_WORDS, draw_tree
from training.encoders.loading import load_encoder
from training.prediction_page import draw_spans
from training.runs import ENCODER

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.modules.parse import Parse
    from training.modules.parsing_transformer import ParsingTransformer


@dataclass(frozen=True, slots=True)
class View:
    """Some sentences as an encoder sees them."""

    sees: str = ""  # what it sees besides their words, as the end of a sentence; empty where it sees no structure
    drawings: Mapping[str, Markup] = field(default_factory=dict)  # text → HTML, of what can be drawn
    parser: str | None = None  # name of the spaCy pipeline whose trees it sees; None where it sees none
    problem: str = ""  # why nothing can be drawn, a sentence; empty where it can, or there is nothing to draw


def view(run: Path, texts: Sequence[str]) -> View:
    """Return sentences, each given once, as the encoder of a run sees them."""
    from training.modules.parsing_transformer import ParsingTransformer
    from training.modules.span_pooling import SpanPooling

    try:
        model = load_encoder(run / ENCODER, device="cpu")
        if isinstance(first := model[0], ParsingTransformer):
            return _tree_view(model, first, texts)
        if any(isinstance(module, SpanPooling) for module in model):
            return _span_view(model, texts)
    except FacetflowError as error:
        return View(problem=str(error))
    return View()


def _tree_view(model: "SentenceTransformer", transformer: "ParsingTransformer", texts: Sequence[str]) -> View:
    sees = "random trees" if transformer.random_trees is not None else "dependency trees"
    sees = f"{sees} of {transformer.parser_identity}{_limits(model)}"
    try:
        trees = transformer.trees(texts) if texts else []
    except FacetflowError as error:
        return View(sees, parser=transformer.parser, problem=str(error))
    return View(sees, {text: _tree(parse) for text, parse in zip(texts, trees, strict=True)}, transformer.parser)


def _limits(model: "SentenceTransformer") -> str:
    """Return which parts of its trees an encoder does not see, as the end of a sentence."""
    from training.modules.graph_pooling import GraphPooling

    for graph in model:
        if isinstance(graph, GraphPooling):
            if not graph.layers:
                return ", their words without an edge"
            labels = ", without labels" if graph.labels == 1 else ""
            ways = {"down": ", only edges from heads to dependents", "up": ", only edges from dependents to heads"}
            return labels + ways.get(graph.direction, "")
    return ""


def _tree(parse: "Parse | None") -> Markup:
    if not parse or not parse["tokens"]:
        return Markup('<p class="quiet">No tree: the sentence has no word, or too many for the parser.</p>')
    if (words := len(parse["tokens"])) > MOST_WORDS:
        return Markup('<p class="quiet">A tree of {} words, too many to draw.</p>').format(words)
    drawing = draw_tree(parse["tokens"], parse["heads"], parse["relations"])
    return Markup('<div class="scroll" tabindex="0">{}</div>').format(drawing)


def _span_view(model: "SentenceTransformer", texts: Sequence[str]) -> View:
    from training.span_weights import explain_sentences, tell_spans

    sees = f"{tell_spans(model)}; the larger their weights, the darker a word"
    try:
        explained = explain_sentences(model, texts)
    except FacetflowError as error:
        return View(sees, problem=str(error))
    return View(sees, {text: draw_spans(text, spans) for text, spans in zip(texts, explained, strict=True)})
