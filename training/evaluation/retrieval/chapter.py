"""The chapter of the report on retrieval: bars, tables, and maps of the texts."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from features.core.errors import InputError
from features.core.page import folded
from training.evaluation.bars import Bar, Mark, draw_bars, ends_of, hundredths
from training.evaluation.bootstrap import tell_verdict
from training.evaluation.page import tables_html
from training.evaluation.retrieval.points import ABOUT_MAPS, draw_points
from training.evaluation.retrieval.tables import RANKINGS, retrieval_tables, tell_seen_texts, tell_way
from training.evaluation.sources import tell_source
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
    k = result["k"]
    tables = retrieval_tables(result)
    about = (
        f"Each of the {result['texts']:,} texts of {result['split']} is a query for its "
        f"{min(k, result['texts'] - 1)} most similar texts. A bar is the mean of 1 / rank of the first one that shares "
        "its label."
    )
    body = [
        f"<p>{escape(about)}</p>",
        _chart(result),
        folded("The numbers", tables_html(tables)),
        _maps(result, maps_file) if result["maps"] else "",
    ]
    warning = tell_seen_texts(result)
    return Chapter(
        body="\n".join(part for part in body if part),
        facts={
            "Retrieved": f"{result['texts']:,} texts of {result['split']} ({', '.join(result['corpora'])}); "
            f"{tell_source(result['source'])}"
        },
        warnings=[warning] if warning else [],
        figures=[
            Figure(hundred(group["rankings"]["encoder"]["mrr"]["value"]), _explain(group, k))
            for group in result["groups"]
            if group["way"] == "one"
        ],
        origin={"labelled texts": result["data_digest"]},
    )


def _chart(result: Mapping[str, Any]) -> str:
    bars = [
        Bar(
            name=group["name"],
            about=f"{group['queries']:,} queries among {group['texts']:,} texts; relevant: what {tell_way(group)}",
            value=hundredths(group["rankings"]["encoder"]["mrr"]["value"]),
            interval=ends_of(group["rankings"]["encoder"]["mrr"]),
            marks={
                mark.name: 100 * group["rankings"][name]["mrr"]["value"]
                for name, mark in _MARKS.items()
                if name in group["rankings"]
            },
            verdict=_tell(group),
        )
        for group in result["groups"]
    ]
    marks = [mark for mark in _MARKS.values() if any(mark.name in bar.marks for bar in bars)]
    return draw_bars(bars, marks, of="this encoder", axis=f"MRR@{result['k']} × 100")


def _tell(group: Mapping[str, Any]) -> str:
    """Return how the encoder compares with its start model; nothing where that is unknown."""
    start = group["rankings"].get("start")
    return "" if start is None else tell_verdict(start["difference"]["mrr"])


def _explain(group: Mapping[str, Any], k: int) -> str:
    said = f"{escape(group['name'])}: MRR@{k} × 100, {group['queries']:,} queries."
    others = [
        f"{RANKINGS[name]} {hundred(group['rankings'][name]['mrr']['value'])}"
        for name in ("start", "bm25", "tfidf")
        if name in group["rankings"]
    ]
    beside = ", ".join(others)
    return f"{said} {beside[0].upper()}{beside[1:]}."


def _maps(result: Mapping[str, Any], maps_file: Path) -> str:
    try:
        points = pl.read_parquet(maps_file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{str(maps_file)!r} cannot be read; run `facetflow evaluate` again") from error
    parts = ["<h2>Maps of the texts</h2>", f"<p>{escape(ABOUT_MAPS)}</p>"]
    for number, drawn in enumerate(result["maps"]):
        drawing = draw_points(drawn, points.filter(pl.col("map") == drawn["name"]), f"map{number}")
        parts += [f"<h3>{escape(drawn['name'])}</h3>", drawing]
    return "\n".join(parts)
