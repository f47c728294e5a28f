"""The plots of the report, as SVG that takes its text colour from the page and refers to nothing outside it."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCENT = "#2f7fd6"
_TEXT = "#010203"  # stands for the page's text colour
_GRID = "#8a94a3"
_BASELINES = (
    ("full", "SB-full", "#e08a1e", "o"),
    ("random", "SB-rand", "#8a94a3", "s"),
    ("assigned", "SB-ILP", "#2ca58d", "D"),
)
_COLUMNS = 5
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


def draw_facets(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw the encoder's score of each facet as a bar, and the baselines as points on it.

    Args:
        rows: as in metrics.json, `facets.rows`.
    """
    with _styled():
        figure, axes = _figure(1, 1, height=0.9 + 0.3 * len(rows))
        plot = axes[0]
        places = np.arange(len(rows))[::-1]
        plot.barh(
            places, [100 * (row["encoder"] or 0) for row in rows], height=0.55, color=ACCENT, label="this encoder"
        )
        for key, label, colour, marker in _BASELINES:
            known = [(100 * row[key], place) for row, place in zip(rows, places, strict=True) if row[key] is not None]
            if known:
                x, y = zip(*known, strict=True)
                plot.scatter(
                    x, y, color=colour, marker=marker, s=34, label=label, zorder=3, edgecolors="white", linewidths=0.7
                )
        plot.set_yticks(places, [row["name"] for row in rows])
        plot.axvline(0, color=_GRID, linewidth=0.8)
        plot.set_xlabel("Spearman × 100")
        plot.grid(axis="x")
        plot.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
        return _svg(figure, "facets")


def draw_predictions(pairs: pl.DataFrame, names: Sequence[str]) -> str:
    """Draw predicted against measured values of each metric, as hexagons that are darker where pairs are more.

    Args:
        pairs: with `<name>_measured` and `<name>_predicted`.
        names: of the facets.
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    fading = LinearSegmentedColormap.from_list("fading", [(*_rgb(ACCENT), 0.15), (*_rgb(ACCENT), 1.0)])
    with _styled():
        figure, axes = _grid(len(names))
        for plot, name in zip(axes, names, strict=False):
            measured, predicted = pairs[f"{name}_measured"].to_numpy(), pairs[f"{name}_predicted"].to_numpy()
            low, high = min(0.0, float(predicted.min())), max(1.0, float(predicted.max()))
            least = _least(measured)
            plot.plot([least, 1], [least, 1], color=_GRID, linewidth=0.8, linestyle="--")
            plot.hexbin(
                measured,
                predicted,
                gridsize=22,
                mincnt=1,
                cmap=fading,
                norm=LogNorm(),
                extent=(least, 1, low, high),
                linewidths=0,
            )
            plot.set_title(name)
        figure.supxlabel("measured on the graphs")
        figure.supylabel("predicted from the sentences")
        return _svg(figure, "predictions")


def draw_distributions(pairs: pl.DataFrame, names: Sequence[str]) -> str:
    """Draw how often each metric takes which value.

    Args:
        pairs: with `<name>_measured`.
        names: of the facets.
    """
    with _styled():
        figure, axes = _grid(len(names))
        for plot, name in zip(axes, names, strict=False):
            values = pairs[f"{name}_measured"].to_numpy()
            plot.hist(
                values,
                bins=20,
                range=(_least(values), 1),
                weights=np.full(len(values), 100 / len(values)),
                color=ACCENT,
            )
            plot.set_title(name)
        figure.supxlabel("value of the metric")
        figure.supylabel("% of pairs")
        return _svg(figure, "distributions")


def draw_course(history: Sequence[Mapping[str, float]], best_step: int) -> str:
    """Draw the dev loss over the steps of the training.

    Args:
        history: as in training.json.
        best_step: the step whose model was kept.
    """
    with _styled():
        figure, axes = _figure(1, 1, height=2.6)
        plot = axes[0]
        plot.plot([h["step"] for h in history], [h["total"] for h in history], color=ACCENT, marker="o", markersize=3)
        plot.axvline(best_step, color=_GRID, linestyle="--", linewidth=0.8)
        plot.set_xlabel("step (dashed: the model that was kept)")
        plot.set_ylabel("dev loss")
        plot.grid()
        return _svg(figure, "course")


def _least(values: NDArray[np.float64]) -> float:
    """Return where the axis of a metric begins: 0, or -1 for one that falls below."""
    return -1.0 if len(values) and values.min() < 0 else 0.0


def _styled() -> Any:
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def _figure(rows: int, columns: int, *, height: float) -> "tuple[Figure, list[Axes]]":
    # No pyplot: it keeps figures alive and chooses a backend for the whole process.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for plot in axes:
        plot.patch.set_alpha(0)
    return figure, axes


def _grid(count: int) -> "tuple[Figure, list[Axes]]":
    rows = -(-count // _COLUMNS)
    figure, axes = _figure(rows, min(count, _COLUMNS), height=0.5 + 1.75 * rows)
    for plot in axes[count:]:
        plot.set_visible(False)
    return figure, axes


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _svg(figure: "Figure", name: str) -> str:
    """Return the figure as an SVG element for the inside of a page; equal figures are equal texts."""
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # a rule for `*`, so for the whole page
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1).replace(
        "<svg", f'<svg role="img" aria-label="{name}"', 1
    )
    return text.replace("xlink:href", "href").replace(_TEXT, "currentColor").strip()
