"""Similarity against people: Spearman's correlation with human ratings, and which facets predict them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from training.evaluation.correlation import spearman
from training.facets import RESIDUAL, FacetLayout, cosines

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


class RatedPairs(Protocol):
    """Pairs with human ratings, such as `features.corpora.EvaluationPairs`."""

    name: str
    texts_a: list[str]
    texts_b: list[str]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatingScore:
    """Spearman's correlation with human ratings, in [-1, 1].

    Args:
        name: of the set.
        pairs: number of pairs.
        encoder: by the cosine of the encoder's whole embedding.
        teacher: by that of the start model.
        facets: by the similarity of each facet, and of the residual (Opitz & Frank 2022, Table 4).
    """

    name: str
    pairs: int
    encoder: float | None
    teacher: float | None
    facets: dict[str, float | None]


def score_ratings(rated: RatedPairs, layout: FacetLayout, *, encoder: Encode, teacher: Encode) -> RatingScore:
    """Return how well similarities order pairs as people do.

    Args:
        rated: the pairs.
        layout: the encoder's facets.
        encoder: texts → embeddings (n, d).
        teacher: the same, by the start model.
    """
    left, right = encoder(rated.texts_a), encoder(rated.texts_b)
    rest = layout.residual
    columns = {
        "": cosines(left, right),
        **dict(zip(layout.names, layout.similarities(left, right).T, strict=True)),
        **({RESIDUAL: cosines(left[:, rest], right[:, rest])} if rest.start < rest.stop else {}),
        "teacher": cosines(teacher(rated.texts_a), teacher(rated.texts_b)),
    }
    scores = np.repeat(rated.scores[:, None], len(columns), axis=1)
    found = dict(zip(columns, spearman(np.stack(list(columns.values()), axis=1), scores), strict=True))
    return RatingScore(
        name=rated.name,
        pairs=len(rated.scores),
        encoder=found.pop(""),
        teacher=found.pop("teacher"),
        facets=found,
    )
