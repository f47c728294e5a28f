"""The chapter of the report on retrieval: bars, and maps of the texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.core.pages import render
from training.evaluation.bars import Bar, Mark, draw_bars
from training.evaluation.items import read_items
from training.evaluation.paired import tell_verdict
from training.evaluation.retrieval.points import ABOUT_MAPS, draw_points
from training.evaluation.retrieval.tables import RANKINGS, tell_seen_texts, tell_way
from training.evaluation.seen import tell_source
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import hundred

_MARKS = {
    "start": Mark("start model", "circle"),
    "bm25": Mark("BM25: words", "square"),
    "tfidf": Mark("TF-IDF: words", "diamond"),
}


def retrieval_chapter(result: Mapping[str, Any], maps_file: Path) -> Chapter:
    """Return the chapter.

    Args:
        result: result of `RetrievalSuite`.
        maps_file: the points of the maps.

    Raises:
        InputError: when a file is missing or damaged.
    """
    k, warning = result["k"], tell_seen_texts(result)
    return Chapter(
        about=f"Each of the {result['texts']:,} texts of {result['split']} is a query for its "
        f"{min(k, result['texts'] - 1)} most similar texts. A bar is the mean of 1 / rank of the first one that shares "
        "its label.",
        charts={"": _chart(result)},
        more=_maps(result["maps"], maps_file) if result["maps"] else "",
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


def _chart(result: Mapping[str, Any]) -> str:
    groups = result["rows"]
    marks = {name: mark for name, mark in _MARKS.items() if name in groups[0]["rankings"]}
    bars = [
        Bar.of(
            group,
            f"{group['queries']:,} queries among {group['texts']:,} texts; relevant: what {tell_way(group)}",
            {mark.name: group["rankings"][name]["mrr"]["value"] for name, mark in marks.items()},
            tell_verdict(group["rankings"]["start"]["difference"]["mrr"]) if "start" in marks else "",
        )
        for group in groups
    ]
    return draw_bars(bars, list(marks.values()), of="this encoder", axis=f"MRR@{result['k']} × 100")


def _explain(group: Mapping[str, Any], k: int) -> str:
    """Return what the MRR of a group is, with that of the other rankings."""
    others = [
        f"{RANKINGS[name]} {hundred(group['rankings'][name]['mrr']['value'])}"
        for name in _MARKS
        if name in group["rankings"]
    ]
    beside = ", ".join(others)
    return f"{group['name']}: MRR@{k} × 100, {group['queries']:,} queries. {beside[0].upper()}{beside[1:]}."


def _maps(maps: list[Mapping[str, Any]], maps_file: Path) -> str:
    points = read_items(maps_file, "map")
    drawings = {
        drawn["name"]: draw_points(drawn, points.filter(map=drawn["name"]), f"map{number}")
        for number, drawn in enumerate(maps)
    }
    return render("training.evaluation/maps.html", about=ABOUT_MAPS, drawings=drawings)
