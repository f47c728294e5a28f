"""The scores of facets: a table, in words what they can and cannot show, and the chapter of the report."""

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from features.core.pages import render, tell
from features.metrics.explanation.drawing import show_pair
from features.models import BUNDLED_ENCODER
from training.encoders.s3bert.explain import from_json
from training.evaluation.bars import Bar, Mark, draw_bars, tell_verdict
from training.evaluation.facets.explanations import explanation_card
from training.evaluation.figures import draw_distribution, draw_prediction
from training.evaluation.graph_pairs import read_drawn
from training.evaluation.items import read_items
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import NOTES, UNDEFINED, Column, ScoreTable, ends, hundred, lines, table

_COARSE = 0.10  # a typical difference between an encoder and a baseline
_FINE = 0.05
Facets = Mapping[str, Any]
"""A result of `FacetSuite`."""
_BASELINES = {
    "full": Mark("SB-full: the whole start embedding", "circle"),
    "random": Mark("SB-rand: random dimensions of it", "square"),
    "assigned": Mark("SB-ILP: its best dimensions", "diamond"),
    "bundled": Mark(f"{BUNDLED_ENCODER}, which comes with facetflow", "triangle"),
}


def _verdict_of(row: Mapping[str, Any]) -> str:
    return UNDEFINED if row["encoder"] is None else tell_verdict(row["differences"]["full"])


_BUNDLED = Column("bundled", "bundled", hundred, higher=True, about=f"{BUNDLED_ENCODER}, which comes with facetflow")
_COLUMNS = (
    Column("facet", "name"),
    Column("full", "full", hundred, higher=True, about="the whole start embedding"),
    Column("rand", "random", hundred, higher=True, about="random dimensions of it"),
    Column("ILP", "assigned", hundred, higher=True, about="its best dimensions"),
    _BUNDLED,
    Column("encoder", "encoder", hundred, higher=True),
    Column("95 %", "encoder_interval", ends, about="interval"),
    Column("vs full", "", _verdict_of),
)


def facet_table(facets: Facets) -> ScoreTable:
    """Return the score of each facet next to the baselines."""
    title = f"Spearman × 100 of facet and metric, {facets['pairs']:,} positive pairs of {facets['split']}"
    shown = [column for column in _COLUMNS if column is not _BUNDLED or _has_bundled(facets)]
    return table(title, shown, facets["rows"], _note(facets))


def _has_bundled(facets: Facets) -> bool:
    return any(row["bundled"] is not None for row in facets["rows"])


def warn_of_few_pairs(facets: Facets) -> str:
    """Return a warning where there are too few pairs for a comparison; nothing where there are enough."""
    differences = [row["differences"]["full"] for row in facets["rows"]]
    widths = [difference["high"] - difference["low"] for difference in differences if difference is not None]
    if not widths:
        return tell(NOTES, "few_pairs", facets, None, None)
    half = median(widths) / 2  # how far chance may move a facet's lead over the start model
    # The width of an interval shrinks with the square root of the number of pairs.
    needed = float(f"{facets['pairs'] * (half / _FINE) ** 2:.1g}")
    return "" if half <= _COARSE else tell(NOTES, "few_pairs", facets, half, needed)


def _note(facets: Facets) -> str:
    undefined = [row["name"] for row in facets["rows"] if row["encoder"] is None]
    bundled = BUNDLED_ENCODER if _has_bundled(facets) else ""
    warnings = (tell_seen(facets, chosen="by its loss on"), warn_of_few_pairs(facets))
    return lines(*warnings, tell(NOTES, "facets", facets, bundled, undefined))


def facet_chapter(facets: Facets, pairs_file: Path, graphs_file: Path) -> Chapter:
    """Return the chapter, from the files with the values of each pair and the pairs of graphs to draw."""
    pairs = read_items(pairs_file)
    about = {row["name"]: row["about"] for row in facets["rows"]}
    graphs = read_drawn(graphs_file)
    warnings = (tell_seen(facets, chosen="by its loss on"), warn_of_few_pairs(facets))
    evaluated = f"{facets['pairs']:,} positive pairs of {facets['split']} ({', '.join(facets['corpora'])})"
    return Chapter(
        about=tell(NOTES, "about_facets"),
        charts={"": chart_facets(facets)},
        more=render(
            "training.evaluation/facets.html",
            about=about,
            legend=tell(NOTES, "legend", predicted=True),
            examples=[explanation_card(from_json(example)) for example in facets["examples"]],
            graphs={
                drawn.which: show_pair(drawn.pair, (drawn.sentence_a, drawn.sentence_b), f"graphs{number}")
                for number, drawn in enumerate(graphs)
            },
            predictions={name: draw_prediction(pairs, name) for name in about},
            distributions={name: draw_distribution(pairs, name) for name in about},
        ),
        facts={"Evaluated on": f"{evaluated}; {tell_source(facets['source'])}"},
        warnings=[warning for warning in warnings if warning],
        figures=[
            _verdicts(facets["verdicts"]["full"], "the whole start embedding"),
            _verdicts(facets["verdicts"]["random"], "random dimensions of it"),
        ],
        origin={
            "pairs": facets["data"],
            **{f"source of the pairs: {name}": value for name, value in facets["source"].items()},
        },
    )


def chart_facets(facets: Facets) -> str:
    """Return how well each facet follows its metric."""
    bars = [
        Bar.of(
            row,
            row["about"],
            {mark.name: row[key] for key, mark in _BASELINES.items()},
            "" if row["encoder"] is None else _verdict_of(row),
        )
        for row in facets["rows"]
    ]
    marks = [mark for mark in _BASELINES.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis="Spearman × 100 of facet and metric")


def _verdicts(counts: Mapping[str, int], baseline: str) -> Figure:
    text = f"facets are above {baseline}; {counts['below']} below; {counts['unclear']} unclear"
    return Figure(str(counts["above"]), text, small=f"of {sum(counts.values())}", shares=counts)
