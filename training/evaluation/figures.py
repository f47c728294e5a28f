"""The plots of the report."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.typing import NDArray

from features.core.pages.plots import Axis, bars, draw_plot
from training.encoders.settings import score_in_words

_BINS = 20
_MOST = 3  # parts between the ticks of a plot that is one of many: two fit beside each other on a phone
_FAINTEST = 0.15


def draw_prediction(pairs: pl.DataFrame, name: str) -> Markup:
    """Draw predicted against measured values of a metric, as squares of a colour that is fuller for more pairs."""
    measured, predicted = pairs[f"{name}_measured"].to_numpy(), pairs[f"{name}_predicted"].to_numpy()
    across = _measured("measured", measured)
    up = Axis("predicted", min(0.0, predicted.min()), max(1.0, predicted.max()), _MOST)
    ends = ((across.low, across.high), (up.low, up.high))
    counts, x, y = np.histogram2d(measured, predicted, bins=_BINS, range=ends)
    boxes = {
        _FAINTEST + (1 - _FAINTEST) * np.log1p(count) / np.log1p(counts.max()): [
            (x[column], y[row], x[column + 1], y[row + 1]) for column, row in np.argwhere(counts == count)
        ]
        for count in np.unique(counts[counts > 0])
    }
    exact = [(across.low, across.low), (1.0, 1.0)]
    return draw_plot(f"{name}: predicted against measured values", across, up, boxes=boxes, guide=exact)


def draw_distribution(pairs: pl.DataFrame, name: str) -> Markup:
    """Draw the distribution of a metric's measured values over pairs."""
    values = pairs[f"{name}_measured"].to_numpy()
    across = _measured("value", values)
    counts, edges = np.histogram(values, bins=_BINS, range=(across.low, across.high))
    shares = 100 * counts / len(values)
    up = Axis.over("% of pairs", [0.0, shares.max()], _MOST)
    label = f"{name}: distribution of the values over the pairs"
    return draw_plot(label, across, up, boxes={1.0: bars(edges, shares)})


def draw_precision(curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], name: str) -> Markup:
    """Draw precision over recall, (n_points,) each, for the encoder and the model it is compared with, if any."""
    return draw_plot(
        f"{name}: precision over recall of {' and '.join(curves)}",
        Axis("recall × 100", 0, 100),
        Axis("precision × 100", 0, 100),
        lines=[list(zip(100 * recall, 100 * precision, strict=True)) for recall, precision in curves.values()],
        names=list(curves),
    )


def draw_reliability(bins: Sequence[Mapping[str, float]], name: str) -> Markup:
    """Draw the share of paraphrases over the predicted probability, as points whose size grows with the pairs."""
    points = [(100 * each["said"], 100 * each["so"]) for each in bins]
    pairs = sum(each["pairs"] for each in bins)
    sizes = [4 + 10 * (each["pairs"] / pairs) ** 0.5 for each in bins]
    return draw_plot(
        f"{name}: share of paraphrases over the predicted probability",
        Axis("predicted probability × 100 (dashed: calibrated)", 0, 100),
        Axis("paraphrases × 100", 0, 100),
        guide=[(0, 0), (100, 100)],
        lines=[points],
        names=["bins of pairs, larger with more"],
        dots=[(*point, size) for point, size in zip(points, sizes, strict=True)],
    )


def draw_course(
    history: Sequence[Mapping[str, float]], best_step: int, *, chosen_by: str | None = None, ratings: str | None = None
) -> Markup:
    """Draw the dev score that chose the model over the steps of the training (`history` of training.json)."""
    first = next(name for name in history[0] if name != "step")
    score = chosen_by if chosen_by is not None and chosen_by in history[0] else first
    by = f"Spearman with {ratings}" if ratings else f"dev {score_in_words(score)}"
    points = [(entry["step"], entry[score]) for entry in history]
    across = Axis.over("step (dashed: the model that was kept)", [step for step, _ in points])
    up = Axis.over(by, [value for _, value in points])
    return draw_plot(
        f"{by} over the steps of the training",
        across,
        up,
        guide=[(best_step, up.low), (best_step, up.high)],
        lines=[points],
        dots=[(*point, 5.0) for point in points],
    )


def _measured(name: str, values: NDArray[np.float64]) -> Axis:
    """Return the axis of a metric: from 0, or from -1 for one with negative values."""
    return Axis(name, -1.0 if len(values) and values.min() < 0 else 0.0, 1.0, _MOST)
