"""The plots of the report, as self-contained SVG that takes its text colour from the page."""

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.typing import NDArray

from training.encoders.settings import score_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCENT = "#2f7fd6"
_TEXT = "#010203"  # stands for the page's text colour
_GRID = "#8a94a3"
_SMALL = (2.35, 1.9)  # inches: two fit side by side on a phone, with readable text at 9 points
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "xtick.labelcolor": _TEXT,
    "ytick.labelcolor": _TEXT,
    "grid.color": _GRID,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}


def draw_prediction(pairs: pl.DataFrame, name: str) -> str:
    """Draw predicted against measured values of a metric, as hexagons that are darker where there are more pairs."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb

    fading = LinearSegmentedColormap.from_list("fading", [(*to_rgb(ACCENT), 0.25), (*to_rgb(ACCENT), 1.0)])
    measured, predicted = pairs[f"{name}_measured"].to_numpy(), pairs[f"{name}_predicted"].to_numpy()
    low, high = min(0.0, float(predicted.min())), max(1.0, float(predicted.max()))
    least = _least(measured)
    with _styled():
        figure, plot = _figure(*_SMALL)
        plot.plot([least, 1], [least, 1], color=_GRID, linewidth=0.8, linestyle="--")
        plot.hexbin(
            measured,
            predicted,
            gridsize=18,
            mincnt=1,
            cmap=fading,
            norm=LogNorm(),
            extent=(least, 1, low, high),
            linewidths=0,
        )
        plot.set_xlabel("measured")
        plot.set_ylabel("predicted")
        return _svg(figure, f"prediction-{name}", f"{name}: predicted against measured values")


def draw_distribution(pairs: pl.DataFrame, name: str) -> str:
    """Draw the distribution of a metric's measured values over pairs."""
    values = pairs[f"{name}_measured"].to_numpy()
    with _styled():
        figure, plot = _figure(*_SMALL)
        share = np.full(len(values), 100 / len(values))
        plot.hist(values, bins=20, range=(_least(values), 1), weights=share, color=ACCENT)
        plot.set_xlabel("value")
        plot.set_ylabel("% of pairs")
        return _svg(figure, f"distribution-{name}", f"{name}: distribution of the values over the pairs")


def draw_precision(curves: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], name: str) -> str:
    """Draw precision over recall, (n_points,) each, for the encoder and the models it is compared with."""
    with _styled():
        figure, plot = _figure(3.1, 2.5)
        for number, (model, (recall, precision)) in enumerate(curves.items()):
            colour, line = (_GRID, "--") if number else (ACCENT, "-")
            plot.plot(100 * recall, 100 * precision, color=colour, linestyle=line, linewidth=1.6, label=model)
        _to_hundred(plot, "recall × 100", "precision × 100", legend="lower left")
        return _svg(figure, f"precision-{name}", f"{name}: precision over recall of {' and '.join(curves)}")


def draw_reliability(bins: Sequence[Mapping[str, float]], name: str) -> str:
    """Draw the share of paraphrases over the predicted probability, as points whose size grows with the pairs."""
    pairs = np.array([each["pairs"] for each in bins])
    with _styled():
        figure, plot = _figure(3.1, 2.5)
        plot.plot([0, 100], [0, 100], color=_GRID, linewidth=0.8, linestyle="--", label="calibrated")
        said, so = (np.array([100 * each[of] for each in bins]) for of in ("said", "so"))
        plot.plot(said, so, color=ACCENT, linewidth=1.0)
        plot.scatter(said, so, s=8 + 90 * pairs / pairs.sum(), color=ACCENT, label="pairs of a bin", clip_on=False)
        _to_hundred(plot, "predicted probability × 100", "paraphrases × 100", legend="upper left")
        return _svg(figure, f"reliability-{name}", f"{name}: share of paraphrases over the predicted probability")


def draw_course(
    history: Sequence[Mapping[str, float]], best_step: int, *, chosen_by: str | None = None, ratings: str | None = None
) -> str:
    """Draw the dev score that chose the model over the steps of the training (`history` of training.json)."""
    first = next(name for name in history[0] if name != "step")
    score = chosen_by if chosen_by is not None and chosen_by in history[0] else first
    by = f"Spearman with {ratings}" if ratings else f"dev {score_in_words(score)}"
    with _styled():
        figure, plot = _figure(4.9, 2.6, left=1.0)
        plot.plot([h["step"] for h in history], [h[score] for h in history], color=ACCENT, marker="o", markersize=3)
        plot.axvline(best_step, color=_GRID, linestyle="--", linewidth=0.8)
        plot.set_xlabel("step (dashed: the model that was kept)")
        plot.set_ylabel(by)
        plot.grid()
        return _svg(figure, "course", f"{by} over the steps of the training")


def _to_hundred(plot: "Axes", across: str, up: str, *, legend: Literal["lower left", "upper left"]) -> None:
    plot.set_xlim(0, 104)  # room for the label of 100
    plot.set_ylim(0, 104)
    plot.set_xlabel(across)
    plot.set_ylabel(up)
    plot.grid()
    plot.legend(loc=legend, fontsize=8)


def _least(values: NDArray[np.float64]) -> float:
    """Return where the axis of a metric begins: 0, or -1 for one with negative values."""
    return -1.0 if len(values) and values.min() < 0 else 0.0


def _styled() -> Any:
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def _figure(width: float, height: float, *, left: float = 0.64) -> "tuple[Figure, Axes]":
    # No pyplot: it keeps figures alive and chooses a backend for the whole process.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0)
    # Room for the labels, in inches: a layout engine would draw every figure three times to find it.
    plot = figure.add_axes((left / width, 0.46 / height, 1 - (left + 0.1) / width, 1 - 0.56 / height))
    plot.patch.set_alpha(0)
    return figure, plot


def _svg(figure: "Figure", name: str, label: str) -> str:
    """Return the figure as an inline SVG element with a label for readers who cannot see it."""
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # a rule for `*` would apply to the whole page
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    # matplotlib numbers ids from 1 in every figure; those that are referred to are hashes of the name.
    referred = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in referred else "", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1).replace(
        "<svg", f'<svg role="img" aria-label="{escape(label)}"', 1
    )
    return Markup(text.replace("xlink:href", "href").replace(_TEXT, "currentColor").strip())  # noqa: S704 - of matplotlib
