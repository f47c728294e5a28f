"""The page of two encoders: their scores, where one is better than the other, and drawings of pairs that moved.

It is made from their evaluations (`differences_page`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

from features.core.errors import FacetflowError
from features.core.pages import render, tell_date
from features.core.types import OnRows, ignore_rows
from features.core.wording import counted
from features.metrics.bootstrap import Bootstrap
from features.parsers.settings import DependencySettings
from training.differences.parts import LEAST, NEARLY, REORDERED, Parts, by_number, by_words, depths_of, lengths
from training.differences.shared import SHOWN, BothScores, Moves, SharedSet, move, shared_sets
from training.differences.views import View, view
from training.evaluation.bars import Bar, draw_bars
from training.evaluation.comparison import Comparison, comparison_table, tell_difference
from training.evaluation.items import Scale
from training.evaluation.retrieval.maps import MAPS_FILE, draw_points, place_column
from training.evaluation.run import read_evaluation
from training.evaluation.tables import ScoreTable, hundred

_READING = {
    "words": "Pairs by the number of words (runs of letters and digits) of their longer sentence.",
    "deep": "Pairs by the depth of their deeper tree: the edges from its root to its deepest word.",
    "same words": "Pairs of the same words in another order, which only order and roles distinguish. Nearly the same "
    f"words: bags of words with a Jaccard index of {NEARLY:g} or more.",
    "B − A": "The score of B minus that of A, with a 95 % interval from a paired bootstrap over the pairs of a part.",
}
_SCALES: Mapping[Scale | None, str] = {
    "cosine": "cosines",
    "probability": "a classifier's probabilities of the positive label",
    None: "means of cosines and probabilities",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two encoders: its name as the user gave it, the folders of its runs, at least one, and their ids.

    Sentences are drawn as the first run sees them.
    """

    name: str
    runs: Sequence[Path]
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class Depths:
    """The depths of trees by text, the parser's name and version, and, where there is none, why, a sentence."""

    by_text: Mapping[str, int]
    parser: str = ""
    problem: str = ""


def differences_page(
    sides: tuple[Side, Side],
    comparison: Comparison,
    dependencies: DependencySettings,
    *,
    project: str = "",
    bootstrap: Bootstrap | None = None,
    on_rows: OnRows = ignore_rows,
) -> str:
    """Return the page of two encoders as HTML; `dependencies` make the trees measured where neither side sees any.

    Every text is escaped; nothing is fetched from anywhere.
    """
    a, b = sides
    shared = shared_sets(a.runs, b.runs)
    views, depths, drawn = (View(), View()), Depths({}), bootstrap or Bootstrap()
    if shared:
        texts = _texts_of([each.texts[row] for each in shared for rows in choose(each).values() for row in rows])
        views = (view(a.runs[0], texts), view(b.runs[0], texts))
        named = next((each.parser for each in views if each.parser), None)
        parser = dependencies.model_copy(update={"model": named}) if named else dependencies
        depths = measure_depths(shared, parser, on_rows)
    # Of several seeds the first is drawn, and named.
    names = [side.name if len(side.runs) == 1 else side.ids[0] for side in sides]
    reading = _READING | {"deep": f"{_READING['deep']} Trees are from {depths.parser}."}
    sets = [_set(each, depths, drawn, views) for each in shared]
    return render(
        "training.differences/differences.html",
        title=f"{a.name} compared with {b.name}",
        project=project,
        date=tell_date(),
        runs={f"{letter}: {side.name}": ", ".join(side.ids) for letter, side in zip("AB", sides, strict=True)},
        scores=comparison_table(comparison, a.name, b.name),
        maps=draw_maps(names, [side.runs[0] for side in sides]),
        reading={word: about for word, about in reading.items() if depths.parser or word != "deep"},
        least=LEAST,
        several_runs=any(len(side.runs) > 1 for side in sides),
        judged_parts=sum(each["judged_parts"] for each in sets),
        sees=[_sees(letter, side, view) for letter, side, view in zip("AB", sides, views, strict=True)],
        sets=sets,
        shown=SHOWN,
    )


def _texts_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(text for pair in pairs for text in pair))


def measure_depths(sets: Sequence[SharedSet], dependencies: DependencySettings, on_rows: OnRows) -> Depths:
    """Return the depths of the trees of all sentences of some sets."""
    from features.parsers.dependencies import load

    try:
        parser = load(dependencies)
        texts = _texts_of([pair for shared in sets for pair in shared.texts])
        return Depths(depths_of(texts, parser, on_rows), parser.name)
    except FacetflowError as error:
        return Depths({}, problem=str(error))


def _sees(letter: str, side: Side, view: View) -> str:
    name = f"{letter} ({side.name})"
    if view.problem:
        return f"What {name} sees of a sentence cannot be drawn: {view.problem.rstrip('.')}."
    if not view.sees:
        return f"{name} sees no structure of a sentence."
    drawn = f"; drawn as the run {side.ids[0]} sees them" if len(side.ids) > 1 else ""
    return f"{name} sees {view.sees}{drawn}."


def choose(shared: SharedSet) -> dict[str, list[int]]:
    """Return the positions of the pairs of a set that are shown, by why."""
    moves, reordered = move(shared), by_words(shared.texts)[REORDERED]
    towards, away = moves.towards(), moves.away()
    return {
        "B is closer to human judgement": towards,
        "B is further from human judgement": away,
        "Other pairs of the same words in another order": moves.furthest(
            [row for row in reordered if row not in {*towards, *away}]
        ),
    }


def _divide(texts: Sequence[tuple[str, str]], depths: Depths) -> tuple[Parts, list[str]]:
    """Return the parts of a set, and what was not divided, or left out, a sentence each."""
    too_few = f"that takes two parts of at least {LEAST} pairs"
    longer = by_number(lengths(texts), "words", np.arange(len(texts)))
    notes = [] if longer else [f"Not divided by length: {too_few}."]
    rows = [row for row, pair in enumerate(texts) if all(text in depths.by_text for text in pair)]
    deepest = [max(depths.by_text[text] for text in texts[row]) for row in rows]
    deeper = by_number(np.array(deepest, dtype=np.int64), "deep", np.array(rows, dtype=np.int64))
    if not deeper:
        notes.append(f"Not divided by tree depth: {depths.problem.rstrip('.') or too_few}.")
    elif lacking := len(texts) - len(rows):
        notes.append(f"By depth, pairs with a sentence that is too long or has no word are left out: {lacking:,}.")
    words = by_words(texts)
    if few := [f"{name} ({len(rows)})" for name, rows in words.items() if 0 < len(rows) < LEAST]:
        notes.append(f"Left out, with fewer than {LEAST} pairs: {', '.join(few)}.")
    if equal := len(texts) - sum(map(len, words.values())):
        notes.append(f"By words in common, pairs with the same words in the same order are left out: {equal:,}.")
    return longer | deeper | {name: rows for name, rows in words.items() if len(rows) >= LEAST}, notes


def _set(shared: SharedSet, depths: Depths, bootstrap: Bootstrap, views: tuple[View, View]) -> dict[str, Any]:
    parts, notes = _divide(shared.texts, depths)
    of_parts = {name: shared.score(rows, bootstrap) for name, rows in parts.items()}
    scores = {"all pairs": shared.score(np.arange(len(shared.texts)), bootstrap), **of_parts}
    moves = move(shared)
    a, b = (_SCALES[scale] for scale in shared.scales)
    return {
        "name": shared.scored.name,
        "suite": shared.suite,
        "pairs": len(shared.texts),
        "is_judged": shared.is_judged,
        "by_probability": shared.by_probability,
        "chart": draw_bars(_bars(scores), of="B − A", axis="B − A in points"),
        "numbers": _numbers(shared.scored.name, scores),
        "judged_parts": sum(score.difference is not None for score in of_parts.values()),
        "notes": notes,
        "scales": f"Scores are {a}." if a == b else f"Scores of A are {a}, those of B are {b}.",
        "groups": {
            why: [_pair(shared, moves, row, views) for row in rows] for why, rows in choose(shared).items() if rows
        },
    }


def _bars(scores: Mapping[str, BothScores]) -> list[Bar]:
    return [
        Bar(
            name=name,
            about=f"{counted(score.pairs, 'pair')}: A {hundred(score.a)}, B {hundred(score.b)}",
            value=None if score.a is None or score.b is None else 100 * (score.b - score.a),
            interval=None if score.difference is None else (100 * score.difference.low, 100 * score.difference.high),
            verdict="unclear" if score.difference is None else score.difference.verdict,
        )
        for name, score in scores.items()
    ]


def _numbers(name: str, scores: Mapping[str, BothScores]) -> ScoreTable:
    rows = tuple(
        (
            part,
            f"{score.pairs:,}",
            hundred(score.a),
            hundred(score.b),
            *tell_difference(score.a, score.b, score.difference),
        )
        for part, score in scores.items()
    )
    return ScoreTable(name, ("part", "pairs", "A", "B", "B − A", "95 % interval", "B is"), rows)


def _pair(shared: SharedSet, moves: Moves, row: int, views: tuple[View, View]) -> dict[str, Any]:
    a, b = shared.sides(shared.scored.predicted[row])
    drawn = [[view.drawings.get(text, "") for text in shared.texts[row]] for view in views]
    seen = {"A and B see": drawn[0]} if drawn[0] == drawn[1] else {"A sees": drawn[0], "B sees": drawn[1]}
    return {
        "texts": shared.texts[row],
        "scores": [
            ("people", f"{shared.expected[row]:g}", moves.wanted[row]),
            ("A", f"{a:.3f}", moves.before[row]),
            ("B", f"{b:.3f}", moves.after[row]),
        ],
        "drawings": {who: drawings for who, drawings in seen.items() if any(drawings)},
    }


_OWN = "encoder"
"""The evaluated encoder, among the sides of its own maps; the other is its start model."""
_POINT = ("text", "labels", "colour")


def draw_maps(names: Sequence[str], runs: Sequence[Path]) -> Markup:
    """Return the maps that two evaluations have of the same texts, side by side, as HTML; empty if there are none.

    maps.parquet of A ─┐ the same texts of an aspect, with the same colours
    maps.parquet of B ─┴──> one map of each aspect: A on the left, B on the right
    """
    (of_a, points_a), (of_b, points_b) = map(_read, runs)
    titles = {"a": f"A ({names[0]})", "b": f"B ({names[1]})"}
    drawn = dict[str, Markup]()
    for name in (name for name in of_a if name in of_b):
        a, b = of_a[name], of_b[name]
        left, right = _own(points_a, a, "a"), _own(points_b, b, "b")
        if not left.select(_POINT).equals(right.select(_POINT)):
            continue
        sides = {"a": a["sides"][_OWN], "b": b["sides"][_OWN]}
        both = {**a, "sides": sides, "methods": [method for method in a["methods"] if method in b["methods"]]}
        points = pl.concat([left, right.drop(_POINT)], how="horizontal")
        drawn[name] = draw_points(both, points, f"map{len(drawn)}", titles)
    return render("training.evaluation/maps.html", drawings=drawn) if drawn else Markup()


def _read(run: Path) -> tuple[Mapping[str, Mapping[str, Any]], pl.DataFrame]:
    retrieval = read_evaluation(run)["suites"].get("retrieval", {})
    try:
        points = pl.read_parquet(run / MAPS_FILE, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        return {}, pl.DataFrame()
    return {entry["name"]: entry for entry in retrieval.get("maps", ())}, points


def _own(points: pl.DataFrame, entry: Mapping[str, Any], side: str) -> pl.DataFrame:
    """Return the points of a map with their places by the encoder alone, under the name of a side."""
    columns = ((method, axis) for method in entry["methods"] for axis in "xy")
    coordinates = (pl.col(place_column(_OWN, *column)).alias(place_column(side, *column)) for column in columns)
    return points.filter(map=entry["name"]).select(*_POINT, *coordinates)
