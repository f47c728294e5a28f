"""Parts that the report of an evaluation and the page of an explanation share. Every text from data is escaped."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from features import page
from features.metrics.explanation.legend import PAGE_STYLE, show_pair
from features.metrics.explanation.pair import GraphPair
from features.page import folded
from training.evaluation.tables import UNDEFINED


def render_page(title: str, body: str) -> str:
    """Return a page with its style inside; nothing is fetched from anywhere.

    Args:
        title: text.
        body: HTML.
    """
    style = (files("training.evaluation") / "report.css").read_text(encoding="utf-8")
    return page.render_page(title, body, style + PAGE_STYLE)


def explanation_card(
    example: Mapping[str, Any], pair: GraphPair | None = None, name: str = "", *, fold: bool = True
) -> str:
    """Return an explained pair of sentences, with its graphs where there are any.

    Args:
        example: a `training.explain.Explanation` as a dict, with `measured`: metric → value, or None.
        pair: its graphs.
        name: of the pair, unlike all others on the page.
        fold: whether the table of facets is folded away.
    """
    table = folded("All facets", _facet_table(example)) if fold else _facet_table(example)
    graphs = show_pair(pair, (example["sentence_a"], example["sentence_b"]), name) if pair is not None else ""
    return (
        f'<div class="example"><p>{escape(example["sentence_a"])}</p><p>{escape(example["sentence_b"])}</p>'
        f'<p class="quiet">{escape(_verdict(example))}</p>{table}{graphs}</div>'
    )


def _verdict(example: Mapping[str, Any]) -> str:
    marks = {facet["mark"]: facet["name"] for facet in example["facets"] if facet["mark"]}
    verdict = f"similarity {example['similarity']:.2f}"
    return f"{verdict}; highest {marks['highest']}, lowest {marks['lowest']}" if marks else verdict


def _facet_table(example: Mapping[str, Any]) -> str:
    measured = example["measured"] or {}
    rows = []
    for facet in example["facets"]:
        standing, value = facet["standing"], measured.get(facet["name"])
        bar = "" if standing is None else f'<span class="bar"><i style="width:{100 * standing:.0f}%"></i></span>'
        cells = [
            f'<span class="{facet["mark"]}">{escape(facet["name"])}</span>' if facet["mark"] else escape(facet["name"]),
            f"{facet['similarity']:.2f}",
            f"{facet['prediction']:.2f}",
            UNDEFINED if value is None else f"{value:.2f}",
            f"{bar} {UNDEFINED if standing is None else f'{100 * standing:.0f} %'}",
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    header = "".join(f"<th>{title}</th>" for title in ("facet", "similarity", "predicted", "measured", "standing"))
    return f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
