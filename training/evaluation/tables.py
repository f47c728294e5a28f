"""Tables of an evaluation: columns say what the values of a row are, and every output is made from the same table.

Column("encoder", "encoder", hundred)     .517       ──> 51.7     as text: terminal, report, model card, server
                                                     ──> .517     as values: JSON, CSV
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from features.core.pages import UNDEFINED

if TYPE_CHECKING:
    import polars as pl

NOTES = "training.evaluation/notes.txt"
"""Template of what a reader of scores must know."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str  # its header
    key: str  # of the value in a row, with a dot for each level: `scores.f1`; empty for the row itself
    form: Callable[[Any], str] = str  # displays a value

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return the value of a row; an empty text where the row has none."""
        if self.key in row:
            return row[self.key]
        value: Any = row
        for key in self.key.split(".") if self.key else ():
            value = value[key] if isinstance(value, Mapping) and key in value else ""
        return value

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the value of a row as displayed."""
        value = self.value(row)
        return value if isinstance(value, str) else self.form(value)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One table as displayed."""

    title: str  # what it shows
    columns: tuple[str, ...]  # header; the first column is left-aligned, numbers follow
    rows: tuple[tuple[str, ...], ...]  # cells as displayed
    note: str = ""  # what a reader must know, a sentence or two per line; perhaps empty
    values: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)  # not yet displayed; none of texts


def table(title: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], note: str = "") -> ScoreTable:
    """Return rows of values, key → value, perhaps nested, as a table with a title and a note."""
    rows = tuple(rows)
    cells = tuple(tuple(column.cell(row) for column in columns) for row in rows)
    values = tuple({column.title: column.value(row) for column in columns if column.key} for row in rows)
    return ScoreTable(title, tuple(column.title for column in columns), cells, note, values)


def as_frame(tables: Iterable[ScoreTable]) -> "pl.DataFrame":
    """Return the numbers of tables as they are, not × 100 nor rounded, one per row, for CSV, JSON and Parquet.

    `table`, `row` and `column` by their names; `value`, or the ends `low` and `high` of an interval.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for each in tables:
        title = each.title.replace(", × 100", "").replace(" × 100", "")
        for (name, *_), values in zip(each.rows, each.values, strict=True):
            for column, value in values.items():
                cell = {"table": title, "row": name, "column": column}
                if isinstance(value, Mapping) and "low" in value:
                    rows.append(cell | {"low": value["low"], "high": value["high"]})
                elif isinstance(value, int | float):
                    rows.append(cell | {"value": float(value)})
    named = dict.fromkeys(("table", "row", "column"), pl.String)
    return pl.DataFrame(rows, schema=named | dict.fromkeys(("value", "low", "high"), pl.Float64))


def fit(table: ScoreTable, width: int) -> list[ScoreTable]:
    """Split a table by columns where its numbers would leave no room for the first column in a width in characters."""
    names, *others = zip(table.columns, *table.rows, strict=True)
    parts: list[list[int]] = [[]]
    taken = first = min(max(map(len, " ".join(names).split())), width // 3) + 3  # it is folded between words
    for position, column in enumerate(others, start=1):
        needed = max(map(len, column)) + 2
        if parts[-1] and taken + needed > width:
            parts.append([])
            taken = first
        parts[-1].append(position)
        taken += needed
    return [
        ScoreTable(
            title=table.title if part is parts[0] else f"{table.title} (further columns)",
            columns=tuple(table.columns[column] for column in (0, *part)),
            rows=tuple(tuple(row[column] for column in (0, *part)) for row in table.rows),
            note=table.note if part is parts[-1] else "",
        )
        for part in parts
    ]


def count(value: int) -> str:
    """Return a count with its thousands separated."""
    return f"{value:,}"


def hundred(value: float | None) -> str:
    """Return a score times 100 with one digit, or a dash where it is undefined."""
    return UNDEFINED if value is None else f"{100 * value:z.1f}"


def bounds(interval: Mapping[str, float | None] | None) -> tuple[float, float] | None:
    """Return the ends of the interval of a score; None where it is unknown."""
    low, high = (interval["low"], interval["high"]) if interval else (None, None)
    # Draws of equal items say nothing of others, and differ by rounding alone.
    return None if low is None or high is None or high - low < 1e-9 else (low, high)


def ends(interval: Mapping[str, float | None] | None) -> str:
    """Return the interval of a score times 100, or a dash where it is unknown."""
    low_high = bounds(interval)
    return UNDEFINED if low_high is None else " to ".join(map(hundred, low_high))


def mean_of(scores: Collection[float | None]) -> float | None:
    """Return the mean of scores; None where one of them is undefined, or there are none."""
    defined = [score for score in scores if score is not None]
    return sum(defined) / len(defined) if defined and len(defined) == len(scores) else None


def lines(*sentences: str) -> str:
    """Return sentences a line each, without empty ones."""
    return "\n".join(sentence for sentence in sentences if sentence)
