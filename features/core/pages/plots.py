"""Plots: two axes and what lies between them. Text keeps its size, and the plot fills the width that a page gives it.

↑ predicted
1.0 │      ░▒▓     boxes, as of a histogram or of a density
    │   ░▒▓▒░      lines and dots
0.5 │  ░▒▒░   - -  a dashed guide
    └──────────────
    0.0   0.5   1.0
         measured →
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, isclose, log10
from typing import Self

from markupsafe import Markup

from features.core.pages import render, tell_number

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(frozen=True)
class Axis:
    """An axis with at most `most + 1` ticks, at multiples of 1, 2 or 5 times a power of ten."""

    name: str
    low: float
    high: float
    most: int = 5

    @classmethod
    def over(cls, name: str, values: Iterable[float], most: int = 5) -> Self:
        """Return an axis that holds some finite values, at least one, and begins and ends at a tick.

        >>> Axis.over("loss", [0.43, 0.61]).ticks
        {0.4: '0.40', 0.45: '0.45', 0.5: '0.50', 0.55: '0.55', 0.6: '0.60', 0.65: '0.65'}
        """
        values = list(values)
        low, high = min(values), max(values)
        step = _step((abs(high) or 1.0 if isclose(low, high) else high - low) / most)
        first = floor(round(low / step, 9))
        return cls(name, first * step, max(ceil(round(high / step, 9)), first + 1) * step, most)

    def at(self, value: float) -> float:
        """Return where a value lies, in percent of the axis, to the hundredth."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    @cached_property
    def ticks(self) -> dict[float, str]:
        """Round values between the ends, and how they are written."""
        step = _step((self.high - self.low) / self.most)
        first, last = ceil(round(self.low / step, 9)), floor(round(self.high / step, 9))
        digits = max(0, -floor(log10(step)))
        return {round(n * step, digits): tell_number(n * step, digits) for n in range(first, last + 1)}


def draw_plot(
    label: str,
    across: Axis,
    up: Axis,
    *,
    boxes: Mapping[float, Iterable[Box]] | None = None,
    guide: Sequence[Point] = (),
    lines: Sequence[Sequence[Point]] = (),
    names: Sequence[str] = (),
    dots: Iterable[tuple[float, float, float]] = (),
) -> Markup:
    """Draw a plot.

    Args:
        label: what it shows, for readers who cannot see it.
        across: the horizontal axis.
        up: the vertical axis.
        boxes: opacity, in [0, 1] → boxes.
        guide: points of a thin dashed line.
        lines: one or two; the second is dashed, and one of a single point is a dot.
        names: what the lines are called in the legend; without names there is none.
        dots: each with its diameter in pixels.
    """
    return render(
        "features.core.pages/plot.html",
        label=label,
        across=across,
        up=up,
        boxes=boxes or {},
        guide=guide,
        lines=lines,
        names=names,
        dots=dots,
    )


def bars(edges: Iterable[float], heights: Iterable[float]) -> list[Box]:
    """Return the boxes of a histogram, from n + 1 edges and n heights; empty parts have none."""
    return [(left, 0.0, right, high) for (left, right), high in zip(pairwise(edges), heights, strict=True) if high]


def _step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least this large."""
    power: float = 10.0 ** floor(log10(least))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least * (1 - 1e-9))
