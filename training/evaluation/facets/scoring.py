"""Facets against metrics: does the similarity of a facet order pairs as its metric does?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.encoders.s3bert.facets import FacetLayout, slice_similarities
from training.evaluation.bootstrap import GroupedBootstrap, compare, draw_spearman, interval
from training.evaluation.facets import baselines
from training.evaluation.facets.baselines import Embeddings
from training.similarity import spearman

BASELINES = ("full", "random", "assigned")
"""What the encoder is compared with."""


@dataclass(frozen=True, slots=True)
class EmbeddedPairs:
    """Measured pairs with the embeddings of two models.

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


def score_facets(
    held_out: EmbeddedPairs,
    layout: FacetLayout,
    *,
    fitting: EmbeddedPairs | None,
    draws: int,
    seed: int,
    bootstrap: GroupedBootstrap,
) -> list[dict[str, Any]]:
    """Return Spearman's correlation of every facet with its metric next to three baselines, in [-1, 1].

    Args:
        held_out: pairs that nothing was trained on.
        layout: the encoder's facets.
        fitting: other pairs, for the integer programme to assign dimensions on; None leaves that baseline out.
        draws: number of random partitions.
        seed: of the random partitions.
        bootstrap: how intervals are computed.

    Returns:
        Rows of a result, one per facet, None where a number is undefined because one of the two is constant: `encoder`
        by the facet of the encoder, `full` by the whole embedding of the start model (SB-full), `random` by random
        dimensions of it, mean over draws (SB-rand), `assigned` by dimensions that an integer programme assigned
        (SB-ILP); `agreeing`, the share of pairs whose metric is 1: many have nothing for it to compare; and baseline →
        the encoder's score minus that of the baseline, `differences`.
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
        {"name": name}
        | _score(
            of_encoder[:, k],
            {baseline: [columns[:, k] for columns in several] for baseline, several in by_baseline.items()},
            held_out.metrics[:, k],
            bootstrap,
        )
        for k, name in enumerate(layout.names)
    ]


def count_verdicts(rows: Sequence[Mapping[str, Any]], baseline: str) -> dict[str, int]:
    """Return how many facets are above a baseline, how many below, and how many unclear."""
    differences = [row["differences"][baseline] for row in rows]
    verdicts = ["unclear" if difference is None else difference["verdict"] for difference in differences]
    return {verdict: verdicts.count(verdict) for verdict in ("above", "below", "unclear")}


def _score(
    encoder: NDArray[np.float64],
    by_baseline: Mapping[str, list[NDArray[np.float64]]],
    metric: NDArray[np.float32],
    bootstrap: GroupedBootstrap,
) -> dict[str, Any]:
    """Return the scores of one facet from its and the baselines' similarities of each pair, (n_pairs,)."""
    columns = np.stack([encoder, *(column for several in by_baseline.values() for column in several)], axis=1)
    scores = spearman(columns, np.repeat(metric[:, None], columns.shape[1], axis=1))
    drawn = draw_spearman(columns, metric, bootstrap)
    ends = None if scores[0] is None else interval(drawn[:, 0], bootstrap, bootstrap.count)
    row: dict[str, Any] = {"encoder": scores[0], "encoder_interval": ends and asdict(ends), "differences": {}}
    at = 1
    for baseline in BASELINES:
        some = slice(at, at + len(by_baseline.get(baseline, ())))
        at = some.stop
        defined = [score for score in scores[some] if score is not None]
        row[baseline] = sum(defined) / len(defined) if defined else None
        both = scores[0] is not None and row[baseline] is not None
        over = compare(drawn[:, 0], drawn[:, some].mean(axis=1), bootstrap, bootstrap.count) if both else None
        row["differences"][baseline] = over and asdict(over)
    return row | {"agreeing": float((metric >= 1.0).mean())}
