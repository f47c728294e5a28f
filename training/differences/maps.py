"""Maps of the texts that two encoders were evaluated on, side by side: as each of them embeds the texts.

maps.parquet of A ─┐ the same texts of an aspect, with the same colours
maps.parquet of B ─┴──> one map of each aspect: A on the left, B on the right
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from features.core.pages import render
from training.evaluation.retrieval.maps import ABOUT_MAPS, MAPS_FILE, draw_points, place_column
from training.evaluation.run import read_evaluation

_OWN = "encoder"
"""The evaluated encoder, among the sides of its own maps; the other is its start model."""
_POINT = ("text", "labels", "colour")


def draw_maps(names: Sequence[str], runs: Sequence[Path]) -> Markup:
    """Return the maps that two evaluations have of the same texts, side by side, as HTML; empty if there are none."""
    (of_a, points_a), (of_b, points_b) = map(_read, runs)
    titles = {"a": f"A ({names[0]})", "b": f"B ({names[1]})"}
    drawn = dict[str, Markup]()
    for name in (name for name in of_a if name in of_b):
        a, b = of_a[name], of_b[name]
        left, right = _own(points_a, a, "a"), _own(points_b, b, "b")
        if not left.select(_POINT).equals(right.select(_POINT)):
            continue
        sides = {"a": a["sides"][_OWN], "b": b["sides"][_OWN]}
        both = {**a, "sides": sides, "methods": [method for method in a["methods"] if method in b["methods"]]}
        points = pl.concat([left, right.drop(_POINT)], how="horizontal")
        drawn[name] = draw_points(both, points, f"map{len(drawn)}", titles)
    return render("training.evaluation/maps.html", about=ABOUT_MAPS, drawings=drawn) if drawn else Markup()


def _read(run: Path) -> tuple[Mapping[str, Mapping[str, Any]], pl.DataFrame]:
    retrieval = read_evaluation(run)["suites"].get("retrieval", {})
    try:
        points = pl.read_parquet(run / MAPS_FILE)
    except (OSError, pl.exceptions.PolarsError):
        return {}, pl.DataFrame()
    return {entry["name"]: entry for entry in retrieval.get("maps", ())}, points


def _own(points: pl.DataFrame, entry: Mapping[str, Any], side: str) -> pl.DataFrame:
    """Return the points of a map with their places by the encoder alone, under the name of a side."""
    columns = ((method, axis) for method in entry["methods"] for axis in "xy")
    places = (pl.col(place_column(_OWN, *column)).alias(place_column(side, *column)) for column in columns)
    return points.filter(map=entry["name"]).select(*_POINT, *places)
