"""What the numbers of an evaluation can and cannot show, in words, as judged by their intervals."""

from collections.abc import Mapping
from statistics import median
from typing import Any

_COARSE = 0.10  # a typical difference between an encoder and a baseline
_FINE = 0.05


def tell_counts(facets: Mapping[str, Any], baseline: str) -> str:
    """Return how many facets are above a baseline, how many below, and how many unclear.

    Args:
        facets: result of `FacetSuite`.
        baseline: a field of `FacetScore`.
    """
    counts = facets["verdicts"][baseline]
    return f"{counts['above']} above, {counts['below']} below, {counts['unclear']} unclear"


def uncertainty(facets: Mapping[str, Any]) -> float | None:
    """Return how far chance may move a facet's lead over the start model: half an interval, median over the facets.

    Args:
        facets: result of `FacetSuite`.

    Returns:
        In [0, 2]; None where no facet has an interval.
    """
    found = [row["differences"]["full"] for row in facets["rows"]]
    widths = [(difference["high"] - difference["low"]) / 2 for difference in found if difference is not None]
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
