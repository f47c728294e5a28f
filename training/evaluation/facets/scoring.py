"""Facets against metrics: does the similarity of a facet order pairs as its metric does?

It is compared with what the start model already knows, measured in three ways (Opitz & Frank 2022, §5.1): by the whole
embedding (SB-full), by random dimensions of it (SB-rand), and by dimensions assigned to facets (SB-ILP). Beside them
stand the facets of the encoder that comes with facetflow, which need no training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.core.faults import WrongValue
from training.encoders.s3bert.facets import FacetLayout
from training.evaluation.bars import tell_verdict
from training.evaluation.bootstrap import GroupedBootstrap, compare, correlate
from training.evaluation.tables import mean_of
from training.similarity import cosines, slice_similarities, spearman_matrix

Embeddings = NDArray[np.float32]
BASELINES = ("full", "random", "assigned", "bundled")
"""What the encoder is compared with."""
RANDOM_DRAWS = 10
"""Partitions that SB-rand averages over."""


Sides = tuple[Embeddings, Embeddings]
"""Sentences a and b of pairs by one model, (n_pairs, d) each."""


def score_facets(
    similarities: NDArray[np.float64],
    start: Sides,
    metrics: NDArray[np.float32],
    layout: FacetLayout,
    *,
    bundled: Mapping[str, NDArray[np.float64]],
    fitting: tuple[Sides, NDArray[np.float32]] | None,
    bootstrap: GroupedBootstrap,
) -> list[dict[str, Any]]:
    """Return Spearman's correlation of every facet with its metric next to the baselines, in [-1, 1].

    Scored are the similarities of the encoder's facets, (n_pairs, n_facets), with metrics, (n_pairs, n_facets), of the
    pairs that its start model embeds as `start`. The integer programme assigns dimensions on the embeddings and metrics
    of other, fitting pairs (none: no such baseline); `bundled` are facet → similarities, (n_pairs,), by the encoder
    that comes with facetflow.

    Rows of a result, one per facet, None where a number is undefined because one of the two is constant: `encoder`,
    `full` (SB-full), `random`, the mean over draws (SB-rand), `assigned` (SB-ILP), `bundled`; `agreeing`, the share
    of pairs whose metric is 1: many have nothing for it to compare; and baseline → the encoder's score minus that
    of the baseline, `differences`.
    """
    dimension, n_facets = start[0].shape[1], len(layout.facets)
    width = random_width(dimension, n_facets, layout.width)
    memberships = random_memberships(
        dimension=dimension, n_facets=n_facets, width=width, draws=RANDOM_DRAWS, seed=bootstrap.seed
    )
    by_baseline = {  # (n_pairs, n_draws, n_facets) each
        "full": np.repeat(cosines(*start)[:, None, None], n_facets, axis=2),
        "random": np.stack([slice_similarities(*start, membership, "cosine") for membership in memberships], axis=1),
    }
    if fitting is not None:
        membership = assigned_membership(*fitting[0], fitting[1])
        by_baseline["assigned"] = slice_similarities(*start, membership, "cosine")[:, None]
    rows = []
    for k, name in enumerate(layout.names):
        of_facet = {baseline: values[:, :, k] for baseline, values in by_baseline.items()}
        of_facet |= {"bundled": bundled[name][:, None]} if name in bundled else {}
        columns = np.concatenate([similarities[:, [k]], *of_facet.values()], axis=1)
        drawn = correlate(columns, metrics[:, k], bootstrap)
        row: dict[str, Any] = {"name": name, "encoder": drawn.scores[0], "encoder_interval": drawn.interval()}
        row |= {"agreeing": float((metrics[:, k] >= 1.0).mean()), "differences": {}}
        at = 1
        for baseline in BASELINES:
            some = slice(at, at + (of_facet[baseline].shape[1] if baseline in of_facet else 0))
            at = some.stop
            row[baseline] = mean_of([score for score in drawn.scores[some] if score is not None])
            both = drawn.scores[0] is not None and row[baseline] is not None
            over = compare(drawn.draws[:, 0], drawn.draws[:, some].mean(axis=1), drawn.bootstrap) if both else None
            row["differences"][baseline] = over and asdict(over)
        rows.append(row)
    return rows


def count_verdicts(rows: Sequence[Mapping[str, Any]], baseline: str) -> dict[str, int]:
    """Return how many facets are above a baseline, how many below, and how many unclear; none is undefined."""
    defined = [row["differences"][baseline] for row in rows if None not in {row["encoder"], row[baseline]}]
    verdicts = [*map(tell_verdict, defined)]
    return {verdict: verdicts.count(verdict) for verdict in ("above", "below", "unclear")}


def random_width(dimension: int, n_facets: int, width: int) -> int:
    """Return the dimensions of a facet of SB-rand: those of the encoder's, or fewer where the start model has fewer."""
    return min(width, dimension // n_facets)


def random_memberships(
    *, dimension: int, n_facets: int, width: int, draws: int, seed: int
) -> list[NDArray[np.float32]]:
    """SB-rand: return partitions into random dimensions, none twice, (dimension, n_facets) each, 0 or 1."""
    random = np.random.default_rng(seed)
    of_facets = np.repeat(np.eye(n_facets, dtype=np.float32), width, axis=0)
    memberships = np.zeros((draws, dimension, n_facets), dtype=np.float32)
    for membership in memberships:
        membership[random.permutation(dimension)[: len(of_facets)]] = of_facets
    return [*memberships]


def assigned_membership(left: Embeddings, right: Embeddings, metrics: NDArray[np.float32]) -> NDArray[np.float32]:
    """SB-ILP: return the partition that solves an integer programme, (dimension, n_facets), 0 or 1 (Eq. 5 to 7).

    max Σ ω(i, j) x(i, j), each dimension i in at most one facet, each facet j with at least one dimension; ω(i, j) is
    Spearman's correlation of dimension i with metric j. The value of a dimension for a pair is the product of its two
    entries, (n_pairs, dimension) each: its share of the cosine.

    A dimension is in its best facet, unless a facet would have none: of each facet, one is assigned to it such that
    this costs least. Where several partitions are best, as with metrics that are equal, it is one of them.
    """
    from scipy.optimize import linear_sum_assignment  # here, as `facetflow runs` solves nothing

    weights = spearman_matrix(left * right, metrics)
    n_dimensions, n_facets = weights.shape
    if n_facets > n_dimensions:
        raise WrongValue(f"no partition of {n_dimensions} dimensions into {n_facets} facets exists")
    best, facets = np.maximum(weights.max(axis=1), 0), np.eye(n_facets, dtype=np.float32)
    chosen = facets[weights.argmax(axis=1)] * (best > 0)[:, None]
    rows, columns = linear_sum_assignment(best[:, None] - weights)
    chosen[rows] = facets[columns]
    return np.asarray(chosen, dtype=np.float32)
