"""Scores as tables of text: the same ones for the terminal, the report and the model card."""

from collections.abc import Mapping
from dataclasses import dataclass

UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One table.

    Args:
        title: what it shows.
        columns: header; the first column is left-aligned, numbers follow.
        rows: cells as displayed.
        note: what a reader must know, a sentence or two per line; perhaps empty.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def fit(table: ScoreTable, width: int) -> list[ScoreTable]:
    """Split a table by columns where its numbers would leave no room for the first column.

    Args:
        table: the table to fit.
        width: in characters.
    """
    name, *others = ([len(cell) for cell in column] for column in zip(table.columns, *table.rows, strict=True))
    parts: list[list[int]] = [[]]
    taken = first = min(max(name), width // 3) + 2
    for position, column in enumerate(others, start=1):
        if parts[-1] and taken + max(column) + 1 > width:
            parts.append([])
            taken = first
        parts[-1].append(position)
        taken += max(column) + 1
    return [
        ScoreTable(
            title=table.title if part is parts[0] else f"{table.title} (further columns)",
            columns=tuple(table.columns[place] for place in (0, *part)),
            rows=tuple(tuple(row[place] for place in (0, *part)) for row in table.rows),
            note=table.note if part is parts[-1] else "",
        )
        for part in parts
    ]


def hundred(value: float | None) -> str:
    """Return a correlation times 100 with one digit, or a dash where it is undefined."""
    return UNDEFINED if value is None else f"{100 * value:z.1f}"


def ends(interval: Mapping[str, float | None] | None) -> str:
    """Return the interval of a score times 100, or a dash where it is unknown."""
    if interval is None or interval["low"] is None:
        return UNDEFINED
    return f"{hundred(interval['low'])} to {hundred(interval['high'])}"
