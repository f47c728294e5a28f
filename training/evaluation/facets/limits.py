"""What the numbers of an evaluation can say and what they cannot, in words; it is the intervals that decide."""

from collections.abc import Mapping
from statistics import median
from typing import Any

_COARSE = 0.10  # a typical difference between an encoder and a baseline
_FINE = 0.05


def tell_counts(facets: Mapping[str, Any], baseline: str) -> str:
    """Return how many facets are above a baseline, how many below, and for how many the pairs cannot tell.

    Args:
        facets: what `FacetSuite` found.
        baseline: a field of `FacetScore`.
    """
    counts = facets["verdicts"][baseline]
    return f"{counts['above']} above, {counts['below']} below, cannot tell for {counts['unclear']}"


def uncertainty(facets: Mapping[str, Any]) -> float | None:
    """Return how far chance may move a facet's lead over the start model: half an interval, the median of the facets.

    Args:
        facets: what `FacetSuite` found.

    Returns:
        In [0, 2]; None where no facet has an interval.
    """
    found = [row["differences"]["full"] for row in facets["rows"]]
    widths = [(difference["high"] - difference["low"]) / 2 for difference in found if difference is not None]
    return median(widths) if widths else None


def warn_of_few_pairs(facets: Mapping[str, Any]) -> str:
    """Return what a reader must know where the pairs are too few to compare by; nothing where there are enough.

    Args:
        facets: what `FacetSuite` found.
    """
    half, pairs = uncertainty(facets), facets["pairs"]
    if half is None:
        return (
            f"The {pairs:,} {facets['split']} pairs differ too little, or are too few, for any interval: these numbers "
            "compare nothing."
        )
    if half <= _COARSE:
        return ""
    # The width of an interval falls with the root of the number of pairs.
    needed = float(f"{pairs * (half / _FINE) ** 2:.1g}")
    return (
        f"{pairs:,} {facets['split']} pairs are few: a facet that differs from the start model by less than "
        f"{100 * half:.0f} may do so by chance. These numbers do not show how good the encoder is; to tell differences "
        f"of {100 * _FINE:.0f} takes about {needed:,.0f} pairs."
    )
