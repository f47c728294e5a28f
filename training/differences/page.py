"""The page of two encoders: their scores, where one is better than the other, and drawings of pairs that moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from features.core.page import described, folded, heading, tell_date
from training.differences.analysis import Analysis
from training.differences.moves import SHOWN, by_probability
from training.differences.parts import LEAST, NEARLY
from training.differences.shared import BothScores
from training.differences.views import View
from training.evaluation.bars import Bar, draw_bars
from training.evaluation.comparison import Comparison
from training.evaluation.comparison_table import comparison_table, signed, signed_ends
from training.evaluation.items import Scale
from training.evaluation.page import listed, render_page, tables_html
from training.evaluation.tables import UNDEFINED, ScoreTable, hundred

_FOLDED_FROM = 3
"""Number of sets from which the drawings are collapsed."""
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
_WITHIN = "Compare A with B within a part, not one part with another: parts differ in more than their criterion."


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two encoders.

    Args:
        name: as the user named it.
        runs: folders of its runs, at least one; sentences are drawn as the first sees them.
        ids: of the runs.
    """

    name: str
    runs: Sequence[Path]
    ids: Sequence[str]


def render_differences(
    sides: tuple[Side, Side],
    comparison: Comparison,
    analyses: Sequence[Analysis],
    views: tuple[View, View],
    *,
    parser: str = "",
    maps: str = "",
    project: str = "",
    date: datetime | None = None,
) -> str:
    """Return the page. Every text is escaped; nothing is fetched from anywhere.

    Args:
        sides: A and B.
        comparison: their scores.
        analyses: of the sets that both scored; empty where they have none in common.
        views: what A and B see of the drawn sentences.
        parser: parser of the trees whose depth is measured; empty where there is none.
        maps: of the texts that both embedded (`draw_maps`); empty where there are none.
        project: name of the project.
        date: date on the page; now when None.
    """
    a, b = sides
    title = f"{a.name} compared with {b.name}"
    body = [
        heading(title, project, tell_date((date or datetime.now(UTC)).isoformat(timespec="seconds"))),
        listed({f"{letter}: {side.name}": ", ".join(side.ids) for letter, side in zip("AB", sides, strict=True)}),
        "<h2>Scores</h2>",
        tables_html([comparison_table(comparison, a.name, b.name)]),
        maps,
        "<h2>Where they differ</h2>",
        _introduction(sides, analyses, views, parser),
        *(_set(analysis, views, shown=len(analyses) < _FOLDED_FROM) for analysis in analyses),
    ]
    names = " · ".join(part for part in (title, project, "facetflow") if part)
    return render_page(names, "\n".join(body))


def _introduction(sides: tuple[Side, Side], analyses: Sequence[Analysis], views: tuple[View, View], parser: str) -> str:
    """Return how to read the chapters, and what each side sees of a sentence."""
    if not analyses:
        return (
            "<p>The runs of both have no set of rated or judged pairs in common, so single pairs cannot be "
            "compared.</p>"
        )
    reading = dict(_READING)
    if parser:
        reading["deep"] = f"{reading['deep']} Trees are from {parser}."
    else:
        del reading["deep"]
    said = [f"A part has at least {LEAST} pairs. {_WITHIN}"]
    if any(len(side.runs) > 1 for side in sides):
        said.append(
            "Scores are means over the runs of a side; intervals are over pairs and say nothing about other seeds."
        )
    judged = sum(score.difference is not None for analysis in analyses for score in analysis.parts.values())
    if judged > 1:
        said.append(f"Of {judged} parts at 95 %, about one in twenty is above or below by chance.")
    seen = [_sees(letter, *each) for letter, each in zip("AB", zip(sides, views, strict=True), strict=True)]
    return described(reading) + "".join(f"<p>{escape(text)}</p>" for text in (" ".join(said), " ".join(seen)))


def _sees(letter: str, side: Side, view: View) -> str:
    """Describe what a side sees of a sentence, in one sentence."""
    of = f"{letter} ({side.name})"
    if view.problem:
        return f"What {of} sees of a sentence cannot be drawn: {view.problem.rstrip('.')}."
    if not view.sees:
        return f"{of} sees no structure of a sentence."
    drawn = f"; drawn as the run {side.ids[0]} sees them" if len(side.ids) > 1 else ""
    return f"{of} sees {view.sees}{drawn}."


def _set(analysis: Analysis, views: tuple[View, View], *, shown: bool) -> str:
    """Return the chapter of a set, with its pairs shown or collapsed."""
    shared = analysis.shared
    measure = (
        "AUROC × 100: how often a positive pair scores above a negative one; 50 is chance. Unlike F1, it needs no "
        "threshold"
        if shared.is_judged
        else "Spearman × 100 with human ratings"
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in analysis.notes)
    chosen = analysis.chosen
    groups = {
        f"B is closer to human judgement: {_most(chosen.towards)}": chosen.towards,
        f"B is further from human judgement: {_most(chosen.away)}": chosen.away,
        f"Other pairs of the same words in another order: {_most(chosen.reordered)}": chosen.reordered,
    }
    cards = [
        folded(title, "".join(_card(analysis, row, views) for row in rows), shown=shown)
        for title, rows in groups.items()
        if rows
    ]
    return (
        f"<h3>{escape(shared.name)} <small>{escape(shared.suite)}</small></h3>"
        f'<p class="quiet">{len(shared.texts):,} pairs. {measure}.</p>'
        f"{_chart(analysis)}{folded('The numbers', tables_html([_numbers(analysis)]))}{notes}"
        + (f'<p class="quiet">{escape(f"{_tell_scales(analysis)} {_tell_places(analysis)}")}</p>' if cards else "")
        + "".join(cards)
    )


def _most(pairs: Sequence[int]) -> str:
    return f"the {len(pairs)} pairs that moved most" if len(pairs) > 1 else "the pair that moved most"


def _rows(analysis: Analysis) -> Mapping[str, BothScores]:
    return {"all pairs": analysis.total, **analysis.parts}


def _chart(analysis: Analysis) -> str:
    """Return B − A on all pairs and in each part."""
    bars = [
        Bar(
            name=name,
            about=f"{score.pairs:,} pairs: A {hundred(score.a)}, B {hundred(score.b)}",
            value=None if score.a is None or score.b is None else 100 * (score.b - score.a),
            interval=None if score.difference is None else (100 * score.difference.low, 100 * score.difference.high),
            verdict="unclear" if score.difference is None else score.difference.verdict,
        )
        for name, score in _rows(analysis).items()
    ]
    return draw_bars(bars, of="B − A", axis="B − A in points")


def _numbers(analysis: Analysis) -> ScoreTable:
    """Return the score of both in each part."""
    rows = tuple(
        (
            name,
            f"{score.pairs:,}",
            hundred(score.a),
            hundred(score.b),
            UNDEFINED if score.a is None or score.b is None else signed(score.b - score.a),
            signed_ends(score.difference),
            "" if score.difference is None else score.difference.verdict,
        )
        for name, score in _rows(analysis).items()
    )
    return ScoreTable(analysis.shared.name, ("part", "pairs", "A", "B", "B − A", "95 % interval", "B is"), rows)


def _tell_scales(analysis: Analysis) -> str:
    a, b = (_SCALES[scale] for scale in analysis.shared.scales)
    return f"Scores are {a}." if a == b else f"Scores of A are {a}, those of B are {b}."


def _tell_places(analysis: Analysis) -> str:
    if by_probability(analysis.shared):
        return (
            "Pairs are ordered by how much closer B's probability of the positive label is to the human judgement, 1 "
            f"or 0, than A's; at most {SHOWN} are shown."
        )
    people = " The human place of a positive pair is 100, of a negative one 0." if analysis.shared.is_judged else ""
    return (
        "The place of a pair is the share of the pairs of the set that score lower, plus half of those that score "
        f"equal, times 100.{people} Pairs are ordered by how much closer B's place is to the human one than A's; at "
        f"most {SHOWN} are shown."
    )


def _card(analysis: Analysis, row: int, views: tuple[View, View]) -> str:
    """Return a pair: the human score and those of both encoders, and what both see of its sentences."""
    shared, moves = analysis.shared, analysis.moves
    texts = shared.texts[row]
    a, b = shared.sides(shared.scored.predicted[row])
    said = f"{shared.expected[row]:g}"
    lines = [
        ("people", said, moves.wanted[row]),
        ("A", f"{a:.3f}", moves.before[row]),
        ("B", f"{b:.3f}", moves.after[row]),
    ]
    probable = by_probability(shared)
    head = "" if probable else "<th>place</th>"
    cells = "".join(
        f"<tr><td>{who}</td><td>{score}</td>{'' if probable else f'<td>{100 * place:.0f}</td>'}</tr>"
        for who, score, place in lines
    )
    sentences = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return (
        f'<div class="card"><div class="judged"><div>{sentences}</div>'
        f"<table><thead><tr><th></th><th>score</th>{head}</tr></thead><tbody>{cells}</tbody></table></div>"
        f"{_drawings(texts, views)}</div>"
    )


def _drawings(texts: tuple[str, str], views: tuple[View, View]) -> str:
    """Return both sentences as each side sees them; only once where both see the same."""
    drawn = [tuple(view.drawings.get(text, "") for text in texts) for view in views]
    letters = {"A and B": drawn[0]} if drawn[0] == drawn[1] else dict(zip("AB", drawn, strict=True))
    return "".join(
        f'<p class="quiet">as {letter} {"see" if letter == "A and B" else "sees"} them</p>{"".join(drawings)}'
        for letter, drawings in letters.items()
        if any(drawings)
    )
