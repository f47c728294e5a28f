"""Overall quality of rankings: means with intervals, and differences.

Means are over the queries that have a relevant text; the bootstrap draws queries, the same for all rankings.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.metrics.corpus_scores import Bootstrap
from training.evaluation.bootstrap import compare, interval
from training.ranking import MEASURES


def summarise(values: Mapping[str, NDArray[np.float64]], bootstrap: Bootstrap) -> dict[str, dict[str, Any]]:
    """Return means, their intervals, and how much the first ranking differs from each of the others.

    Args:
        values: ranking → values of `MEASURES` for each query, (n_queries, 5); the encoder's first.
        bootstrap: how queries are drawn.

    Returns:
        Ranking → measure → `value`, `low`, `high`; and for the others `difference`, measure → a
        `training.evaluation.bootstrap.Difference` as a dict: the first ranking minus this one.
    """
    names = list(values)
    first = values[names[0]]
    means = _draw_means([*values.values()], bootstrap)
    # From per-query differences: between means of equal values, rounding leaves a small non-zero value of one sign.
    differences = _draw_means([first - values[name] for name in names[1:]], bootstrap)
    found: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(names):
        exact = values[name].mean(axis=0)
        found[name] = {}
        for column, measured in enumerate(MEASURES):
            ends = interval(means[:, place, column], bootstrap)
            assert ends is not None  # noqa: S101 - a mean of numbers is a number; this tells mypy
            found[name][measured] = {"value": float(exact[column]), "low": ends.low, "high": ends.high}
        if place:
            found[name]["difference"] = {
                measured: _difference(differences[:, place - 1, column], bootstrap)
                for column, measured in enumerate(MEASURES)
            }
    return found


def _draw_means(values: Sequence[NDArray[np.float64]], bootstrap: Bootstrap) -> NDArray[np.float64]:
    """Return the mean over the queries of each draw, (resamples, n_rankings, 5), of values (n_queries, 5) each."""
    if not values:
        return np.empty((bootstrap.resamples, 0, len(MEASURES)))
    columns = np.concatenate(values, axis=1)
    sums = np.stack([times @ columns for times in bootstrap.draws(len(columns))])
    return np.asarray(sums.reshape(len(sums), len(values), len(MEASURES)) / len(columns))


def _difference(drawn: NDArray[np.float64], bootstrap: Bootstrap) -> dict[str, Any] | None:
    found = compare(drawn, np.zeros_like(drawn), bootstrap)
    return None if found is None else {"low": found.low, "high": found.high, "verdict": found.verdict}
