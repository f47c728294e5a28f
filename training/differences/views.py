"""Drawings of sentences as encoders see them: trees, weighted predicate-argument spans, or only words.

The structures come from the encoder itself: a random tree where it was trained on random trees.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from features.core.errors import FacetflowError
from features.core.pages import render
from training.encoders.loading import load_encoder
from training.modules.parse import Parse
from training.prediction_page import draw_spans
from training.runs import ENCODER
from training.span_weights import explain_sentences, tell_spans

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, slots=True)
class View:
    """Some sentences as an encoder sees them."""

    sees: str = ""  # what it sees besides their words, as the end of a sentence; empty where it sees no structure
    drawings: Mapping[str, Markup] = field(default_factory=dict)  # text → HTML, of what can be drawn
    parser: str | None = None  # name of the spaCy pipeline whose trees it sees; None where it sees none
    problem: str = ""  # why nothing can be drawn, a sentence; empty where it can, or there is nothing to draw


def view(run: Path, texts: Sequence[str]) -> View:
    """Return sentences, each given once, as the encoder of a run sees them."""
    from training.modules.span_pooling import SpanPooling
    from training.modules.structure import structure_of
    from training.modules.trees import Trees

    sees, parser = "", None
    try:
        model = load_encoder(run / ENCODER, device="cpu")
        if isinstance(structure := structure_of(model), Trees):
            trees = "random trees" if structure.random_trees is not None else "dependency trees"
            sees, parser = f"{trees} of {structure.parser_identity}{_limits(model)}", structure.parser
            drawings = map(_tree, structure.trees(texts) if texts else [])
        elif any(isinstance(module, SpanPooling) for module in model):
            sees = f"{tell_spans(model)}; the larger their weights, the darker a word"
            drawings = map(draw_spans, texts, explain_sentences(model, texts))
        else:
            return View()
    except FacetflowError as error:
        return View(sees, parser=parser, problem=str(error))
    return View(sees, dict(zip(texts, drawings, strict=True)), parser)


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


_CHARACTER = 7.9  # width of one in px: 13 px monospace, rounded up
_SMALL = 6.1
_GAP = 14
_STEP = 26
_EDGE = 4
MOST_WORDS = 60
"""Larger trees are not drawn: their arcs cannot be followed."""


def draw_tree(words: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> Markup:
    """Return a tree as an inline SVG element that takes its colours from the page; equal trees give equal texts.

                  ╭── dobj ──╮
        ╭ nsubj ╮ │  ╭ det ╮ │      arcs are higher the more arcs are below them
        ↓       │ │  ↓     │ ↓
        He      saw  a      dog
                ROOT

    Of each word: the position of its head, which of a root is itself, and the label of the edge from there.
    """
    levels = _levels(heads)
    widths = _widths(words, heads, labels)
    starts = list(accumulate((width + _GAP for width in widths), initial=_EDGE))
    centres = [start + width / 2 for start, width in zip(starts, widths, strict=False)]
    ground = _STEP * (max(levels.values(), default=0) + 1) + 2
    return render(
        "training.differences/tree.html",
        words=list(zip(centres, words, strict=True)),
        arcs=[
            _arc(label, centres[word], centres[head], ground, levels.get(word))
            for word, (head, label) in enumerate(zip(heads, labels, strict=True))
        ],
        width=starts[-1] - _GAP + _EDGE,
        ground=ground,
    )


def _levels(heads: Sequence[int]) -> dict[int, int]:
    """Return the level of the arc to each word but roots: above all arcs that begin and end under it."""
    ends = {word: (min(word, head), max(word, head)) for word, head in enumerate(heads) if word != head}
    levels: dict[int, int] = {}
    for word, (left, right) in sorted(ends.items(), key=lambda arc: arc[1][1] - arc[1][0]):
        below = [levels[other] for other in levels if left <= ends[other][0] and ends[other][1] <= right]
        levels[word] = max(below, default=0) + 1
    return levels


def _widths(words: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> list[float]:
    widths = [max(_CHARACTER * _columns(word), 12.0) for word in words]
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        room = _SMALL * _columns(label) + 10
        if abs(head - word) <= 1:  # longer arcs have enough room
            lacking = room - widths[word] if head == word else room - _GAP - (widths[head] + widths[word]) / 2
            for end in {head, word}:
                widths[end] += max(0.0, lacking)
    return widths


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _arc(label: str, word: float, head: float, ground: int, level: int | None) -> dict[str, float | str]:
    """Return an arc from just next to the head to the word, with its label on top; of a root, its label below."""
    if level is None:
        return {"label": label, "path": "", "x": word, "y": ground + 30}
    beside = 3 if word > head else -3
    start, end = head + beside, word - beside
    top, bend = ground - _STEP * level, 8 if end > start else -8
    path = f"M{start:.1f} {ground}V{top + 8:.1f}Q{start:.1f} {top:.1f} {start + bend:.1f} {top:.1f}"
    path += f"H{end - bend:.1f}Q{end:.1f} {top:.1f} {end:.1f} {top + 8:.1f}V{ground - 3}"
    tip = f"M{end - 3:.1f} {ground - 5}l3 6 3-6Z"
    return {"label": label, "path": path, "tip": tip, "x": (start + end) / 2, "y": f"{top - 3:.1f}"}
