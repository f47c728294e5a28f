"""Readings of the facets of a pair of sentences, and what stands out among them: measured values come first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from features.metrics.explanation.anchors import joined

Mark = Literal["highest", "lowest", ""]


@dataclass(frozen=True, slots=True)
class FacetReading:
    """One facet of one pair."""

    name: str  # the metric that it mirrors
    # of the two sub-vectors; a cosine in [-1, 1], unless the encoder was trained with another similarity; None without
    # an encoder
    similarity: float | None
    prediction: float | None  # of the metric, within its range; None when the encoder was not calibrated
    standing: float | None  # share of the dev pairs that are less similar in this facet, in [0, 1]; None when unknown
    spearman: float | None = None  # rank correlation of the facet with its metric on dev pairs; None when unknown
    interval: tuple[float, float] | None = None  # its 95 % interval; None when unknown
    reliable: bool = False  # whether the whole interval is above 0; otherwise the encoder's numbers never stand out
    measured: float | None = None  # the metric on the graphs of the pair; None without graphs
    vacuous: bool = False  # whether neither graph has anything that the metric reads, which is 1 then
    # whether the words tell a difference of this kind, and the metric is 1 all the same: it compares something else,
    # kinds of names for instance
    blind: bool = False
    disagrees: bool = False  # whether prediction and measured value are far apart
    # whether the measured value is the highest or lowest; without graphs, whether the standing is, of the reliable
    # facets. Several may have the same mark
    mark: Mark = ""

    @property
    def is_doubtful(self) -> bool:
        """Whether there is an encoder, and what it says of the facet is not reliable."""
        return self.similarity is not None and not self.reliable

    @property
    def measured_text(self) -> str:
        """The measured value as shown to a reader: in brackets if it is vacuous, a dash if there is none."""
        if self.measured is None:
            return "–"
        return f"({self.measured:.2f})" if self.vacuous else f"{self.measured:.2f}"


DISAGREES = 0.25
"""A prediction further than this from the measured value disagrees with it: a quarter of a metric's range."""

_EQUAL = 1e-6  # values closer than this look equal in a plot
_MOST = 3  # facets in a list


def marked(facets: Sequence[FacetReading]) -> tuple[FacetReading, ...]:
    """Return facets with the highest and the lowest marked, and those where encoder and graphs disagree.

    Measured values are compared if there are any, whatever the encoder knows of their facets, but for those that are 1
    because neither graph has anything to compare, or because the metric does not see what the words tell. Otherwise the
    standings of reliable facets are compared, because similarities alone say little: most pairs agree in negation, so
    0.9 is low there.
    """
    if any(facet.measured is not None for facet in facets):
        values = [None if facet.vacuous or facet.blind else facet.measured for facet in facets]
    else:
        values = [facet.standing if facet.reliable else None for facet in facets]
    compared = [value for value in values if value is not None]
    low, high = (min(compared), max(compared)) if compared else (0.0, 0.0)
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
    """Return what stands out in marked facets, as one to three sentences; `equal` when both sentences are the same."""
    if equal:
        return "The two sentences are equal."
    if all(facet.similarity is None for facet in facets):  # without an encoder
        return _graphs_headline(facets)
    reliable = [facet for facet in facets if facet.reliable]
    caveat = ""
    if all(facet.interval is None for facet in facets):
        caveat = "How closely the facets of this encoder follow their metrics is unknown"
    elif not reliable:
        caveat = "No facet of this encoder clearly follows its metric on dev pairs"
    if all(facet.measured is None for facet in facets):
        return f"{caveat}, so none is named here." if caveat else _encoder_headline(reliable)
    apart = [facet for facet in reliable if facet.disagrees]
    sentences = [_graphs_headline(facets)]
    blind = [facet for facet in facets if facet.blind]
    sentences += [f"What the words tell does not show in {_names(blind)}."] if blind else []
    sentences += [f"The encoder disagrees: {_predictions(apart)}."] if apart else []
    sentences += [f"{caveat}: ignore its predictions."] if caveat else []
    return " ".join(sentences)


def _encoder_headline(facets: Sequence[FacetReading]) -> str:
    highest, lowest = _extremes(facets)
    if not lowest:
        return "From the encoder alone, no facet stands out."
    high, low = (f"{100 * (named[0].standing or 0.0):.0f} %" for named in (highest, lowest))
    return (
        f"From the encoder alone, this pair agrees most in {_names(highest)} (more than {high} of the dev pairs), "
        f"least in {_names(lowest)} (more than {low})."
    )


def _graphs_headline(facets: Sequence[FacetReading]) -> str:
    highest, lowest = _extremes(facets)
    if lowest:
        return f"Measured highest in {_values(highest)}, lowest in {_values(lowest)}."
    measured = [facet for facet in facets if facet.measured is not None]
    compared = [facet for facet in measured if not facet.vacuous] or measured
    value = compared[0].measured or 0.0
    if any(abs((facet.measured or 0.0) - value) > _EQUAL for facet in measured):
        return f"Measured {value:.2f} in every facet that finds something to compare."
    return f"Measured {value:.2f} in every facet{'' if len(measured) == len(facets) else ' that was measured'}."


def _extremes(facets: Sequence[FacetReading]) -> tuple[list[FacetReading], list[FacetReading]]:
    highest, lowest = ([facet for facet in facets if facet.mark == mark] for mark in ("highest", "lowest"))
    return highest, lowest


def _first(texts: list[str]) -> list[str]:
    return [*texts[:_MOST], f"{len(texts) - _MOST} more"] if len(texts) > _MOST else texts


def _names(facets: Sequence[FacetReading]) -> str:
    return joined(_first([facet.name for facet in facets]))


def _values(facets: Sequence[FacetReading]) -> str:
    return f"{_names(facets)} ({facets[0].measured:.2f})"


def _predictions(facets: Sequence[FacetReading]) -> str:
    furthest = sorted(facets, key=lambda facet: -abs((facet.prediction or 0) - (facet.measured or 0)))
    return "; ".join(_first([f"{f.name} {f.prediction:.2f} predicted, {f.measured:.2f} measured" for f in furthest]))
