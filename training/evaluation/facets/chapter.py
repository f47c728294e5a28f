"""The chapter of the report on facets: bars, examples, graphs, and plots of measured and predicted values."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from features.core.page import described, explained, folded
from features.metrics.explanation.legend import show_pair
from training.encoders.s3bert.explain import from_json
from training.evaluation.facets.charts import chart_facets
from training.evaluation.facets.explanation_card import explanation_card
from training.evaluation.facets.explanation_page import LEGEND
from training.evaluation.facets.limits import warn_of_few_pairs
from training.evaluation.facets.tables import facet_table
from training.evaluation.figures import draw_distribution, draw_prediction
from training.evaluation.graph_pairs import DrawnPair, read_drawn
from training.evaluation.items import read_items
from training.evaluation.page import tables_html
from training.evaluation.seen import tell_seen
from training.evaluation.sources import tell_source
from training.evaluation.suites import Chapter, Figure

_FACETS = (
    "A facet is good when its similarity orders pairs of sentences as its metric orders their graphs, and better than "
    "the start model does. Next to each number: whether the encoder is above or below SB-full, or whether these pairs "
    "leave it unclear."
)

_EXAMPLES = (
    "<p>For some facets, the evaluated pair that is similar overall but, according to the encoder, agrees least in "
    f"that facet; the graphs may say otherwise. {LEGEND}</p>"
)

_PREDICTIONS = (
    "<p>The darker a hexagon, the more pairs lie in it; on the dashed line predictions are exact. Predictions are "
    "calibrated on the dev pairs of the training, and look a little better on those than on others; a facet without "
    "a calibration shows the value that its training compared with the metric.</p>"
)

_GRAPHS = (
    "<p>The pairs that are most similar by Smatch, in the middle, and least similar. Select a facet to see which parts "
    "of the graphs it reads and which of them match.</p>"
)


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
    body = [
        f"<p>{_FACETS}</p>",
        chart_facets(facets),
        folded("What each facet asks of two sentences", described(about), shown=True),
        folded("The numbers", tables_html([facet_table(facets)])),
        "<h2>Examples</h2>" if facets["examples"] else "",
        _EXAMPLES if facets["examples"] else "",
        *(explanation_card(from_json(example)) for example in facets["examples"]),
        "<h2>What matches in graphs</h2>" if graphs else "",
        _GRAPHS if graphs else "",
        *(_drawn(drawn, f"graphs{number}") for number, drawn in enumerate(graphs)),
        "<h2>Predicted and measured</h2>",
        _PREDICTIONS,
        _multiples({name: draw_prediction(pairs, name) for name in about}, about),
        "<h2>Values of the metrics</h2>",
        "<p>Many pairs have no name, negation or quantifier on either side; this counts as agreement (1).</p>",
        _multiples({name: draw_distribution(pairs, name) for name in about}, about),
    ]
    warnings = (tell_seen(facets["seen"], facets["split"], facets["others"]), warn_of_few_pairs(facets))
    evaluated = f"{facets['pairs']:,} positive pairs of {facets['split']} ({', '.join(facets['corpora'])})"
    return Chapter(
        body="\n".join(part for part in body if part),
        facts={"Evaluated on": f"{evaluated}; {tell_source(facets['source'])}"},
        warnings=[warning for warning in warnings if warning],
        figures=[
            _verdicts(facets["verdicts"]["full"], "the whole start embedding"),
            _verdicts(facets["verdicts"]["random"], "random dimensions of it"),
        ],
        origin={
            "pairs": facets["data_digest"],
            **{f"source of the pairs: {name}": value for name, value in facets["source"].items()},
        },
    )


def _verdicts(counts: Mapping[str, int], baseline: str) -> Figure:
    """Return how many facets are clearly above a baseline, with the shares of all three verdicts as a bar."""
    total = sum(counts.values())
    shares = "".join(f'<i class="{verdict}" style="width:{100 * n / total:.1f}%"></i>' for verdict, n in counts.items())
    return Figure(
        str(counts["above"]),
        f'facets are above {escape(baseline)}<span class="shares" aria-hidden="true">{shares}</span>'
        f"{counts['below']} below; {counts['unclear']} unclear",
        small=f"of {total}",
    )


def _multiples(plots: Mapping[str, str], about: Mapping[str, str]) -> str:
    """Return small plots, each below the name of its facet."""
    figures = "".join(
        f'<figure class="plot"><figcaption>{explained(name, about[name])}</figcaption>{plot}</figure>'
        for name, plot in plots.items()
    )
    return f'<div class="multiples tips">{figures}</div>'


def _drawn(drawn: DrawnPair, name: str) -> str:
    return f"<h3>{escape(drawn.which)}</h3>{show_pair(drawn.pair, (drawn.sentence_a, drawn.sentence_b), name)}"
