"""Scores as tables of text: the same ones for the terminal, the report and the model card."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One table.

    Args:
        title: what it shows.
        columns: header; the first column is left-aligned, numbers follow.
        rows: cells as they are to be read.
        note: what a reader must know, perhaps empty.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def score_tables(scores: Mapping[str, Any]) -> list[ScoreTable]:
    """Return the tables of an evaluation.

    Args:
        scores: content of `metrics.json`.
    """
    tables = [_facet_table(scores["facets"])]
    if scores["ratings"]:
        tables += [_rating_table(scores["ratings"]), _predictor_table(scores["ratings"])]
    return tables


def hundred(value: float | None) -> str:
    """Return a correlation times 100 with one digit, or a dash where it is undefined."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def _facet_table(facets: Mapping[str, Any]) -> ScoreTable:
    rows = tuple(
        (row["name"], *(hundred(row[column]) for column in ("full", "random", "assigned", "encoder")))
        for row in facets["rows"]
    )
    undefined = [row["name"] for row in facets["rows"] if row["encoder"] is None]
    note = (
        "SB-full is the whole embedding of the start model, SB-rand 16 random dimensions a facet (mean of "
        f"{facets['draws']} draws), SB-ILP the dimensions that an integer programme assigns"
    ).replace("16", str(facets["width"]))
    note += (
        f" on {facets['fitting_pairs']} other pairs." if facets["fitting_pairs"] else " (no other pairs to assign on)."
    )
    if undefined:
        note += f" {UNDEFINED}: the metric is the same for all pairs ({', '.join(undefined)})."
    return ScoreTable(
        title=f"Spearman × 100 of facet and metric, {facets['pairs']:,} positive pairs of {facets['split']}",
        columns=("facet", "SB-full", "SB-rand", "SB-ILP", "this encoder"),
        rows=rows,
        note=note,
    )


def _rating_table(ratings: list[Mapping[str, Any]]) -> ScoreTable:
    return ScoreTable(
        title="Spearman × 100 with human ratings",
        columns=("ratings", "pairs", "teacher", "this encoder"),
        rows=tuple((r["name"], f"{r['pairs']:,}", hundred(r["teacher"]), hundred(r["encoder"])) for r in ratings),
    )


def _predictor_table(ratings: list[Mapping[str, Any]]) -> ScoreTable:
    return ScoreTable(
        title="Which facets predict human ratings, Spearman × 100",
        columns=("facet", *(r["name"] for r in ratings)),
        rows=tuple((facet, *(hundred(r["facets"].get(facet)) for r in ratings)) for facet in ratings[0]["facets"]),
    )
