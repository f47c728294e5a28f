"""Maps as HTML without scripts: one point per text, at its place on each map, with the text shown on hover.

encoder · agree 54 %         start model · agree 48 %
┌──────────────┐             ┌──────────────┐    a <label> per text: a radio button and a dot on each map, so that
│  ∘ ∘   ● ←── the same text ──────→ ●  ∘   │    both light up together; Tab goes to the points, arrow keys from
└──────────────┘             └──────────────┘    one to the next
Deutsche Bank: … (country: Germany)              the text of the point that is hovered over or selected, at first one
● Germany  ● France  ○ others                    hovering over a label fades the others
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from features.core.pages import render
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
) -> Markup:
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
    kinds = {label: f"k{number}" for number, label in enumerate(drawn["legend"])}
    # Order for the arrow keys: by colour, and from left to right on the first map.
    order = sorted(range(points.height), key=lambda row: (kinds.get(points["colour"][row], "kn"), places[0][row]))
    texts, labels, colours = (points[column].to_list() for column in ("text", "labels", "colour"))
    others = points.height - sum(drawn["legend"].values())
    legend = [{"kind": kinds[label], "label": label, "count": count} for label, count in drawn["legend"].items()]
    return render(
        "training.evaluation/map.html",
        name=name,
        drawn=drawn,
        methods=methods,
        captions=[_caption(drawn, side, titles) for side in sides],
        points=[
            {
                "kind": kinds.get(colours[row], "kn"),
                # A coordinate for each side and method, in hundredths of a map.
                "at": ";".join(f"--{'abcdefgh'[n]}:{100 * of[row]:.1f}" for n, of in enumerate(places)),
                "labels": labels[row],
                "text": _cut(texts[row]),
            }
            for row in order
        ],
        legend=[*legend, *([{"kind": "kn", "label": "other", "count": others}] if others else [])],
        note=_note(drawn, methods),
    )


def _caption(drawn: Mapping[str, Any], side: str, titles: Mapping[str, str] | None) -> str:
    known = drawn["sides"][side]
    silhouette = "" if known["silhouette"] is None else f", silhouette {known['silhouette']:.2f}".replace("-", "−")
    what = RANKINGS[side].capitalize() if titles is None else titles[side]
    return f"{what}: {100 * known['agreement']:.0f} % of the {drawn['k']} nearest share a label{silhouette}"


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


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS].rstrip()}…"
