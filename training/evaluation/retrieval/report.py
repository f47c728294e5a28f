"""Results of retrieval: tables, and the chapter of the report with bars and maps."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.core.pages import render, tell
from training.evaluation.bars import Bar, Mark, draw_bars, tell_verdict
from training.evaluation.bootstrap import FEWEST
from training.evaluation.items import read_items
from training.evaluation.retrieval.maps import MODELS, draw_points
from training.evaluation.seen import tell_seen, tell_source
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import NOTES, UNDEFINED, Column, ScoreTable, count, ends, hundred, lines, table
from training.ranking import MEASURES

Row = Mapping[str, Any]
RANKINGS = MODELS | {"bm25": "BM25", "tfidf": "TF-IDF"}
"""Key of a ranking → its display name."""
_MARKS = {
    "start": Mark("start model", "circle"),
    "bm25": Mark("BM25: words", "square"),
    "tfidf": Mark("TF-IDF: words", "diamond"),
}
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
            tell(NOTES, "rank_measures", k, any(group["texts"] <= k for group in groups)),
        ),
        table(
            f"{mrr} by label frequency",
            [Column("frequency of the label", "name"), labels, queries, *of_each],
            bands,
            tell(NOTES, "bands"),
        ),
        table(
            f"{mrr} by labels not seen in training",
            [Column("aspect", "name"), labels, queries, *of_each, interval],
            result["unseen"],
            tell(NOTES, "unseen", FEWEST),
        ),
        table(
            f"{mrr} by each route of the encoder",
            [Column("queries by", "name"), *(Column(name, f"mrr.{name}", hundred, higher=True) for name in routes)],
            result["routes"],
        ),
        _table_of_maps(result),
    ]
    return [each for each in tables if each.rows]


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
    left_out = ", ".join(f"{row['name']} {row['without']:,}" for row in result["rows"] if row["without"])
    routes = list(result["routes"][0]["mrr"]) if result["routes"] else []
    return lines(tell_seen(result, unit="texts"), tell(NOTES, "retrieval", result, left_out, routes))


def _table_of_maps(result: Row) -> ScoreTable:
    sides = list(dict.fromkeys(side for drawn in result["maps"] for side in drawn["sides"]))
    forms = {"agree": ("agreement", hundred), "silhouette": ("silhouette", _silhouette)}
    columns = [
        Column(f"{title}: {RANKINGS[side]}", f"sides.{side}.{key}", form, higher=True)
        for title, (key, form) in forms.items()
        for side in sides
    ]
    return table(
        "Neighbours and clusters",
        [Column("aspect", "name"), Column("texts", "points", count), *columns],
        result["maps"],
        tell(NOTES, "neighbours", result["k"], any(drawn["points"] <= result["k"] for drawn in result["maps"])),
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
        more = render("training.evaluation/maps.html", drawings=drawings)
    return Chapter(
        about=tell(NOTES, "about_retrieval", result),
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
