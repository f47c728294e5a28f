"""Reading of one facet for one pair of sentences."""

from dataclasses import dataclass
from typing import Literal

Mark = Literal["highest", "lowest", ""]


@dataclass(frozen=True, slots=True)
class FacetReading:
    """One facet of one pair.

    Args:
        name: the metric that it mirrors.
        similarity: of the two sub-vectors; a cosine in [-1, 1], unless the encoder was trained with another similarity.
        prediction: predicted value of the metric, within its range; None when the encoder was not calibrated.
        standing: share of the dev pairs that are less similar in this facet, in [0, 1]; None when unknown.
        spearman: rank correlation of the facet with its metric on dev pairs; None when unknown.
        interval: its 95 % interval; None when unknown.
        reliable: whether the whole interval is above 0; an unreliable facet never stands out.
        measured: the metric on the graphs of the pair; None without graphs.
        disagrees: whether prediction and measured value are far apart.
        mark: whether the facet is the highest or lowest of the reliable ones; several may have the same mark.
    """

    name: str
    similarity: float
    prediction: float | None
    standing: float | None
    spearman: float | None = None
    interval: tuple[float, float] | None = None
    reliable: bool = False
    measured: float | None = None
    disagrees: bool = False
    mark: Mark = ""
