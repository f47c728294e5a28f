"""An explained sentence pair as HTML, for the report and the explanation page; every text is escaped."""

from html import escape

from features.core.page import folded
from features.metrics.explanation.legend import show_pair
from features.metrics.explanation.pair import GraphPair
from features.metrics.registry import BUILT_IN
from training.encoders.s3bert.explain import Explanation
from training.encoders.s3bert.facet_reading import FacetReading
from training.encoders.s3bert.verdict import DISAGREES
from training.evaluation.tables import UNDEFINED


def explanation_card(
    explanation: Explanation, pair: GraphPair | None = None, name: str = "", *, fold: bool = True
) -> str:
    """Return an explained sentence pair, with its graphs where there are any.

    Args:
        explanation: of the pair.
        pair: its graphs.
        name: of the pair, unique on the page.
        fold: whether the table of facets is folded away.
    """
    table = folded("All facets", _facet_table(explanation)) if fold else _facet_table(explanation)
    sentences = (explanation.sentence_a, explanation.sentence_b)
    graphs = show_pair(pair, sentences, name) if pair is not None else ""
    words = (
        "" if explanation.words is None or explanation.equal else f'<p class="words">{escape(explanation.words)}</p>'
    )
    notes = "".join(f'<p class="quiet">{escape(note)}</p>' for note in explanation.notes)
    headline = explanation.headline
    if explanation.similarity is not None:
        headline += f" Similarity of the whole embeddings {explanation.similarity:.2f}."
    return (
        f'<div class="example"><p>{escape(sentences[0])}</p><p>{escape(sentences[1])}</p>'
        f'{words}<p class="headline">{escape(headline)}</p>{notes}{table}{graphs}</div>'
    )


_HEADER = (
    ("facet", ""),
    ("measured", "the AMR metric on the graphs of the two sentences"),
    ("predicted", "the encoder's estimate of it, calibrated on dev pairs"),
    ("similarity", "of the facet"),
    ("reliability", "rank correlation of the facet with its metric on dev pairs, with a 95 % interval"),
    ("standing", "share of dev pairs that agree less in the facet"),
)
_WITHOUT_ENCODER = 2  # columns


def _facet_table(explanation: Explanation) -> str:
    columns = slice(_WITHOUT_ENCODER if explanation.similarity is None else None)
    rows = "".join(_row(facet, columns) for facet in explanation.facets)
    header = "".join(f'<th title="{escape(each[1])}">{each[0]}</th>' for each in _HEADER[columns])
    return f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(facet: FacetReading, columns: slice) -> str:
    name = f'<span class="{facet.mark}">{escape(facet.name)}</span>' if facet.mark else escape(facet.name)
    if facet.name in BUILT_IN:
        blind = ", blind to what the words tell" if facet.blind else ""
        name += f" <small>{BUILT_IN[facet.name].compares}{blind}</small>"
    note = f' <small class="disagrees" title="{_DISAGREES}">≠</small>' if facet.disagrees and facet.reliable else ""
    share = None if facet.standing is None else f"{100 * facet.standing:.0f}"
    bar = "" if share is None else f'<span class="bar"><i style="width:{share}%"></i></span>'
    cells: tuple[str, ...] = (
        name,
        facet.told_measured,
        f"{_number(facet.prediction)}{note}",
        _number(facet.similarity),
        _reliability(facet),
        f"{bar} {UNDEFINED if share is None else f'{share} %'}",
    )
    unclear = f' class="unclear" title="{_UNCLEAR}"' if facet.is_doubtful else ""
    name_cell, measured, *others = [f"<td>{cell}</td>" for cell in cells[columns]]
    # What was measured is not in doubt where the encoder is.
    measured = measured if not facet.is_doubtful else measured.replace("<td>", '<td class="measured">')
    return f"<tr{unclear}>{name_cell}{measured}{''.join(others)}</tr>"


_DISAGREES = f"predicted and measured are more than {DISAGREES} apart"
_UNCLEAR = "the facet is not known to follow its metric: on dev pairs their correlation is not clearly above 0"


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _reliability(facet: FacetReading) -> str:
    interval = "" if facet.interval is None else f" <small>{facet.interval[0]:.2f} to {facet.interval[1]:.2f}</small>"
    return f"{_number(facet.spearman)}{interval}"
