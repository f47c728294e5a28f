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
        reliable: whether the whole interval is above 0; what the encoder says of an unreliable facet never stands out.
        measured: the metric on the graphs of the pair; None without graphs.
        vacuous: whether neither graph has anything that the metric reads, so that its value is 1 by definition.
        blind: whether the words tell a difference of this kind, and the metric is 1 all the same: it compares something
            else, kinds of names for instance.
        disagrees: whether prediction and measured value are far apart.
        mark: whether the measured value is the highest or lowest; without graphs, whether the standing is, of the
            reliable facets. Several may have the same mark.
    """

    name: str
    similarity: float
    prediction: float | None
    standing: float | None
    spearman: float | None = None
    interval: tuple[float, float] | None = None
    reliable: bool = False
    measured: float | None = None
    vacuous: bool = False
    blind: bool = False
    disagrees: bool = False
    mark: Mark = ""

    @property
    def told_measured(self) -> str:
        """The measured value as shown to a reader: in brackets if it is vacuous, a dash if there is none."""
        if self.measured is None:
            return "–"
        return f"({self.measured:.2f})" if self.vacuous else f"{self.measured:.2f}"
