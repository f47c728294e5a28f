"""The chapter of the report on facets: bars, examples, graphs, and plots of measured and predicted values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.core.pages import render
from features.metrics.explanation.drawing import show_pair
from training.encoders.s3bert.explain import from_json
from training.evaluation.bars import Bar, Mark, draw_bars
from training.evaluation.facets.explanations import LEGEND, explanation_card
from training.evaluation.facets.tables import verdict_of, warn_of_few_pairs
from training.evaluation.figures import draw_distribution, draw_prediction
from training.evaluation.graph_pairs import read_drawn
from training.evaluation.items import read_items
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure

_BASELINES = {
    "full": Mark("SB-full: the whole start embedding", "circle"),
    "random": Mark("SB-rand: random dimensions of it", "square"),
    "assigned": Mark("SB-ILP: its best dimensions", "diamond"),
}


def facet_chapter(facets: Mapping[str, Any], pairs_file: Path, graphs_file: Path) -> Chapter:
    """Return the chapter.

    Args:
        facets: result of `FacetSuite`.
        pairs_file: values of each pair.
        graphs_file: pairs of graphs to draw.

    Raises:
        InputError: when a file is missing or damaged.
    """
    pairs = read_items(pairs_file)
    about = {row["name"]: row["about"] for row in facets["rows"]}
    graphs = read_drawn(graphs_file)
    warnings = (tell_seen(facets["seen"], facets["split"], facets["others"]), warn_of_few_pairs(facets))
    evaluated = f"{facets['pairs']:,} positive pairs of {facets['split']} ({', '.join(facets['corpora'])})"
    return Chapter(
        about="A facet is good when its similarity orders pairs of sentences as its metric orders their graphs, and "
        "better than the start model does. Next to each number: whether the encoder is above or below SB-full, or "
        "whether these pairs leave it unclear.",
        charts={"": chart_facets(facets)},
        more=render(
            "training.evaluation/facets.html",
            about=about,
            legend=LEGEND,
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


def chart_facets(facets: Mapping[str, Any]) -> str:
    """Return how well each facet follows its metric, from the result of `FacetSuite`."""
    bars = [
        Bar.of(
            row,
            row["about"],
            {mark.name: row[key] for key, mark in _BASELINES.items()},
            "" if row["encoder"] is None else verdict_of(row),
        )
        for row in facets["rows"]
    ]
    marks = [mark for mark in _BASELINES.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis="Spearman × 100 of facet and metric")


def _verdicts(counts: Mapping[str, int], baseline: str) -> Figure:
    """Return how many facets are clearly above a baseline, with the shares of all three verdicts as a bar."""
    text = f"facets are above {baseline}; {counts['below']} below; {counts['unclear']} unclear"
    return Figure(str(counts["above"]), text, small=f"of {sum(counts.values())}", shares=counts)
