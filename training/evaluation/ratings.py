"""Similarity against people: Spearman's correlation with human ratings, and which facets predict them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from features.metrics.corpus_scores import Bootstrap
from training.correlation import spearman
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout, cosines
from training.evaluation.bootstrap import Difference, Interval, compare, draw_spearman, interval

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
        encoder_interval: of `encoder`; None where the pairs cannot tell.
        teacher_interval: of `teacher`.
        facet_intervals: of `facets`.
        difference: the encoder's score less the teacher's.
    """

    name: str
    pairs: int
    encoder: float | None
    teacher: float | None
    facets: dict[str, float | None]
    encoder_interval: Interval | None
    teacher_interval: Interval | None
    facet_intervals: dict[str, Interval | None]
    difference: Difference | None


def score_ratings(
    rated: RatedPairs, layout: FacetLayout, *, encoder: Encode, teacher: Encode, bootstrap: Bootstrap
) -> RatingScore:
    """Return how well similarities order pairs as people do.

    Args:
        rated: the pairs.
        layout: the encoder's facets.
        encoder: texts → embeddings (n, d).
        teacher: the same, by the start model.
        bootstrap: how intervals are made.
    """
    left, right = encoder(rated.texts_a), encoder(rated.texts_b)
    rest = layout.residual
    facets = {
        **dict(zip(layout.names, layout.similarities(left, right).T, strict=True)),
        **({RESIDUAL: cosines(left[:, rest], right[:, rest])} if rest.start < rest.stop else {}),
    }
    columns = np.stack(
        [cosines(left, right), cosines(teacher(rated.texts_a), teacher(rated.texts_b)), *facets.values()], axis=1
    )
    scores = spearman(columns, np.repeat(rated.scores[:, None], columns.shape[1], axis=1))
    drawn = draw_spearman(columns, rated.scores, bootstrap)
    intervals = [
        None if score is None else interval(draws, bootstrap) for score, draws in zip(scores, drawn.T, strict=True)
    ]
    both = scores[0] is not None and scores[1] is not None
    return RatingScore(
        name=rated.name,
        pairs=len(rated.scores),
        encoder=scores[0],
        teacher=scores[1],
        facets=dict(zip(facets, scores[2:], strict=True)),
        encoder_interval=intervals[0],
        teacher_interval=intervals[1],
        facet_intervals=dict(zip(facets, intervals[2:], strict=True)),
        difference=compare(drawn[:, 0], drawn[:, 1], bootstrap) if both else None,
    )
