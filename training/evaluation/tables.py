"""Scores as tables of text: the same ones for the terminal, the report and the model card."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training import markdown
from training.evaluation.limits import tell_counts, tell_verdict, warn_of_few_pairs

UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One table.

    Args:
        title: what it shows.
        columns: header; the first column is left-aligned, numbers follow.
        rows: cells as they are to be read.
        note: what a reader must know, a sentence or two a line; perhaps empty.
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
    tables = [_facet_table(scores["facets"])] if "facets" in scores else []  # one suite may have been scored alone
    if scores["ratings"]:
        tables += [_rating_table(scores["ratings"]), _predictor_table(scores["ratings"])]
    return tables


def score_paragraphs(scores: Mapping[str, Any]) -> list[str]:
    """Return the tables of an evaluation as Markdown, for a model card.

    Args:
        scores: content of `metrics.json`.
    """
    parts: list[str] = []
    for table in score_tables(scores):
        parts += [f"{table.title}:", markdown.table(table.columns, table.rows), table.note]
    return parts


def fit(table: ScoreTable, width: int) -> list[ScoreTable]:
    """Return a table as several of some columns each, where its numbers would leave no room for the first column.

    Args:
        table: as it is.
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
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def _interval(interval: Mapping[str, float] | None) -> str:
    return UNDEFINED if interval is None else f"{hundred(interval['low'])} to {hundred(interval['high'])}"


def _facet_table(facets: Mapping[str, Any]) -> ScoreTable:
    rows = tuple(
        (
            row["name"],
            *(hundred(row[baseline]) for baseline in ("full", "random", "assigned")),
            hundred(row["encoder"]),
            _interval(row["interval"]),
            UNDEFINED if row["encoder"] is None else tell_verdict(row["differences"]["full"]),
        )
        for row in facets["rows"]
    )
    return ScoreTable(
        title=f"Spearman × 100 of facet and metric, {facets['pairs']:,} positive pairs of {facets['split']}",
        columns=("facet", "SB-full", "SB-rand", "SB-ILP", "encoder", "95 % interval", "to SB-full"),
        rows=rows,
        note="\n".join(sentence for sentence in _facet_notes(facets) if sentence),
    )


def _facet_notes(facets: Mapping[str, Any]) -> list[str]:
    fitting = facets["fitting_pairs"]
    assigned = f"on {fitting:,} other pairs" if fitting else "(no other pairs to assign on)"
    undefined = [row["name"] for row in facets["rows"] if row["encoder"] is None]
    baselines = (
        f"SB-full is the whole embedding of the start model, SB-rand {facets['width']} random dimensions a facet (mean "
        f"of {facets['draws']} draws), SB-ILP the dimensions that an integer programme assigns {assigned}."
    )
    verdicts = (
        "A facet is above or below where the 95 % interval of the difference, from a paired bootstrap over the pairs, "
        "does not hold 0; of facets without any difference one in twenty gets there by chance."
    )
    return [
        warn_of_few_pairs(facets),
        f"Beside SB-full: {tell_counts(facets, 'full')}. Beside SB-rand: {tell_counts(facets, 'random')}.",
        baselines,
        verdicts,
        f"{UNDEFINED}: the metric, or the facet, is the same for all pairs ({', '.join(undefined)})."
        if undefined
        else "",
    ]


def _rating_table(ratings: list[Mapping[str, Any]]) -> ScoreTable:
    return ScoreTable(
        title="Spearman × 100 with human ratings",
        columns=("ratings", "pairs", "start model", "encoder", "95 % interval", "to start model"),
        rows=tuple(
            (
                rating["name"],
                f"{rating['pairs']:,}",
                hundred(rating["teacher"]),
                hundred(rating["encoder"]),
                _interval(rating["encoder_interval"]),
                tell_verdict(rating["difference"]),
            )
            for rating in ratings
        ),
    )


def _predictor_table(ratings: list[Mapping[str, Any]]) -> ScoreTable:
    return ScoreTable(
        title="Which facets predict human ratings, Spearman × 100",
        columns=("facet", *(r["name"] for r in ratings)),
        rows=tuple((facet, *(hundred(r["facets"].get(facet)) for r in ratings)) for facet in ratings[0]["facets"]),
    )
