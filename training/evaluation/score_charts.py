"""The scores of an evaluation as bars: facets beside their baselines, and agreement with people."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.encoders.s3bert.facets import RESIDUAL
from training.evaluation.bars import Bar, Mark, draw_bars
from training.evaluation.limits import tell_verdict

_BASELINES = {
    "full": Mark("SB-full: the whole start embedding", "circle"),
    "random": Mark("SB-rand: random dimensions of it", "square"),
    "assigned": Mark("SB-ILP: its best dimensions", "diamond"),
}
_START = Mark("start model", "circle")
_PEOPLE = "Spearman × 100 with human ratings"


def chart_facets(facets: Mapping[str, Any]) -> str:
    """Return how well each facet follows its metric, as HTML.

    Args:
        facets: `facets` of metrics.json.
    """
    bars = [
        Bar(
            name=row["name"],
            about=row["about"],
            value=_hundredths(row["encoder"]),
            interval=_ends(row["interval"]),
            marks={mark.name: 100 * row[key] for key, mark in _BASELINES.items() if row[key] is not None},
            verdict="" if row["encoder"] is None else tell_verdict(row["differences"]["full"]),
        )
        for row in facets["rows"]
    ]
    marks = [mark for mark in _BASELINES.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis="Spearman × 100 of facet and metric")


def chart_ratings(ratings: Sequence[Mapping[str, Any]]) -> str:
    """Return how well the similarity of sentences follows each set of human ratings, as HTML.

    Args:
        ratings: `ratings` of metrics.json.
    """
    bars = [
        Bar(
            name=rating["name"],
            about=f"{rating['pairs']:,} pairs",
            value=_hundredths(rating["encoder"]),
            interval=_ends(rating["encoder_interval"]),
            marks={} if rating["teacher"] is None else {_START.name: 100 * rating["teacher"]},
            verdict=tell_verdict(rating["difference"]),
        )
        for rating in ratings
    ]
    return draw_bars(bars, [_START], of="this encoder", axis=_PEOPLE)


def chart_predictors(rating: Mapping[str, Any], about: Mapping[str, str]) -> str:
    """Return how well each facet by itself follows one set of human ratings, as HTML.

    Args:
        rating: one of `ratings` of metrics.json.
        about: facet → what it asks.
    """
    told = {**about, RESIDUAL: "The dimensions that belong to no facet."}
    bars = [
        Bar(name, told.get(name, ""), _hundredths(value), _ends(rating["facet_intervals"][name]))
        for name, value in rating["facets"].items()
    ]
    return draw_bars(bars, of="the facet alone", axis=_PEOPLE)


def _hundredths(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _ends(interval: Mapping[str, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (100 * interval["low"], 100 * interval["high"])
