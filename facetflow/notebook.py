"""An explanation in a notebook: self-contained HTML without scripts, for light and dark themes."""

from collections.abc import Collection
from html import escape
from typing import TYPE_CHECKING

from features.metrics.explanation.drawing import draw_sides, drawing_rules
from features.metrics.explanation.pair import GraphPair

if TYPE_CHECKING:
    from facetflow.internals import Explanation, FacetReading

_TABLE = "border-collapse: collapse; color: inherit;"
_CELL = "padding: 2px 8px; text-align: right; white-space: nowrap;"
_NAME = "padding: 2px 8px; text-align: left; white-space: nowrap;"
_QUIET = "opacity: .65; font-size: 90%;"
_FAINT = "opacity: .5;"
_HEADER = ("facet", "measured", "", "predicted", "similarity", "standing")
_WITHOUT_ENCODER = 3  # cells of a row
_FAINT_ONES = "Faint: the facet is not known to follow its metric on dev pairs."
_MARKS = {"highest": "▲ highest", "lowest": "▼ lowest", "": ""}


def show_explanation(explanation: "Explanation", graphs: GraphPair | None, origin: str, encoder: str) -> str:
    """Return an explanation as HTML. Every text is escaped.

    Args:
        explanation: explanation of a pair.
        graphs: graphs of the pair, drawn if there are any.
        origin: where the graphs come from, or why there are none.
        encoder: the encoder and its training data, in one line; empty without one.
    """
    columns = slice(None if encoder else _WITHOUT_ENCODER)
    sentences = explanation.sentence_a, explanation.sentence_b
    words = explanation.words if explanation.words is not None and not explanation.equal else None
    said = [f"<b>{escape(words)}</b>"] if words is not None else []
    said += [escape(explanation.headline), *(escape(note) for note in explanation.notes)]
    head = "".join(f'<th style="{_CELL if n else _NAME}">{title}</th>' for n, title in enumerate(_HEADER[columns]))
    rows = "".join(_row(facet, columns) for facet in explanation.facets)
    if explanation.residual is not None:
        rows += _cells(("residual", "", "", "", f"{explanation.residual:.2f}", ""))
    if explanation.similarity is not None:
        rows += _cells(("sentence", "", "", "", f"{explanation.similarity:.2f}", ""), "font-weight: bold;")
    drawn = _drawn(graphs, sentences) if graphs is not None else ""
    about = f"Encoder {escape(encoder)}. Graphs: {escape(origin)}. {_FAINT_ONES}" if encoder else f"{escape(origin)}."
    return (
        '<div class="facetflow-explanation">'
        + "".join(f"<div>{escape(sentence)}</div>" for sentence in sentences)
        + "".join(f'<p style="margin: .4em 0;">{line}</p>' for line in said)
        + f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        + drawn
        + f'<p style="{_QUIET}">{about} In brackets: neither graph has what the metric reads.</p></div>'
    )


def _drawn(graphs: GraphPair, sentences: tuple[str, str]) -> str:
    # A notebook has its own theme, whatever scheme the system prefers: text inherits its colour, labels have no halo.
    sides = "".join(f"<div>{side}</div>" for side in draw_sides(graphs, sentences))
    return (
        f"<details><summary>Graphs</summary><style>{drawing_rules()}</style>"
        f'<div style="--card: transparent; display: flex; flex-wrap: wrap; gap: 24px;">{sides}</div>'
        f'<p style="{_QUIET}">Dashed: not matched by Smatch. Nodes with the same number are aligned.</p>'
        "</details>"
    )


def _row(facet: "FacetReading", columns: slice) -> str:
    cells: tuple[str, ...] = (
        facet.name,
        facet.told_measured,
        _MARKS[facet.mark],
        _number(facet.prediction) + (" ≠" if facet.disagrees and facet.reliable else ""),
        _number(facet.similarity),
        "–" if facet.standing is None else f"{100 * facet.standing:.0f} %",
    )
    return _cells(cells[columns], _FAINT if facet.is_doubtful else "", clear=(1, 2) if facet.mark else (1,))


def _cells(texts: tuple[str, ...], style: str = "", *, clear: Collection[int] = ()) -> str:
    """Return a row; the style is that of each cell but those at the positions that stay clear."""
    cells = "".join(
        f'<td style="{_CELL if n else _NAME}{"" if n in clear or not style else f" {style}"}">{escape(text)}</td>'
        for n, text in enumerate(texts)
    )
    return f"<tr>{cells}</tr>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
