"""Which dimensions of a sentence embedding belong to which facet: the file `facets.json` of an encoder.

with a map      0 ..... 383 | 384 ..... 415 | ... | 832 ..... 863
                  residual       smatch       ...    quantifiers
without         0 ...... 15 | 16 ....... 31 | ... | 224 ..... 239 | 240 ..... 383
                  smatch        unlabeled     ...    quantifiers      residual

It also holds the metric value of a similarity (`FacetCalibration`), and how far a facet can be trusted (`Reliability`).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from features.core.closed import Closed, first_problem
from features.core.faults import (
    CannotExplain,
    EncoderDamaged,
    NotThisModel,
    RepeatedValue,
    UnknownName,
    VectorsWrong,
    WrongValue,
)
from features.core.wording import did_you_mean
from features.metrics.registry import METRIC_NAMES
from training.encoders.s3bert.calibration import (
    LEAST_PAIRS,
    FacetCalibration,
    Reliability,
    calibrate_facet,
    measure_reliability,
)
from training.similarity import slice_similarities
from training.types import Similarity

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

FILE_NAME = "facets.json"
RESIDUAL = "residual"
WHOLE = "sentence"
"""Stands for all dimensions, as in the tables of `explain`."""
QUANTILES = 41
"""Number of quantiles of a facet's similarity on dev pairs in `facets.json`."""
_DECIMALS = 4  # of these quantiles


IDENTITY = dict.fromkeys(METRIC_NAMES, 1.0)
"""Value of a metric for a sentence and itself, its maximum. For a project's own metric it is not known."""


class Facet(Closed):
    """One facet: its dimensions, and how its similarity maps to a value of its metric."""

    name: Annotated[str, Field(min_length=1)]  # the metric that the facet mirrors
    start: Annotated[int, Field(ge=0)]  # first dimension
    stop: int  # dimension after the last
    # training compares offset + slope x similarity with the metric; the slope is the learnt β (Eq. 3), times the range
    # of the metric if targets were min-max scaled
    slope: float = 1.0
    offset: float = 0.0  # or the metric's minimum, for min-max scaled targets
    # quantiles, evenly spaced from the lowest to the highest, of the facet's similarity on dev pairs; empty when
    # unknown
    usual: tuple[float, ...] = ()
    calibration: FacetCalibration | None = None  # fitted on dev pairs; None when there were too few
    reliability: Reliability | None = None  # how well the facet orders dev pairs; None when unknown

    @property
    def is_clear(self) -> bool:
        """Whether the facet is known to follow its metric: its correlation on dev pairs is clearly above 0."""
        return self.reliability is not None and self.reliability.is_clear

    def standing(self, similarity: float) -> float | None:
        """Return the share of dev pairs that are less similar in this facet, in [0, 1]; None when unknown."""
        if len(self.usual) < 2:
            return None
        similarity = round(similarity, _DECIMALS)  # as the quantiles are, so that equal ones are ties
        if similarity in self.usual:
            return self.usual.index(similarity) / (len(self.usual) - 1)  # the first: ties are no less similar
        return float(np.interp(similarity, self.usual, np.linspace(0.0, 1.0, len(self.usual))))


class FacetLayout(Closed):
    """The facets of an embedding and its residual: disjoint slices that cover every dimension; the residual is one."""

    format: Literal[2] = 2  # version of the file
    dimension: Annotated[int, Field(ge=1)]  # dimensions of the whole embedding (d)
    similarity: Similarity = "cosine"  # of two sub-vectors: cosine, or 1 - L1 distance
    facets: Annotated[tuple[Facet, ...], Field(min_length=1)]  # by their dimensions, without gaps; others: residual
    # whether the residual is the embedding of the start model, unchanged, and the facets a map of it: a product with
    # that map then gives facets to vectors that exist already
    maps_start: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        expected = first = self.facets[0].start
        for facet in self.facets:
            if facet.start != expected or facet.stop <= facet.start:
                raise ValueError(
                    f"facet {facet.name!r} takes dimensions {facet.start} to {facet.stop}, but the previous one "
                    f"ends at {expected}"
                )
            expected = facet.stop
        if expected > self.dimension:
            raise ValueError(f"the facets take {expected} dimensions of an embedding that has {self.dimension}")
        if first and (expected < self.dimension):
            raise ValueError(f"dimensions before facet {self.names[0]!r} and after {self.names[-1]!r} have no facet")
        if self.maps_start and not first:
            raise ValueError("maps_start is true, but no dimension precedes the facets")
        if len(set(self.names)) < len(self.facets) or RESIDUAL in self.names:
            raise RepeatedValue(f"facet names must differ from one another and from {RESIDUAL!r}, got {self.names!r}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the facets, in the order of their dimensions."""
        return tuple(facet.name for facet in self.facets)

    @property
    def width(self) -> int:
        """Dimensions of a facet (h)."""
        return self.facets[0].stop - self.facets[0].start

    @property
    def residual(self) -> slice:
        """Dimensions that belong to no facet."""
        first = self.facets[0].start
        return slice(0, first) if first else slice(self.facets[-1].stop, self.dimension)

    @property
    def slices(self) -> dict[str, slice]:
        """Name → dimensions, of the residual, if any belong to no facet, and of each facet."""
        residual = {RESIDUAL: self.residual} if self.residual.start < self.residual.stop else {}
        return residual | {facet.name: slice(facet.start, facet.stop) for facet in self.facets}

    def membership(self) -> NDArray[np.float32]:
        """Return which dimension belongs to which facet, (dimension, n_facets), 0 or 1; a product sums over facets."""
        matrix = np.zeros((self.dimension, len(self.facets)), dtype=np.float32)
        for column, facet in enumerate(self.facets):
            matrix[facet.start : facet.stop, column] = 1.0
        return matrix

    def require_width(self, vectors: NDArray[np.float32]) -> None:
        """Check that embeddings, (n, dimension), are as wide as those of which the facets are parts."""
        if vectors.shape[1] != self.dimension:
            raise EncoderDamaged(
                f"the facets are parts of embeddings of {self.dimension} dimensions, and these have "
                f"{vectors.shape[1]}: take `truncate_dim` out of the encoder's config_sentence_transformers.json, or "
                f"delete its {FILE_NAME}"
            )

    def similarities(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the similarity of every facet, (n_pairs, n_facets), of embeddings (n_pairs, dimension) each."""
        self.require_width(left)
        return slice_similarities(left, right, self.membership(), self.similarity)

    @property
    def lacks(self) -> str:
        """What the encoder lacks for explanations, and what to do about it, as a sentence; empty if nothing."""
        if all(facet.calibration is None for facet in self.facets):
            return (
                f"this encoder was trained with fewer than {LEAST_PAIRS} dev pairs, drawn negatives apart: its facets "
                "predict no values, and none is known to be reliable; give the project a dev split and train again"
            )
        return ""

    def predictions(self, similarities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric values that the facets predict from their similarities, (n_pairs, n_facets).

        They are within the range of each metric; NaN for a facet without a calibration.
        """
        values = np.full(similarities.shape, np.nan)
        for column, facet in enumerate(self.facets):
            if facet.calibration is not None:
                values[:, column] = facet.calibration(similarities[:, column])
        return values

    def scaled(self, similarities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return offset + slope x similarity, which training compares with the metrics, (n_pairs, n_facets).

        It is linear and may leave the range of a metric; `predictions` does not.
        """
        slopes = np.array([facet.slope for facet in self.facets])
        offsets = np.array([facet.offset for facet in self.facets])
        return offsets + slopes * similarities

    def calibrated(self, similarities: NDArray[np.float64], measured: NDArray[np.floating]) -> Self:
        """Return the layout with calibration, reliability and usual similarities by dev pairs, (n_pairs, n_facets)."""
        quantiles = np.empty((0, len(self.facets)))
        if len(similarities) > 1:
            quantiles = np.quantile(similarities, np.linspace(0, 1, QUANTILES), axis=0).round(_DECIMALS)
        facets = tuple(
            facet.model_copy(
                update={
                    "usual": tuple(quantiles[:, k].tolist()),
                    "calibration": calibrate_facet(similarities[:, k], measured[:, k], IDENTITY.get(facet.name)),
                    "reliability": measure_reliability(similarities[:, k], measured[:, k]),
                }
            )
            for k, facet in enumerate(self.facets)
        )
        return self.model_copy(update={"facets": facets})

    def text(self) -> str:
        """Return the content of `facets.json`."""
        return json.dumps(self.model_dump(), indent=2, allow_nan=False) + "\n"

    @classmethod
    def load(cls, folder: Path) -> "FacetLayout":
        """Read the `facets.json` of an encoder."""
        path = folder / FILE_NAME
        try:
            return cls.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            raise CannotExplain(
                f"{str(folder)!r} has no {FILE_NAME}, so it is not an encoder with facets; train one or name another "
                "folder"
            ) from error
        except ValidationError as error:
            where, why = first_problem(error)
            raise EncoderDamaged(
                f"{str(path)!r} is damaged at {where}: {why}; delete the folder {str(folder)!r}, then train or pull it "
                "again"
            ) from error


def plan_layout(
    names: Sequence[str], *, width: int, dimension: int, first: int = 0, similarity: Similarity = "cosine"
) -> FacetLayout:
    """Lay out facets of equal width (h) side by side, from the dimension `first` of an embedding (d) on."""
    if len(names) * width > dimension:
        raise WrongValue(
            f"{len(names)} facets of {width} dimensions need {len(names) * width}, but the backbone's embedding has "
            f"{dimension}; lower facet_dimensions to {dimension // max(1, len(names))} or name fewer facets"
        )
    starts = [first + i * width for i in range(len(names))]
    facets = tuple(Facet(name=name, start=start, stop=start + width) for name, start in zip(names, starts, strict=True))
    return FacetLayout(dimension=dimension, similarity=similarity, facets=facets)


def facet_dimensions(layout: FacetLayout | None, facet: str | None) -> slice:
    """Return the dimensions of a facet, of the `residual`, or of the whole `sentence`, as if none is named."""
    if facet is None or facet == WHOLE:
        return slice(None)
    if layout is None:
        raise UnknownName(f"the encoder has no facets, so no facet {facet!r}; leave the facet out")
    dimensions = layout.slices
    if facet not in tuple(dimensions):  # a list, which has no hash, is no facet either
        facets_first = sorted(dimensions, key=lambda name: name == RESIDUAL)
        names = f"choose from {', '.join(facets_first)}, or {WHOLE} for all of them"
        raise UnknownName(f"the encoder has no facet {facet!r}; {did_you_mean(facet, dimensions, names)}")
    return dimensions[facet]


def facets_of(
    folder: Path, encoder: "SentenceTransformer", layout: FacetLayout | None, vectors: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Return the embeddings of an encoder, (dimension,) or (n, dimension), from those of its start model."""
    if layout is None or not layout.maps_start:
        raise NotThisModel(
            f"the encoder {str(folder)!r} is no map of its start model's embeddings, so it has to encode the sentences "
            "themselves; train one of kind s3bert with layers_tuned = 0, or use s3bert-minilm-map on embeddings by "
            "all-MiniLM-L6-v2"
        )
    try:
        given, width = np.asarray(vectors, dtype=np.float32), layout.residual.stop
    except (RuntimeError, TypeError, ValueError) as error:
        array = "np.stack(column) or tensor.detach().float().cpu().numpy()"  # of lists; of bfloat16, a GPU
        raise VectorsWrong(f"The vectors are no array of numbers ({error}): give {array}.") from error
    if given.ndim not in {1, 2} or given.shape[-1] != width:
        raise VectorsWrong(
            f"The vectors have the shape {given.shape}, but {str(folder)!r} maps embeddings of {width} dimensions; "
            "give those of the model that it was trained from."
        )
    if not np.isfinite(given).all():
        raise VectorsWrong("The vectors have numbers that are not finite: leave such rows out.")
    dense: Any = list(encoder)[-1]
    facets = dense.linear.weight.detach().float().cpu().numpy()[width:]
    return np.concatenate([given, given @ facets.T], axis=-1)
