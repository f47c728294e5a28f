"""Bars with intervals and marks as HTML: the text keeps its size and the bars fill the remaining width.

    negations    ├──█████████─┤ ◆  ●          31.4   unclear
    frames               ▓▓▓▓▓▓├──▓▓▓●▓──┤    52.0   above SB-full

A bar is filled where its interval excludes 0. Most show scores of the encoder beside those of its start model, which
`Drawn.paired` gives; such rows are columns of a table as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from markupsafe import Markup

from features.core.pages import UNDEFINED, render, tell_number
from features.core.pages.plots import Axis
from training.evaluation.suites import Figure
from training.evaluation.tables import Column, bounds, ends, hundred

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """A baseline that the bars are compared with: its name and its shape, circle, square, diamond or triangle."""

    name: str
    shape: str


_START = Mark("start model", "circle")


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart."""

    name: str  # what is measured
    about: str  # one sentence on it, perhaps empty
    value: float | None  # in hundredths, such as 31.4; None where it is undefined
    interval: tuple[float, float] | None  # of the value, in hundredths; None where it is unknown
    marks: Mapping[str, float] = field(default_factory=dict)  # name of a mark → its value, for those that have one
    verdict: str = ""  # text after the number, perhaps empty

    @classmethod
    def of(cls, row: Mapping[str, Any], about: str, marks: Mapping[str, float | None], verdict: str = "") -> Self:
        """Return the bar of a row of a result, with baselines that may be undefined; all in [-1, 1]."""
        interval = bounds(row["encoder_interval"])
        return cls(
            name=row["name"],
            about=about,
            value=None if row["encoder"] is None else 100 * row["encoder"],
            interval=(100 * interval[0], 100 * interval[1]) if interval else None,
            marks={name: 100 * value for name, value in marks.items() if value is not None},
            verdict=verdict,
        )

    @property
    def sure(self) -> bool:
        """Whether its interval excludes 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]

    @property
    def words(self) -> str:
        """The bar in words."""
        if self.value is None:
            return f"{self.name}: undefined"
        low, high = (tell_number(end, 1) for end in self.interval or (None, None))
        marks = "".join(f", {name} {tell_number(value, 1)}" for name, value in self.marks.items())
        return (
            f"{self.name} {tell_number(self.value, 1)}{f', interval {low} to {high}' if self.interval else ''}{marks}"
        )


def draw_bars(bars: Sequence[Bar], marks: Sequence[Mark] = (), *, of: str, axis: str) -> Markup:
    """Draw bars from top to bottom, with a legend (`of` names the bars) above and an axis below, as HTML."""
    values = [0.0, 5.0]
    for bar in bars:
        values += [bar.value or 0.0, *(bar.interval or ()), *bar.marks.values()]
    scale = Axis.over(axis, values, most=8)
    return render("training.evaluation/bars.html", bars=bars, marks=marks, of=of, axis=scale)


def tell_verdict(difference: Mapping[str, Any] | None) -> str:
    """Return whether a score is above or below a baseline, or that this is unclear, from a `Difference` as a dict."""
    return "unclear" if difference is None else difference["verdict"]


def verdict_of(row: Row) -> str:
    """Return how the encoder compares with its start model, a dash where one of them has no score."""
    return UNDEFINED if None in {row["encoder"], row["start"]} else tell_verdict(row["difference"])


PAIRED = (
    Column("start model", "start", hundred),
    Column("encoder", "encoder", hundred),
    Column("95 % interval", "encoder_interval", ends),
    Column("vs start model", "", verdict_of),
)
"""Columns of a row that is paired."""


def with_mean(rows: Sequence[Row], mean: Row | None, name: str) -> list[Row]:
    """Return rows, and below them their mean where there is one."""
    return [*rows, *([] if mean is None else [{"name": name, **mean}])]


def draw(rows: Sequence[Row], about: Sequence[str], axis: str) -> str:
    """Draw paired scores as bars, with a phrase on each and marks for those of the start model, as HTML."""
    bars = [
        Bar.of(row, phrase, {} if row["start"] is None else {_START.name: row["start"]}, verdict_of(row))
        for row, phrase in zip(rows, about, strict=True)
    ]
    return draw_bars(bars, [_START] if any(bar.marks for bar in bars) else [], of="this encoder", axis=axis)


def figure_of(row: Row, about: str, after: str = "") -> Figure:
    """Return the figure of a paired score: a phrase on it, that of the start model, where it is known, and more."""
    start = f" Start model: {hundred(row['start'])}. This encoder relative to it: {verdict_of(row)}."
    return Figure(hundred(row["encoder"]), f"{about}{'' if row['start'] is None else start}{after}")
