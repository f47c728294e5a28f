"""Facets against metrics: does the similarity of a facet order pairs as its metric does?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.correlation import spearman
from training.encoders.s3bert.facets import FacetLayout, slice_similarities
from training.evaluation.bootstrap import (
    Difference,
    GroupedBootstrap,
    Interval,
    compare,
    draw_spearman,
    interval,
)
from training.evaluation.facets import baselines
from training.evaluation.facets.embedded_pairs import EmbeddedPairs

BASELINES = ("full", "random", "assigned")
"""Fields of a `FacetScore` that the encoder is compared with."""


@dataclass(frozen=True, slots=True)
class FacetScore:
    """Spearman's correlation of one facet with its metric, in [-1, 1]; None where one of them is constant.

    Args:
        name: of the facet.
        encoder: by the facet of the encoder.
        full: by the whole embedding of the start model (SB-full).
        random: by random dimensions of the start model, mean over draws (SB-rand).
        assigned: by dimensions of the start model that an integer programme assigned (SB-ILP); also None where there
            were no pairs to assign on.
        agreeing: share of pairs whose metric is 1: many have nothing for the metric to compare.
        interval: of the encoder's score; None where too few pairs differ for one.
        differences: baseline → the encoder's score minus that of the baseline; None where either is, or where too few
            pairs differ.
    """

    name: str
    encoder: float | None
    full: float | None
    random: float | None
    assigned: float | None
    agreeing: float
    interval: Interval | None
    differences: dict[str, Difference | None]


def score_facets(
    held_out: EmbeddedPairs,
    layout: FacetLayout,
    *,
    fitting: EmbeddedPairs | None,
    draws: int,
    seed: int,
    bootstrap: GroupedBootstrap,
) -> list[FacetScore]:
    """Return the score of every facet next to three baselines.

    Args:
        held_out: pairs that nothing was trained on.
        layout: the encoder's facets.
        fitting: other pairs, for the integer programme to assign dimensions on; None leaves that baseline out.
        draws: number of random partitions.
        seed: of the random partitions.
        bootstrap: how intervals are computed.
    """
    start = (held_out.start_left, held_out.start_right)
    n_facets = len(layout.facets)
    of_encoder = layout.similarities(held_out.encoder_left, held_out.encoder_right)
    memberships = baselines.random_memberships(
        dimension=held_out.start_left.shape[1],
        n_facets=n_facets,
        width=baselines.random_width(held_out.start_left.shape[1], n_facets, layout.width),
        draws=draws,
        seed=seed,
    )
    by_baseline = {
        "full": [baselines.full_similarities(*start, n_facets)],
        "random": [slice_similarities(*start, membership, "cosine") for membership in memberships],
    }
    if fitting is not None:
        membership = baselines.assigned_membership(fitting.start_left, fitting.start_right, fitting.metrics)
        by_baseline["assigned"] = [slice_similarities(*start, membership, "cosine")]
    return [
        _score(
            name,
            of_encoder[:, k],
            {baseline: [columns[:, k] for columns in found] for baseline, found in by_baseline.items()},
            held_out.metrics[:, k],
            bootstrap,
        )
        for k, name in enumerate(layout.names)
    ]


def count_verdicts(scores: Sequence[FacetScore], baseline: str) -> dict[str, int]:
    """Return how many facets are above a baseline, how many below, and how many unclear."""
    found = [score.differences[baseline] for score in scores]
    verdicts = ["unclear" if difference is None else difference.verdict for difference in found]
    return {verdict: verdicts.count(verdict) for verdict in ("above", "below", "unclear")}


def _score(
    name: str,
    encoder: NDArray[np.float64],
    by_baseline: dict[str, list[NDArray[np.float64]]],
    metric: NDArray[np.float32],
    bootstrap: GroupedBootstrap,
) -> FacetScore:
    """Return the score of one facet from its and the baselines' similarities of each pair, (n_pairs,)."""
    columns = np.stack([encoder, *(column for found in by_baseline.values() for column in found)], axis=1)
    scores = spearman(columns, np.repeat(metric[:, None], columns.shape[1], axis=1))
    drawn = draw_spearman(columns, metric, bootstrap)
    at, known, differences = 1, dict[str, float | None](), dict[str, Difference | None]()
    for baseline in BASELINES:
        here = slice(at, at + len(by_baseline.get(baseline, ())))
        at = here.stop
        known[baseline] = _mean(scores[here])
        defined = scores[0] is not None and known[baseline] is not None
        differences[baseline] = (
            compare(drawn[:, 0], drawn[:, here].mean(axis=1), bootstrap, bootstrap.count) if defined else None
        )
    return FacetScore(
        name=name,
        encoder=scores[0],
        full=known["full"],
        random=known["random"],
        assigned=known["assigned"],
        agreeing=float((metric >= 1.0).mean()),
        interval=None if scores[0] is None else interval(drawn[:, 0], bootstrap, bootstrap.count),
        differences=differences,
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
