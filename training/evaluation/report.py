"""The report of an evaluation: one HTML file that opens offline, with style, plots and examples inline."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from features.core.page import folded, heading, tell_date
from training.evaluation.figures import draw_course
from training.evaluation.page import facts, listed, render_page
from training.evaluation.seen import tell_choice
from training.evaluation.sources import tell_source
from training.evaluation.suites import Figure, scored_suites
from training.runs import PER_SECOND, flattened, run_title


def render_report(scores: Mapping[str, Any], training: Mapping[str, Any], folder: Path) -> str:
    """Return the report as HTML. Every text from data is escaped; nothing is fetched from anywhere.

    Args:
        scores: content of metrics.json.
        training: content of the encoder's training.json; empty for an encoder that has none.
        folder: folder with the files that the suites wrote.
    """
    chapters = [(suite, suite.chapter(result, folder)) for suite, result in scored_suites(scores)]
    title = " · ".join(part for part in (scores["project"], f"encoder {_run(scores)}") if part)
    subject = _subject(scores, training)
    origin = {"encoder": scores["encoder_digest"], "start model": scores["backbone_digest"]}
    for _, chapter in chapters:
        subject |= chapter.facts
        origin |= chapter.origin
    body = [
        heading(title, f"evaluated on {tell_date(scores['date'])}"),
        listed(subject),
        *(f'<p class="warning">{escape(warning)}</p>' for _, chapter in chapters for warning in chapter.warnings),
        _key_figures([figure for _, chapter in chapters for figure in chapter.figures], training),
        *(f"<h2>{escape(suite.title)}</h2>\n{chapter.body}" for suite, chapter in chapters),
        *_course(training),
        folded("Origin", facts(origin | {"training data": training.get("data_digest"), "seed": scores["seed"]})),
    ]
    date = scores["date"].partition("T")[0]
    return render_page(f"{title} · {date} · facetflow", "\n".join(part for part in body if part))


def _run(scores: Mapping[str, Any]) -> str:
    """Return the name of the training run, whose folder contains the encoder's."""
    return run_title(Path(scores["encoder"]).parent)


def _subject(scores: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, str]:
    """Return what was evaluated."""
    start = "" if scores["backbone"] is None else f", from {scores['backbone']}"
    found = {"Encoder": f"{_run(scores)}{start}"}
    if "corpora" in training and "source" in training:
        learnt = ", ".join(
            f"{name} ({counts['train']:,} {counts.get('unit', 'pairs')})"
            for name, counts in training["corpora"].items()
        )
        found["Trained on"] = f"{learnt}; {tell_source(training['source'])}"
    if choice := tell_choice(training):
        found["Chosen by"] = choice
    return found


def _key_figures(figures: list[Figure], training: Mapping[str, Any]) -> str:
    """Return the key figures as cards."""
    shown = list(figures)
    if "seconds" in training:
        units = [name.removesuffix(PER_SECOND) for name in training if name.endswith(PER_SECOND)]
        speed = "".join(f", {training[unit + PER_SECOND]:.0f} {unit}/s" for unit in units)
        shown.append(Figure(_duration(training["seconds"]), f"training{speed}"))
    cards = [
        f'<div class="figure"><b>{escape(figure.number)}'
        f"{f' <small>{escape(figure.small)}</small>' if figure.small else ''}</b><span>{figure.text}</span></div>"
        for figure in shown
    ]
    return f'<div class="figures">{"".join(cards)}</div>' if cards else ""


def _duration(seconds: float) -> str:
    """Return a duration in a unit that leaves about two digits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _course(training: Mapping[str, Any]) -> list[str]:
    """Return how the encoder was trained; nothing where that is unknown."""
    if not training:
        return []
    history = training.get("history", ())
    ratings = training.get("chosen_by", {}).get("set")
    by = training.get("settings", {}).get("choose_by")
    course = draw_course(history, training["best_step"], chosen_by=by, ratings=ratings) if len(history) > 1 else ""
    return [
        "<h2>Training</h2>",
        f'<div class="plot course">{course}</div>' if course else "",
        folded("Settings", facts(flattened(training.get("settings", {})))),
    ]
