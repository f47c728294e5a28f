"""The report of an evaluation: one HTML file that opens offline, with its style, plots and examples inside."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from features.metrics.explanation.legend import show_pair
from training.evaluation.figures import draw_course, draw_distributions, draw_facets, draw_predictions
from training.evaluation.graph_pairs import DrawnPair
from training.evaluation.page import explanation_card, folded, render_page
from training.evaluation.tables import ScoreTable, hundred, score_tables
from training.explain import from_json
from training.explanation_page import LEGEND


def render_report(
    scores: Mapping[str, Any],
    pairs: pl.DataFrame,
    training: Mapping[str, Any],
    graphs: Sequence[DrawnPair] = (),
) -> str:
    """Return the report as HTML. Every text from data is escaped; nothing is fetched from anywhere.

    Args:
        scores: content of metrics.json.
        pairs: content of pairs.parquet.
        training: content of the encoder's training.json.
        graphs: content of graphs.json.
    """
    names = [row["name"] for row in scores["facets"]["rows"]]
    tables = score_tables(scores)
    body = [
        f"<h1>Encoder from {escape(scores['backbone'])}</h1>",
        f'<p class="quiet">{escape(_origin(scores))}</p>',
        _key_figures(scores, training),
        "<h2>Facets against metrics</h2>",
        "<p>A facet is good when its similarity orders pairs of sentences as its metric orders their graphs.</p>",
        draw_facets(scores["facets"]["rows"]),
        folded("The numbers", _table(tables[0])),
        "<h2>Similarity against people</h2>" if scores["ratings"] else "",
        *(_table(table) for table in tables[1:]),
        "<h2>Examples</h2>" if scores["examples"] else "",
        _EXAMPLES if scores["examples"] else "",
        *(explanation_card(from_json(example)) for example in scores["examples"]),
        "<h2>What matches in graphs</h2>" if graphs else "",
        _GRAPHS if graphs else "",
        *(_drawn(drawn, f"graphs{number}") for number, drawn in enumerate(graphs)),
        "<h2>Predicted and measured</h2>",
        _PREDICTIONS,
        draw_predictions(pairs, names),
        "<h2>Values of the metrics</h2>",
        "<p>Many pairs have no name, negation or quantifier on either side, and then agree: their value is 1.</p>",
        draw_distributions(pairs, names),
        "<h2>Training</h2>",
        draw_course(training["history"], training["best_step"]) if len(training["history"]) > 1 else "",
        folded("Settings", _facts(training["settings"])),
        folded("Origin", _facts(_identity(scores, training))),
    ]
    return render_page(f"facetflow: encoder from {scores['backbone']}", "\n".join(part for part in body if part))


_EXAMPLES = (
    "<p>For some facets, the evaluated pair that is similar as a whole and of which the encoder says that it agrees "
    f"least in that facet. {LEGEND}</p>"
)


_PREDICTIONS = (
    "<p>Each hexagon is darker the more pairs lie in it; on the dashed line a prediction is exact. Predictions are "
    "calibrated on the dev pairs of the training: on those themselves they look a little better than on others.</p>"
)


_GRAPHS = (
    "<p>Pairs that the metrics find most, middling and least similar, by Smatch. Choose a facet to see what it reads "
    "and what of that matches.</p>"
)


def _drawn(drawn: DrawnPair, name: str) -> str:
    return f"<h3>{escape(drawn.which)}</h3>{show_pair(drawn.pair, (drawn.sentence_a, drawn.sentence_b), name)}"


def _origin(scores: Mapping[str, Any]) -> str:
    facets, source = scores["facets"], scores["source"]
    where = f"release {source['release']} of the store" if "release" in source else "an exported table"
    return f"{facets['pairs']:,} positive pairs of {facets['split']} ({', '.join(facets['corpora'])}), from {where}"


def _key_figures(scores: Mapping[str, Any], training: Mapping[str, Any]) -> str:
    facets = scores["facets"]
    count = len(facets["rows"])
    figures = [
        (f"{facets['above']['full']} of {count}", "facets above the whole start embedding"),
        (f"{facets['above']['random']} of {count}", "facets above random dimensions"),
        *(
            (hundred(rating["encoder"]), f"{rating['name']}, start model {hundred(rating['teacher'])}")
            for rating in scores["ratings"]
        ),
        (f"{training['seconds'] / 60:.1f} min", f"training, {training['pairs_per_second']:.0f} pairs/s"),
    ]
    cards = "".join(f'<div class="figure"><b>{escape(b)}</b><span>{escape(s)}</span></div>' for b, s in figures)
    return f'<div class="figures">{cards}</div>'


def _table(table: ScoreTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _facts(values: Mapping[str, Any]) -> str:
    items = "".join(f"<dt>{escape(str(k))}</dt><dd><code>{escape(str(v))}</code></dd>" for k, v in values.items())
    return f"<dl>{items}</dl>"


def _identity(scores: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "encoder": scores["encoder_digest"],
        "start model": scores["backbone_digest"],
        "pairs": scores["data_digest"],
        "training data": training["data_digest"],
        "seed of the baselines": scores["seed"],
        **{f"source: {name}": value for name, value in scores["source"].items()},
    }
