"""Bars with intervals and marks as HTML: the text keeps its size and the bars fill the remaining width.

    negations    ├──█████████─┤ ◆  ●          31.4   unclear
    frames               ▓▓▓▓▓▓├──▓▓▓●▓──┤    52.0   above SB-full

A bar is filled where its interval excludes 0. Every text is escaped; the plots need `report.css`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor

from features.core.page import explained

_STEPS = (5, 10, 20, 25, 50)
_TICKS = 9
_HEIGHT = 22
_MARKS: Mapping[str, str] = {
    "circle": '<circle r="5"/>',
    "square": '<rect x="-4.5" y="-4.5" width="9" height="9"/>',
    "diamond": '<path d="M0-6 6 0 0 6-6 0Z"/>',
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A baseline that the bars are compared with.

    Args:
        name: what it shows.
        shape: circle, square or diamond; unique in a chart.
    """

    name: str
    shape: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart.

    Args:
        name: what is measured.
        about: one sentence on it, perhaps empty.
        value: in hundredths, such as 31.4; None where it is undefined.
        interval: of the value, in hundredths; None where it is unknown.
        marks: name of a mark → its value, for those that have one.
        verdict: text after the number, perhaps empty.
    """

    name: str
    about: str
    value: float | None
    interval: tuple[float, float] | None
    marks: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""


def draw_bars(bars: Sequence[Bar], marks: Sequence[Mark] = (), *, of: str, axis: str) -> str:
    """Draw bars one below the other, with a legend above and an axis below.

    Args:
        bars: from top to bottom.
        marks: in the order of the legend.
        of: what the bars are, for the legend.
        axis: what the axis measures.
    """
    ticks = _ticks(bars)
    scale = _Scale(ticks[0], ticks[-1])
    rows = "".join(_row(bar, marks, ticks, scale) for bar in bars)
    labels = "".join(f'<span style="left:{scale.place(tick):.2f}%">{_number(tick, 0)}</span>' for tick in ticks)
    return (
        f'<div class="chart{"" if any(bar.verdict for bar in bars) else " plain"} tips">{_legend(of, marks)}{rows}'
        f'<div class="axis"><div class="ticks">{labels}</div><div class="quiet">{escape(axis)}</div></div></div>'
    )


def hundredths(value: float | None) -> float | None:
    """Return a correlation as a bar draws it."""
    return None if value is None else 100 * value


def ends_of(interval: Mapping[str, float | None] | None) -> tuple[float, float] | None:
    """Return the ends of an interval of a score as a bar draws them, None where it is unknown."""
    if interval is None or (low := interval["low"]) is None or (high := interval["high"]) is None:
        return None
    return 100 * low, 100 * high


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to percent of the width."""

    low: float
    high: float

    def place(self, value: float) -> float:
        return 100 * (value - self.low) / (self.high - self.low)


def _ticks(bars: Sequence[Bar]) -> list[float]:
    """Return round numbers from below the lowest to above the highest value drawn."""
    values = [0.0]
    for bar in bars:
        values += [bar.value or 0.0, *(bar.interval or ()), *bar.marks.values()]
    low, high = min(values), max(*values, 5.0)
    for step in _STEPS:
        ticks = [float(step * n) for n in range(floor(low / step), ceil(high / step) + 1)]
        if len(ticks) <= _TICKS:
            break
    return ticks


def _row(bar: Bar, marks: Sequence[Mark], ticks: Sequence[float], scale: _Scale) -> str:
    parts = [f'<line class="{"zero" if tick == 0 else "grid"}" {_across(scale, tick)}/>' for tick in ticks]
    if bar.value is not None:
        low, high = sorted((scale.place(0), scale.place(bar.value)))
        sure = bar.interval is not None and not bar.interval[0] <= 0 <= bar.interval[1]
        kind = "value sure" if sure else "value"
        parts.append(f'<rect class="{kind}" x="{low:.2f}%" width="{high - low:.2f}%" y="4" height="{_HEIGHT - 8}"/>')
    if bar.interval is not None:
        low, high = (scale.place(end) for end in bar.interval)
        middle = _HEIGHT / 2
        parts.append(f'<line class="ends" x1="{low:.2f}%" x2="{high:.2f}%" y1="{middle}" y2="{middle}"/>')
        parts += [
            f'<line class="ends" x1="{end:.2f}%" x2="{end:.2f}%" y1="{middle - 4}" y2="{middle + 4}"/>'
            for end in (low, high)
        ]
    parts += [
        f'<svg class="{mark.shape}" x="{scale.place(bar.marks[mark.name]):.2f}%" y="50%">{_MARKS[mark.shape]}</svg>'
        for mark in marks
        if mark.name in bar.marks
    ]
    number = "–" if bar.value is None else _number(bar.value)
    return (
        f'<div class="row"><span class="name">{explained(bar.name, bar.about)}</span>'
        f'<svg class="track" role="img" aria-label="{escape(_told(bar))}" height="{_HEIGHT}">{"".join(parts)}</svg>'
        f'<span class="number">{number}</span><span class="verdict">{escape(bar.verdict)}</span></div>'
    )


def _across(scale: _Scale, value: float) -> str:
    place = scale.place(value)
    return f'x1="{place:.2f}%" x2="{place:.2f}%" y1="0" y2="{_HEIGHT}"'


def _told(bar: Bar) -> str:
    """Describe a bar in words."""
    if bar.value is None:
        return f"{bar.name}: undefined"
    interval = "" if bar.interval is None else f", interval {_number(bar.interval[0])} to {_number(bar.interval[1])}"
    marks = "".join(f", {name} {_number(value)}" for name, value in bar.marks.items())
    return f"{bar.name} {_number(bar.value)}{interval}{marks}"


def _legend(of: str, marks: Sequence[Mark]) -> str:
    ends = (("2", "22", "9", "9"), ("2", "2", "5", "13"), ("22", "22", "5", "13"))
    whisker = "".join(f'<line class="ends" x1="{a}" x2="{b}" y1="{c}" y2="{d}"/>' for a, b, c, d in ends)
    shapes = [
        ('<rect class="value sure" x="1" y="4" width="22" height="10"/>', of),
        ('<rect class="value" x="1" y="4" width="22" height="10"/>', "its interval includes 0, or is unknown"),
        (whisker, "95 % interval"),
        *((f'<svg class="{mark.shape}" x="12" y="9">{_MARKS[mark.shape]}</svg>', mark.name) for mark in marks),
    ]
    return (
        '<div class="keys">'
        + "".join(
            f'<span><svg width="24" height="18" aria-hidden="true">{shape}</svg> {escape(text)}</span>'
            for shape, text in shapes
        )
        + "</div>"
    )


def _number(value: float, digits: int = 1) -> str:
    return f"{value:z.{digits}f}".replace("-", "−")
