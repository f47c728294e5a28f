"""The scores of facets as bars: with their baselines, and against human ratings."""

from collections.abc import Mapping
from typing import Any

from training.encoders.s3bert.facets import RESIDUAL
from training.evaluation.bars import Bar, Mark, draw_bars, ends_of, hundredths
from training.evaluation.bootstrap import tell_verdict
from training.evaluation.ratings import AXIS

_BASELINES = {
    "full": Mark("SB-full: the whole start embedding", "circle"),
    "random": Mark("SB-rand: random dimensions of it", "square"),
    "assigned": Mark("SB-ILP: its best dimensions", "diamond"),
}


def chart_facets(facets: Mapping[str, Any]) -> str:
    """Return how well each facet follows its metric, as HTML.

    Args:
        facets: result of `FacetSuite`.
    """
    bars = [
        Bar(
            name=row["name"],
            about=row["about"],
            value=hundredths(row["encoder"]),
            interval=ends_of(row["interval"]),
            marks={mark.name: 100 * row[key] for key, mark in _BASELINES.items() if row[key] is not None},
            verdict="" if row["encoder"] is None else tell_verdict(row["differences"]["full"]),
        )
        for row in facets["rows"]
    ]
    marks = [mark for mark in _BASELINES.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis="Spearman × 100 of facet and metric")


def chart_predictors(rating: Mapping[str, Any], about: Mapping[str, str]) -> str:
    """Return how well each facet alone follows one set of human ratings, as HTML.

    Args:
        rating: one of the `sets` in the result of `PredictorSuite`.
        about: facet → what it asks.
    """
    told = {**about, RESIDUAL: "The dimensions that belong to no facet."}
    bars = [
        Bar(name, told.get(name, ""), hundredths(value), ends_of(rating["intervals"][name]))
        for name, value in rating["facets"].items()
    ]
    return draw_bars(bars, of="the facet alone", axis=AXIS)
