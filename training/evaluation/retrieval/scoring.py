"""Overall quality of rankings: means with intervals, and differences.

Means are over the queries that have a relevant text; the bootstrap draws queries, the same for all rankings, or, where
the question is how far other labels would be found, all queries of a label at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import Interval, compare, differing, interval
from training.ranking import MEASURES


def summarise(
    values: Mapping[str, NDArray[np.float64]], bootstrap: Bootstrap, labels: NDArray[np.int64] | None = None
) -> dict[str, dict[str, Any]]:
    """Return means, their intervals, and how much the first ranking differs from each of the others.

    Args:
        values: ranking → values of `MEASURES` for each query, (n_queries, 5); the encoder's first.
        bootstrap: how queries are drawn.
        labels: label of each query, (n_queries,), where labels are drawn instead.

    Returns:
        Ranking → measure → `value`, `low`, `high`; and for the others `difference`, measure → a
        `training.evaluation.bootstrap.Difference` as a dict: the first ranking minus this one. `low`, `high` and the
        difference are None where there are too few queries, or labels, for an interval.
    """
    names = list(values)
    first = values[names[0]]
    drawn = np.arange(len(first)) if labels is None else np.unique(labels, return_inverse=True)[1]
    items = int(drawn.max()) + 1
    means = _draw_means([*values.values()], drawn, bootstrap)
    # From per-query differences: between means of equal values, rounding leaves a small non-zero value of one sign.
    differences = _draw_means([first - values[name] for name in names[1:]], drawn, bootstrap)
    found: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(names):
        exact = values[name].mean(axis=0)
        found[name] = {}
        for column, measured in enumerate(MEASURES):
            ends = interval(means[:, place, column], bootstrap, items, mean=True)
            found[name][measured] = {"value": float(exact[column]), **_ends(ends)}
        if place:
            found[name]["difference"] = {
                measured: _difference(
                    differences[:, place - 1, column],
                    bootstrap,
                    items,
                    differing(first[:, column], values[name][:, column], drawn.tolist()),
                )
                for column, measured in enumerate(MEASURES)
            }
    return found


def _draw_means(
    values: Sequence[NDArray[np.float64]], drawn: NDArray[np.int64], bootstrap: Bootstrap
) -> NDArray[np.float64]:
    """Return the mean over the queries of each draw, (resamples, n_rankings, 5).

    Args:
        values: of each ranking, (n_queries, 5).
        drawn: number of the item that each query is drawn with, (n_queries,), from 0.
        bootstrap: how items are drawn.
    """
    if not values:
        return np.empty((bootstrap.resamples, 0, len(MEASURES)))
    columns = np.concatenate([*values, np.ones((len(drawn), 1))], axis=1)
    by_item = np.zeros((int(drawn.max()) + 1, columns.shape[1]))
    np.add.at(by_item, drawn, columns)
    sums = np.stack([times @ by_item for times in bootstrap.draws(len(by_item))])
    means = sums[:, :-1] / sums[:, -1:]
    return np.asarray(means.reshape(len(means), len(values), len(MEASURES)))


def _ends(found: Interval | None) -> dict[str, float | None]:
    return {"low": None, "high": None} if found is None else {"low": found.low, "high": found.high}


def _difference(drawn: NDArray[np.float64], bootstrap: Bootstrap, items: int, differ: int) -> dict[str, Any] | None:
    found = compare(drawn, np.zeros_like(drawn), bootstrap, items, mean=True, differ=differ)
    return None if found is None else {"low": found.low, "high": found.high, "verdict": found.verdict}
