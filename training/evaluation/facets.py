"""Facets against metrics: does the similarity of a facet order pairs as its metric does?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.evaluation import baselines
from training.evaluation.correlation import spearman
from training.facets import FacetLayout, slice_similarities

Embeddings = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddedPairs:
    """Pairs with their metrics and the embeddings of two models.

    Args:
        encoder_left: sentences a by the encoder, (n_pairs, d).
        encoder_right: sentences b by the encoder.
        start_left: sentences a by the start model, (n_pairs, d).
        start_right: sentences b by the start model.
        metrics: (n_pairs, n_facets).
    """

    encoder_left: Embeddings
    encoder_right: Embeddings
    start_left: Embeddings
    start_right: Embeddings
    metrics: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FacetScore:
    """Spearman's correlation of one facet with its metric, in [-1, 1]; None where the metric is constant.

    Args:
        name: of the facet.
        encoder: by the facet of the encoder.
        full: by the whole embedding of the start model (SB-full).
        random: by random dimensions of the start model, mean over draws (SB-rand).
        assigned: by dimensions of the start model that an integer programme assigned (SB-ILP); None as well where
            there were no pairs to assign on.
        agreeing: share of pairs whose metric is 1: many have nothing of the kind that it looks at.
    """

    name: str
    encoder: float | None
    full: float | None
    random: float | None
    assigned: float | None
    agreeing: float


def score_facets(
    held_out: EmbeddedPairs, layout: FacetLayout, *, fitting: EmbeddedPairs | None, draws: int, seed: int
) -> list[FacetScore]:
    """Return the score of every facet beside three baselines.

    Args:
        held_out: pairs that nothing was learnt from.
        layout: the encoder's facets.
        fitting: other pairs, that the integer programme assigns dimensions by; None leaves that baseline out.
        draws: random partitions.
        seed: of the random partitions.
    """
    start = (held_out.start_left, held_out.start_right)
    n_facets = len(layout.facets)
    encoder = spearman(layout.similarities(held_out.encoder_left, held_out.encoder_right), held_out.metrics)
    full = spearman(baselines.full_similarities(*start, n_facets), held_out.metrics)
    memberships = baselines.random_memberships(
        dimension=held_out.start_left.shape[1],
        n_facets=n_facets,
        width=layout.facets[0].stop - layout.facets[0].start,
        draws=draws,
        seed=seed,
    )
    drawn = [spearman(slice_similarities(*start, m, "cosine"), held_out.metrics) for m in memberships]
    assigned: list[float | None] = [None] * n_facets
    if fitting is not None:
        membership = baselines.assigned_membership(fitting.start_left, fitting.start_right, fitting.metrics)
        assigned = spearman(slice_similarities(*start, membership, "cosine"), held_out.metrics)
    return [
        FacetScore(
            name=name,
            encoder=encoder[k],
            full=full[k],
            random=_mean([draw[k] for draw in drawn]),
            assigned=assigned[k],
            agreeing=float((held_out.metrics[:, k] >= 1.0).mean()),
        )
        for k, name in enumerate(layout.names)
    ]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
