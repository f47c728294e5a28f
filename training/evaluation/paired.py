"""Scores of the encoder beside those of its start model (`Drawn.paired`), as columns of a table and as bars."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.evaluation.bars import Bar, Mark, draw_bars
from training.evaluation.tables import UNDEFINED, Column, ends, hundred

Row = Mapping[str, Any]
_START = Mark("start model", "circle")


def tell_verdict(difference: Mapping[str, Any] | None) -> str:
    """Return whether a score is above or below a baseline, or that this is unclear, from a `Difference` as a dict."""
    return "unclear" if difference is None else difference["verdict"]


def tell(row: Row) -> str:
    """Return how the encoder compares with its start model, a dash where one of them has no score."""
    return UNDEFINED if None in {row["encoder"], row["start"]} else tell_verdict(row["difference"])


PAIRED = (
    Column("start model", "start", hundred, higher=True),
    Column("encoder", "encoder", hundred, higher=True),
    Column("95 % interval", "encoder_interval", ends),
    Column("vs start model", "", tell, about="whether the interval of the difference excludes 0"),
)
"""Columns of a row that is paired."""


def with_mean(rows: Sequence[Row], mean: Row | None, name: str) -> list[Row]:
    """Return rows, and below them their mean where there is one."""
    return [*rows, *([] if mean is None else [{"name": name, **mean}])]


def draw(rows: Sequence[Row], about: Sequence[str], axis: str) -> str:
    """Draw paired scores as bars, with a phrase on each and marks for those of the start model, as HTML."""
    bars = [
        Bar.of(row, said, {} if row["start"] is None else {_START.name: row["start"]}, tell(row))
        for row, said in zip(rows, about, strict=True)
    ]
    return draw_bars(bars, [_START] if any(bar.marks for bar in bars) else [], of="this encoder", axis=axis)


def tell_start(row: Row, about: str) -> str:
    """Return a phrase on a score with that of the start model, where it is known."""
    if row["start"] is None:
        return about
    return f"{about} Start model: {hundred(row['start'])}. This encoder relative to it: {tell(row)}."
