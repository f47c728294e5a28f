"""Maps of the texts that two encoders were evaluated on, side by side: as each of them embeds the texts.

maps.parquet of A ─┐ the same texts of an aspect, with the same colours
maps.parquet of B ─┴──> one map of each aspect: A on the left, B on the right
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl
from markupsafe import Markup

from features.core.pages import render
from training.evaluation.retrieval.maps import MAPS_FILE, place_column
from training.evaluation.retrieval.points import ABOUT_MAPS, draw_points
from training.evaluation.run import read_evaluation

_OWN = "encoder"
"""The evaluated encoder, among the sides of its own maps; the other is its start model."""


@dataclass(frozen=True, slots=True)
class Maps:
    """The maps of an evaluation.

    Args:
        entries: name → entry in the scores (`Map.as_json`).
        points: rows of maps.parquet; empty where there are no maps.
    """

    entries: Mapping[str, Mapping[str, Any]]
    points: pl.DataFrame

    @classmethod
    def read(cls, run: Path) -> Self:
        """Read the maps of an evaluation; none where it has no texts with labels, or the file is gone.

        Raises:
            InputError: when the scores cannot be read.
        """
        retrieval = read_evaluation(run)["suites"].get("retrieval", {})
        try:
            points = pl.read_parquet(run / MAPS_FILE)
        except (OSError, pl.exceptions.PolarsError):
            return cls({}, pl.DataFrame())
        return cls({entry["name"]: entry for entry in retrieval.get("maps", ())}, points)

    def own(self, name: str, side: str) -> pl.DataFrame:
        """Return the points of a map with their places by the encoder alone, under the name of a side.

        Args:
            name: of the map.
            side: new name of the encoder.
        """
        rows = self.points.filter(pl.col("map") == name)
        places = {
            place_column(_OWN, method, axis): place_column(side, method, axis)
            for method in self.entries[name]["methods"]
            for axis in "xy"
        }
        return rows.select("text", "labels", "colour", *(pl.col(old).alias(new) for old, new in places.items()))


def draw_maps(names: Sequence[str], runs: Sequence[Path]) -> Markup:
    """Return the maps that two evaluations have of the same texts, side by side, as HTML; empty where there are none.

    Args:
        names: of both encoders.
        runs: folders of both evaluations.

    Raises:
        InputError: when scores cannot be read.
    """
    a, b = (Maps.read(run) for run in runs)
    titles = {"a": f"A ({names[0]})", "b": f"B ({names[1]})"}
    same = ["text", "labels", "colour"]
    drawn = dict[str, Markup]()
    for name in (name for name in a.entries if name in b.entries):
        left, right = a.own(name, "a"), b.own(name, "b")
        if not left.select(same).equals(right.select(same)):
            continue
        first, second = a.entries[name], b.entries[name]
        both = {
            **first,
            "sides": {"a": first["sides"][_OWN], "b": second["sides"][_OWN]},
            "methods": [method for method in first["methods"] if method in second["methods"]],
        }
        points = pl.concat([left, right.drop(same)], how="horizontal")
        drawn[name] = Markup(draw_points(both, points, f"map{len(drawn)}", titles))  # noqa: S704  # escaped there
    return render("training.differences/maps.html", about=ABOUT_MAPS, maps=drawn) if drawn else Markup()
