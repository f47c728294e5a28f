"""The report of an evaluation: one HTML file that opens offline, with its style, plots and examples inside."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from features.metrics.explanation.legend import show_pair
from features.page import described, explained, folded, heading, tell_date
from training.encoders.s3bert.explain import from_json
from training.evaluation.explanation_page import LEGEND
from training.evaluation.figures import draw_course, draw_distribution, draw_prediction
from training.evaluation.graph_pairs import DrawnPair
from training.evaluation.limits import tell_verdict, warn_of_few_pairs
from training.evaluation.page import explanation_card, render_page
from training.evaluation.score_charts import chart_facets, chart_predictors, chart_ratings
from training.evaluation.tables import ScoreTable, hundred, score_tables
from training.runs import flattened, run_title


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
    facets = scores["facets"]
    about = {row["name"]: row["about"] for row in facets["rows"]}
    tables = score_tables(scores)
    warning = warn_of_few_pairs(facets)
    title = " · ".join(part for part in (scores["project"], f"encoder {_run(scores)}") if part)
    body = [
        heading(title, f"evaluated on {tell_date(scores['date'])}"),
        _listed(_subject(scores, training)),
        f'<p class="warning">{escape(warning)}</p>' if warning else "",
        _key_figures(scores, training),
        "<h2>Facets against metrics</h2>",
        f"<p>{_FACETS}</p>",
        chart_facets(facets),
        folded("What each facet asks of two sentences", described(about), shown=True),
        folded("The numbers", _table(tables[0])),
        *_people(scores["ratings"], about, tables[1:]),
        "<h2>Examples</h2>" if scores["examples"] else "",
        _EXAMPLES if scores["examples"] else "",
        *(explanation_card(from_json(example)) for example in scores["examples"]),
        "<h2>What matches in graphs</h2>" if graphs else "",
        _GRAPHS if graphs else "",
        *(_drawn(drawn, f"graphs{number}") for number, drawn in enumerate(graphs)),
        "<h2>Predicted and measured</h2>",
        _PREDICTIONS,
        _multiples({name: draw_prediction(pairs, name) for name in about}, about),
        "<h2>Values of the metrics</h2>",
        "<p>Many pairs have no name, negation or quantifier on either side, and then agree: their value is 1.</p>",
        _multiples({name: draw_distribution(pairs, name) for name in about}, about),
        "<h2>Training</h2>",
        f'<div class="plot course">{draw_course(training["history"], training["best_step"])}</div>'
        if len(training["history"]) > 1
        else "",
        folded("Settings", _facts(flattened(training["settings"]))),
        folded("Origin", _facts(_identity(scores, training))),
    ]
    date = scores["date"].partition("T")[0]
    return render_page(f"{title} · {date} · facetflow", "\n".join(part for part in body if part))


_FACETS = (
    "A facet is good when its similarity orders pairs of sentences as its metric orders their graphs, and better than "
    "the start model does. Beside each number stands whether the encoder is above or below SB-full, or whether these "
    "pairs cannot tell."
)

_PEOPLE = "<p>How well the similarity of whole sentences orders pairs as people do.</p>"

_PREDICTORS = (
    "<p>The same for the similarity of each facet by itself: what people look at when they say that two sentences are "
    "alike.</p>"
)

_EXAMPLES = (
    "<p>For some facets, the evaluated pair that is similar as a whole and of which the encoder says that it agrees "
    f"least in that facet. {LEGEND}</p>"
)


_PREDICTIONS = (
    "<p>Each hexagon is darker the more pairs lie in it; on the dashed line a prediction is exact. Predictions are "
    "calibrated on the dev pairs of the training, and on those themselves look a little better than on others; a "
    "facet without a calibration shows what its training compared with the metric.</p>"
)


_GRAPHS = (
    "<p>Pairs that the metrics find most, middling and least similar, by Smatch. Choose a facet to see what it reads "
    "and what of that matches.</p>"
)


def _run(scores: Mapping[str, Any]) -> str:
    """Return the name of the training run, whose folder holds the encoder's."""
    return run_title(Path(scores["encoder"]).parent)


def _subject(scores: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, str]:
    """Return what was evaluated, and on what."""
    facets = scores["facets"]
    learnt = ", ".join(f"{name} ({counts['train']:,} pairs)" for name, counts in training["corpora"].items())
    return {
        "Encoder": f"{_run(scores)}, from {scores['backbone']}",
        "Learnt from": f"{learnt}; {_source(training['source'])}",
        "Evaluated on": f"{facets['pairs']:,} positive pairs of {facets['split']} ({', '.join(facets['corpora'])}); "
        f"{_source(scores['source'])}",
    }


def _source(source: Mapping[str, Any]) -> str:
    return f"release {source['release']} of the store" if "release" in source else "an exported table"


def _key_figures(scores: Mapping[str, Any], training: Mapping[str, Any]) -> str:
    facets = scores["facets"]
    speed = f"training, {training['pairs_per_second']:.0f} pairs/s"
    cards = [
        _verdicts(facets["verdicts"]["full"], "the whole start embedding"),
        _verdicts(facets["verdicts"]["random"], "random dimensions of it"),
        *(_figure(hundred(rating["encoder"]), _rating(rating)) for rating in scores["ratings"]),
        _figure(_duration(training["seconds"]), escape(speed)),
    ]
    return f'<div class="figures">{"".join(cards)}</div>'


def _duration(seconds: float) -> str:
    """Return a duration in a unit that leaves two digits or so."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _verdicts(counts: Mapping[str, int], baseline: str) -> str:
    """Return how many facets are above a baseline for sure, with the shares of all three verdicts as a bar."""
    total = sum(counts.values())
    shares = "".join(f'<i class="{verdict}" style="width:{100 * n / total:.1f}%"></i>' for verdict, n in counts.items())
    return _figure(
        f"{counts['above']} <small>of {total}</small>",
        f'facets are above {escape(baseline)}<span class="shares" aria-hidden="true">{shares}</span>'
        f"{counts['below']} below; cannot tell for {counts['unclear']}",
    )


def _figure(number: str, text: str) -> str:
    return f'<div class="figure"><b>{number}</b><span>{text}</span></div>'


def _rating(rating: Mapping[str, Any]) -> str:
    return (
        f"{escape(rating['name'])}: agreement with people, {rating['pairs']:,} pairs. Start model: "
        f"{hundred(rating['teacher'])}. This encoder against it: {tell_verdict(rating['difference'])}"
    )


def _people(ratings: Sequence[Mapping[str, Any]], about: Mapping[str, str], tables: Sequence[ScoreTable]) -> list[str]:
    """Return the section on human ratings."""
    if not ratings:
        return []
    predictors = "".join(
        f"<div><h3>{escape(rating['name'])}, {rating['pairs']:,} pairs</h3>{chart_predictors(rating, about)}</div>"
        for rating in ratings
    )
    return [
        "<h2>Similarity against people</h2>",
        _PEOPLE,
        chart_ratings(ratings),
        "<h3>Which facets predict what people say</h3>",
        _PREDICTORS,
        f'<div class="multiples wide">{predictors}</div>',
        folded("The numbers", "".join(_table(table) for table in tables)),
    ]


def _multiples(plots: Mapping[str, str], about: Mapping[str, str]) -> str:
    """Return small plots, each below the name of its facet."""
    figures = "".join(
        f'<figure class="plot"><figcaption>{explained(name, about[name])}</figcaption>{plot}</figure>'
        for name, plot in plots.items()
    )
    return f'<div class="multiples tips">{figures}</div>'


def _drawn(drawn: DrawnPair, name: str) -> str:
    return f"<h3>{escape(drawn.which)}</h3>{show_pair(drawn.pair, (drawn.sentence_a, drawn.sentence_b), name)}"


def _table(table: ScoreTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _listed(values: Mapping[str, str]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(k)}</dt><dd>{escape(v)}</dd>' for k, v in values.items())}</dl>"


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
