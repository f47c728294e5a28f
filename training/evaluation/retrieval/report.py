"""Results of retrieval: tables, and the chapter of the report with bars and maps."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.core.pages import render
from training.evaluation.bars import Bar, Mark, draw_bars, tell_verdict
from training.evaluation.bootstrap import FEWEST
from training.evaluation.items import read_items
from training.evaluation.retrieval.maps import ABOUT_MAPS, MODELS, draw_points
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import UNDEFINED, Column, ScoreTable, count, ends, hundred, lines, table
from training.ranking import MEASURES

Row = Mapping[str, Any]
RANKINGS = MODELS | {"bm25": "BM25", "tfidf": "TF-IDF"}
"""Key of a ranking → its display name."""
_MARKS = {
    "start": Mark("start model", "circle"),
    "bm25": Mark("BM25: words", "square"),
    "tfidf": Mark("TF-IDF: words", "diamond"),
}
_NAMED = 10  # labels that are named in a sentence
_SHORT = dict(zip(MEASURES, ("P", "R", "MRR", "nDCG", "MAP"), strict=True))


def retrieval_tables(result: Row) -> list[ScoreTable]:
    """Return the scores of each ranking by group; by frequency, unseen labels and routes where these are known."""
    k, groups = result["k"], result["rows"]
    rankings = [name for name in RANKINGS if name in groups[0]["rankings"]]
    of_each = [Column(RANKINGS[name], f"rankings.{name}.mrr.value", hundred, higher=True) for name in rankings]
    of_encoder, *of_others = of_each
    interval = Column("95 % interval", "rankings.encoder.mrr", ends)
    queries = Column("queries", "queries", count)
    labels = Column("labels", "labels", count)
    first = rankings[1]
    against = Column(f"vs {RANKINGS[first]}", f"rankings.{first}.difference.mrr", tell_verdict)
    bands = [{**band, "name": f"{row['name']}, {_tell_band(band)}"} for row in groups for band in row.get("bands", ())]
    routes = list(result["routes"][0]["mrr"]) if result["routes"] else []
    mrr = f"MRR@{k} × 100"
    measures = [Column(f"{_SHORT[name]}@{k}", name, hundred, higher=True) for name in MEASURES]
    tables = [
        table(
            f"{mrr} among the {result['texts']:,} texts of {result['split']}",
            [Column("queries by", "name"), queries, *of_others, of_encoder, interval, against],
            groups,
            _note(result),
        ),
        table(
            f"The {k} nearest texts",
            [Column("queries by: ranking", "name"), *measures],
            _by_ranking(result, rankings),
            _note_on_measures(result),
        ),
        table(
            f"{mrr} by label frequency",
            [Column("frequency of the label", "name"), labels, queries, *of_each],
            bands,
            "A query counts for the rarest of its labels that another text has. With few queries these say little.",
        ),
        table(
            f"{mrr} by labels not seen in training",
            [Column("aspect", "name"), labels, queries, *of_each, interval],
            result["unseen"],
            "Texts with such a label are queries for the others with it, among all texts: does the aspect generalise? "
            f"Labels are drawn for the interval, each with its queries; fewer than {FEWEST} have none.",
        ),
        table(
            f"{mrr} by each route of the encoder",
            [Column("queries by", "name"), *(Column(name, f"mrr.{name}", hundred, higher=True) for name in routes)],
            result["routes"],
        ),
        _table_of_maps(result),
    ]
    return [each for each in tables if each.rows]


def _tell_unasked(result: Row) -> list[str]:
    sentences = []
    for aspect, labels in result["unasked"].items():
        more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
        named = f"{len(labels):,} ({', '.join(labels[:_NAMED])}{more})"
        sentences.append(f"Labels held out of training in {aspect}: {named}; no query of {result['split']} has one.")
    return sentences


def _tell_way(group: Row) -> str:
    first, *second = group["aspects"]
    if group["way"] == "one":
        return f"shares a label in {first}"
    if group["way"] == "both":
        return f"shares a label in {first} and one in {second[0]}"
    return f"shares a label in {first}, or one in {second[0]}"


def _tell_band(band: Row) -> str:
    """Return a band of frequencies: "5–9 texts", "100 texts and more"."""
    if band["most"] is None:
        return f"{band['least']} texts and more"
    return f"{band['least']}–{band['most']} texts"


def _by_ranking(result: Row, rankings: list[str]) -> list[Row]:
    rows: list[Row] = []
    for group in result["rows"]:
        for ranking in rankings:
            values = {name: group["rankings"][ranking][name]["value"] for name in MEASURES}
            rows.append({**values, "name": f"{group['name']}: {RANKINGS[ranking]}"})
        rows.append({**group["random"], "name": f"{group['name']}: random order"})
    return rows


def _note(result: Row) -> str:
    k = result["k"]
    left_out = ", ".join(f"{row['name']} {row['without']:,}" for row in result["rows"] if row["without"])
    routes = ", ".join(result["routes"][0]["mrr"]) if result["routes"] else ""
    return lines(
        tell_seen(result, unit="texts"),
        "Each text is a query and is left out of its own results; a text that shares a label with it is relevant. "
        "Texts without a label in an aspect are left out of that aspect. "
        f"MRR@{k}: 1 / rank of the first relevant text among the {k} nearest, 0 where there is none. Equally similar "
        "texts are ranked alphabetically.",
        f"Queries left out because no other text is relevant to them: {left_out}." if left_out else "",
        "Intervals, and whether the encoder is above or below, come from a bootstrap over the queries (paired, at "
        "95 %); where there is no difference, one comparison in twenty is above or below by chance.",
        *result["skipped"],
        *_tell_unasked(result),
        f"The encoder has routes ({routes}): each aspect is queried by its own route, two aspects by both "
        "together, and an aspect without a route by all."
        if routes
        else "",
    )


def _note_on_measures(result: Row) -> str:
    k = result["k"]
    fewer = f", of {k} also where there are fewer" if any(group["texts"] <= k for group in result["rows"]) else ""
    return (
        f"P: share of the {k} nearest texts that are relevant{fewer}. R: share of the relevant texts that are among "
        f"them. nDCG weights hits by their rank. MAP: sum of P at the rank of each hit, divided by the most that is "
        f"possible, min({k}, relevant texts), not by {k} nor by the number of hits. Random order: what is expected of "
        "texts in random order. All × 100."
    )


def _table_of_maps(result: Row) -> ScoreTable:
    sides = list(dict.fromkeys(side for drawn in result["maps"] for side in drawn["sides"]))
    forms = {"agree": ("agreement", hundred), "silhouette": ("silhouette", _silhouette)}
    columns = [
        Column(f"{title}: {RANKINGS[side]}", f"sides.{side}.{key}", form, higher=True)
        for title, (key, form) in forms.items()
        for side in sides
    ]
    k = result["k"]
    fewer = f" (of all others on maps of {k} or fewer)" if any(drawn["points"] <= k for drawn in result["maps"]) else ""
    return table(
        "Neighbours and clusters",
        [Column("aspect", "name"), Column("texts", "points", count), *columns],
        result["maps"],
        f"Agree: share of the {k} nearest texts{fewer} in the full space that share a label, × 100. Silhouette of "
        "the most frequent labels, in [−1, 1]: how much closer texts are to their own label than to the next.",
    )


def _silhouette(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}".replace("-", "−")


def retrieval_chapter(result: Row, maps_file: Path) -> Chapter:
    """Return the chapter from the result of `RetrievalSuite`, and the file with the points of the maps."""
    k, warning, more = result["k"], tell_seen(result, unit="texts"), ""
    if result["maps"]:
        points = read_items(maps_file, "map")
        drawings = {
            drawn["name"]: draw_points(drawn, points.filter(map=drawn["name"]), f"map{number}")
            for number, drawn in enumerate(result["maps"])
        }
        more = render("training.evaluation/maps.html", about=ABOUT_MAPS, drawings=drawings)
    return Chapter(
        about=f"Each of the {result['texts']:,} texts of {result['split']} is a query for its "
        f"{min(k, result['texts'] - 1)} most similar texts. A bar is the mean of 1 / rank of the first one that shares "
        "its label.",
        charts={"": _chart(result)},
        more=more,
        facts={
            "Retrieved": f"{result['texts']:,} texts of {result['split']} ({', '.join(result['corpora'])}); "
            f"{tell_source(result['source'])}"
        },
        warnings=[warning] if warning else [],
        figures=[
            Figure(hundred(group["encoder"]), _explain(group, k)) for group in result["rows"] if group["way"] == "one"
        ],
        origin={"labelled texts": result["data"]["texts"]},
    )


def _chart(result: Row) -> str:
    groups = result["rows"]
    marks = {name: mark for name, mark in _MARKS.items() if name in groups[0]["rankings"]}
    bars = [
        Bar.of(
            group,
            f"{group['queries']:,} queries among {group['texts']:,} texts; relevant: what {_tell_way(group)}",
            {mark.name: group["rankings"][name]["mrr"]["value"] for name, mark in marks.items()},
            tell_verdict(group["rankings"]["start"]["difference"]["mrr"]) if "start" in marks else "",
        )
        for group in groups
    ]
    return draw_bars(bars, list(marks.values()), of="this encoder", axis=f"MRR@{result['k']} × 100")


def _explain(group: Row, k: int) -> str:
    rankings = [(name, group["rankings"][name]) for name in _MARKS if name in group["rankings"]]
    beside = ", ".join(f"{RANKINGS[name]} {hundred(ranking['mrr']['value'])}" for name, ranking in rankings)
    return f"{group['name']}: MRR@{k} × 100, {group['queries']:,} queries. {beside[0].upper()}{beside[1:]}."
