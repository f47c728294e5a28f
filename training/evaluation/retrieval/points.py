"""Maps as HTML without scripts: one point per text, at its place on each map, with the text shown on hover.

encoder · agree 54 %         start model · agree 48 %
┌──────────────┐             ┌──────────────┐    a <label> per text: a radio button and a dot on each map, so that
│  ∘ ∘   ● ←── the same text ──────→ ●  ∘   │    both light up together; Tab goes to the points, arrow keys from
└──────────────┘             └──────────────┘    one to the next
Deutsche Bank: … (country: Germany)              the text of the point that is hovered over or selected, at first one
● Germany  ● France  ○ others                    hovering over a label fades the others
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from training.evaluation.retrieval.maps import place_column
from training.evaluation.retrieval.tables import RANKINGS

_SHOWN_LETTERS = 220
ABOUT_MAPS = (
    "Each point is a text; texts that the model finds similar are close together. Hover over a point, or select one "
    "and move on with the arrow keys, to read it and to see where it lies on each map; hover over a label to see only "
    "its texts. Distances between clusters, and their sizes, mean little: the numbers are computed in the full space."
)
"""What a reader of maps should know."""


def draw_points(
    drawn: Mapping[str, Any], points: pl.DataFrame, name: str, titles: Mapping[str, str] | None = None
) -> str:
    """Return the maps of one aspect side by side.

    Args:
        drawn: entry of the map (`Map.as_json`).
        points: its rows of maps.parquet.
        name: letters and digits, unique on the page.
        titles: title of each side; by default the model's name in reports.
    """
    sides = list(drawn["sides"])
    methods = [method for method in drawn["methods"] if place_column(sides[0], method, "x") in points.columns]
    places = [
        points[place_column(side, method, axis)].to_list() for method in methods for side in sides for axis in "xy"
    ]
    colours = {label: place for place, label in enumerate(drawn["legend"])}
    # Order for the arrow keys: by colour, and from left to right on the first map.
    order = sorted(
        range(points.height), key=lambda row: (colours.get(points["colour"][row], len(colours)), places[0][row])
    )
    texts, labels, of = points["text"].to_list(), points["labels"].to_list(), points["colour"].to_list()
    dots = "<i></i>" * len(sides)
    marks = "".join(
        f'<label class="{_class(colours.get(of[row]))}" style="{_style(places, row)}">'
        f'<input type="radio" name="{name}"{"" if place else " checked"}>{dots}<span dir="auto">'
        f"<small>{escape(drawn['aspect'])}: {escape(labels[row])}</small>{escape(_cut(texts[row]))}</span></label>"
        for place, row in enumerate(order)
    )
    frames = "".join(
        f'<figure class="frame"><figcaption>{escape(_caption(drawn, side, titles))}</figcaption></figure>'
        for side in sides
    )
    asked = f"Texts by {drawn['aspect']}; arrow keys move from one to the next"
    return (
        f'<div class="maps{" single" if len(sides) == 1 else ""}">{_choice(methods, name)}'
        f'<div class="plane" role="radiogroup" aria-label="{escape(asked)}">{frames}{marks}</div>'
        f'{_legend(drawn["legend"], points.height)}<p class="note">{escape(_note(drawn, methods))}</p></div>'
    )


def _choice(methods: Sequence[str], name: str) -> str:
    """Return radio buttons for the methods; nothing where there is only one."""
    if len(methods) < 2:
        return ""
    inputs = "".join(
        f'<input type="radio" name="{name}-by" id="{name}-by{place}" class="by{place}"{"" if place else " checked"}>'
        for place in range(len(methods))
    )
    labels = "".join(
        f'<label for="{name}-by{place}" class="by{place}">{escape(method)}</label>'
        for place, method in enumerate(methods)
    )
    return f'{inputs}<div class="choice bys">{labels}</div>'


def _style(places: Sequence[Sequence[float]], row: int) -> str:
    """Return the place of a text: a coordinate for each side and method, in hundredths of a map."""
    return ";".join(f"--{'abcdefgh'[number]}:{100 * of[row]:.1f}" for number, of in enumerate(places))


def _caption(drawn: Mapping[str, Any], side: str, titles: Mapping[str, str] | None) -> str:
    known = drawn["sides"][side]
    silhouette = "" if known["silhouette"] is None else f", silhouette {known['silhouette']:.2f}".replace("-", "−")
    what = RANKINGS[side].capitalize() if titles is None else titles[side]
    return f"{what}: {100 * known['agreement']:.0f} % of the {drawn['k']} nearest share a label{silhouette}"


def _legend(legend: Mapping[str, int], points: int) -> str:
    others = points - sum(legend.values())
    entries = [(_class(place), label, count) for place, (label, count) in enumerate(legend.items())]
    entries += [(_class(None), "other", others)] if others else []
    items = "".join(
        f'<span class="{kind}" tabindex="0"><i></i> {escape(label)} <small>{count:,}</small></span>'
        for kind, label, count in entries
    )
    return f'<div class="labels">{items}</div>'


def _note(drawn: Mapping[str, Any], methods: Sequence[str]) -> str:
    drawn_by = (
        f"{drawn['points']:,} of {drawn['of']:,} texts, sampled with seed {drawn['seed']}"
        if drawn["points"] < drawn["of"]
        else f"All {drawn['of']:,} texts"
    )
    more = "" if len(methods) > 1 else " For UMAP as well: pip install facetflow[maps], and evaluate again."
    return (
        f"{drawn_by}, by {' and '.join(methods)} (seed {drawn['seed']}). The {len(drawn['legend'])} most frequent "
        "labels have a colour; a text with several labels has that of the most frequent one. Nearest texts and "
        f"silhouette (of the coloured texts) are by cosine in the full space, among the points shown.{more}"
    )


def _class(place: int | None) -> str:
    return "kn" if place is None else f"k{place}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS].rstrip()}…"
