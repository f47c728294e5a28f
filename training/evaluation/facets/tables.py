"""The scores of facets as a table, and in words what they can and cannot show, as judged by their intervals."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from training.evaluation.paired import tell_verdict
from training.evaluation.seen import tell_seen
from training.evaluation.tables import UNDEFINED, Column, ScoreTable, ends, hundred, lines, table

_COARSE = 0.10  # a typical difference between an encoder and a baseline
_FINE = 0.05


def verdict_of(row: Mapping[str, Any]) -> str:
    """Return whether a facet is above SB-full; a dash where it has no score."""
    return UNDEFINED if row["encoder"] is None else tell_verdict(row["differences"]["full"])


_COLUMNS = (
    Column("facet", "name"),
    Column("SB-full", "full", hundred, higher=True, about="the whole start embedding"),
    Column("SB-rand", "random", hundred, higher=True, about="random dimensions of it"),
    Column("SB-ILP", "assigned", hundred, higher=True, about="its best dimensions"),
    Column("encoder", "encoder", hundred, higher=True),
    Column("95 % interval", "encoder_interval", ends),
    Column("vs SB-full", "", verdict_of),
)


def facet_table(facets: Mapping[str, Any]) -> ScoreTable:
    """Return the score of each facet next to the baselines.

    Args:
        facets: result of `FacetSuite`.
    """
    title = f"Spearman × 100 of facet and metric, {facets['pairs']:,} positive pairs of {facets['split']}"
    return table(title, _COLUMNS, facets["rows"], _note(facets))


def uncertainty(facets: Mapping[str, Any]) -> float | None:
    """Return how far chance may move a facet's lead over the start model: half an interval, median over the facets.

    Args:
        facets: result of `FacetSuite`.

    Returns:
        In [0, 2]; None where no facet has an interval.
    """
    differences = [row["differences"]["full"] for row in facets["rows"]]
    widths = [(difference["high"] - difference["low"]) / 2 for difference in differences if difference is not None]
    return median(widths) if widths else None


def warn_of_few_pairs(facets: Mapping[str, Any]) -> str:
    """Return a warning where there are too few pairs for a comparison; nothing where there are enough.

    Args:
        facets: result of `FacetSuite`.
    """
    half, pairs = uncertainty(facets), facets["pairs"]
    if half is None:
        return (
            f"The {pairs:,} {facets['split']} pairs are too few, or differ too little, for any interval: these numbers "
            "allow no comparison."
        )
    if half <= _COARSE:
        return ""
    # The width of an interval shrinks with the square root of the number of pairs.
    needed = float(f"{pairs * (half / _FINE) ** 2:.1g}")
    return (
        f"{pairs:,} {facets['split']} pairs are few: a facet that differs from the start model by less than "
        f"{100 * half:.0f} may do so by chance. These numbers do not show how good the encoder is; detecting "
        f"differences of {100 * _FINE:.0f} takes about {needed:,.0f} pairs."
    )


def _note(facets: Mapping[str, Any]) -> str:
    fitting = facets["fitting_pairs"]
    assigned = f"on {fitting:,} other pairs" if fitting else "(no other pairs to assign on)"
    undefined = ", ".join(row["name"] for row in facets["rows"] if row["encoder"] is None)
    counts = {
        baseline: ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        for baseline, verdicts in facets["verdicts"].items()
    }
    return lines(
        tell_seen(facets["seen"], facets["split"], facets["others"]),
        warn_of_few_pairs(facets),
        f"Against SB-full: {counts['full']}. Against SB-rand: {counts['random']}.",
        f"SB-full is the whole embedding of the start model, SB-rand {facets['width']} random dimensions per facet "
        f"(mean of {facets['draws']} draws), SB-ILP the dimensions that an integer programme assigns {assigned}.",
        "A facet is above or below where the 95 % interval of the difference, from a paired bootstrap over the pairs, "
        "excludes 0; where there is no difference, one facet in twenty is above or below by chance.",
        f"{UNDEFINED}: the metric, or the facet, is the same for all pairs ({undefined})." if undefined else "",
    )
