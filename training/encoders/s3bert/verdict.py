"""What stands out in an explanation, and how to phrase it: measured values take precedence over predictions."""

from collections.abc import Sequence
from dataclasses import replace

from features.metrics.explanation.naming import joined
from training.encoders.s3bert.facet_reading import FacetReading

DISAGREES = 0.25
"""A prediction further than this from the measured value disagrees with it: a quarter of a metric's range."""

_EQUAL = 1e-6  # values closer than this look equal in a plot
_MOST = 3  # facets in a list


def marked(facets: Sequence[FacetReading]) -> tuple[FacetReading, ...]:
    """Return facets with the highest and the lowest marked, and those where encoder and graphs disagree.

    Only reliable facets are marked. Their measured values are compared if there are any; otherwise their standings,
    because values alone say little: most pairs agree in negation, so 0.9 is low there.
    """
    with_graphs = any(facet.measured is not None for facet in facets if facet.reliable)
    values = [(facet.measured if with_graphs else facet.standing) if facet.reliable else None for facet in facets]
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    return tuple(
        replace(
            facet,
            mark=""
            if value is None or high - low <= _EQUAL
            else ("lowest" if value - low <= _EQUAL else "highest" if high - value <= _EQUAL else ""),
            disagrees=facet.measured is not None
            and facet.prediction is not None
            and abs(facet.prediction - facet.measured) > DISAGREES,
        )
        for facet, value in zip(facets, values, strict=True)
    )


def headline(facets: Sequence[FacetReading], *, equal: bool) -> str:
    """Return what stands out, as one or two sentences.

    Args:
        facets: as `marked` returns them.
        equal: whether both sentences are the same.
    """
    reliable = [facet for facet in facets if facet.reliable]
    if equal:
        return "The two sentences are equal."
    if all(facet.interval is None for facet in facets):
        return "How closely the facets of this encoder follow their metrics is unknown, so none is named here."
    if not reliable:
        return "No facet of this encoder clearly follows its metric on dev pairs, so none is named here."
    highest = [facet for facet in reliable if facet.mark == "highest"]
    lowest = [facet for facet in reliable if facet.mark == "lowest"]
    if all(facet.measured is None for facet in reliable):
        if not lowest:
            return "From the encoder alone, no facet stands out."
        return f"From the encoder alone, {_names(highest)} ranks highest and {_names(lowest)} lowest among dev pairs."
    if not lowest:
        measured = [facet.measured for facet in reliable if facet.measured is not None]
        rest = "" if len(measured) == len(reliable) else " that was measured"
        text = f"Measured {measured[0]:.2f} in every reliable facet{rest}."
    else:
        text = f"Measured highest in {_values(highest)}, lowest in {_values(lowest)}."
    apart = [facet for facet in reliable if facet.disagrees]
    return f"{text} The encoder disagrees: {_predictions(apart)}." if apart else text


def _names(facets: Sequence[FacetReading]) -> str:
    more = len(facets) - _MOST
    names = [facet.name for facet in facets]
    return joined([*names[:_MOST], f"{more} more"] if more > 0 else names)


def _values(facets: Sequence[FacetReading]) -> str:
    return f"{_names(facets)} ({facets[0].measured:.2f})"


def _predictions(facets: Sequence[FacetReading]) -> str:
    furthest = sorted(facets, key=lambda facet: -abs((facet.prediction or 0) - (facet.measured or 0)))
    texts = [f"{f.name} {f.prediction:.2f} predicted, {f.measured:.2f} measured" for f in furthest[:_MOST]]
    more = len(facets) - _MOST
    return "; ".join([*texts, f"{more} more"] if more > 0 else texts)
