"""The report of an evaluation: one HTML file that opens offline, with style, plots and examples inline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from features.core.pages import render, tell_date
from features.metrics.explanation.drawing import facet_rules
from training.evaluation.figures import draw_course
from training.evaluation.seen import tell_choice, tell_source
from training.evaluation.suites import Figure, scored_suites
from training.runs import PER_SECOND, flattened, run_title


def render_report(scores: Mapping[str, Any], training: Mapping[str, Any], folder: Path) -> str:
    """Return the report as HTML, from metrics.json, training.json (empty if there is none) and the suites' files.

    Every text from data is escaped; nothing is fetched from anywhere.
    """
    chapters = [(suite, suite.tables(result), suite.chapter(result, folder)) for suite, result in scored_suites(scores)]
    run = run_title(Path(scores["encoder"]).parent)
    heading = " · ".join(part for part in (scores["project"], f"encoder {run}") if part)
    subject = _subject(run, scores, training)
    course, history = "", training.get("history", ())
    if len(history) > 1:
        ratings, by = training.get("chosen_by", {}).get("set"), training.get("settings", {}).get("choose_by")
        course = draw_course(history, training["best_step"], chosen_by=by, ratings=ratings)
    origin = {"encoder": scores["encoder_digest"], "start model": scores["backbone_digest"]}
    for _, _, chapter in chapters:
        subject |= chapter.facts
        origin |= chapter.origin
    return render(
        "training.evaluation/report.html",
        title=f"{heading} · {scores['date'].partition('T')[0]}",
        heading=heading,
        date=tell_date(scores["date"]),
        rules=facet_rules(),
        subject=subject,
        warnings=[warning for _, _, chapter in chapters for warning in chapter.warnings if warning],
        figures=[*(figure for _, _, chapter in chapters for figure in chapter.figures), *_duration(training)],
        chapters=chapters,
        course=course,
        settings=flattened(training.get("settings", {})) if training else None,
        origin=origin | {"training data": training.get("data_digest"), "seed": scores["seed"]},
    )


def _subject(run: str, scores: Mapping[str, Any], training: Mapping[str, Any]) -> dict[str, str]:
    start = "" if scores["backbone"] is None else f", from {scores['backbone']}"
    subject = {"Encoder": f"{run}{start}"}
    if "corpora" in training and "source" in training:
        learnt = ", ".join(
            f"{name} ({counts['train']:,} {counts.get('unit', 'pairs')})"
            for name, counts in training["corpora"].items()
        )
        subject["Trained on"] = f"{learnt}; {tell_source(training['source'])}"
    if choice := tell_choice(training):
        subject["Chosen by"] = choice
    return subject


def _duration(training: Mapping[str, Any]) -> list[Figure]:
    if "seconds" not in training:
        return []
    parts = [training, *(part for part in training.values() if isinstance(part, dict))]  # a map, layers before others
    seconds = sum(part.get("seconds", 0.0) for part in parts)
    units = [name.removesuffix(PER_SECOND) for name in training if name.endswith(PER_SECOND)]
    speed = "".join(f", {training[unit + PER_SECOND]:,.0f} {unit}/s" for unit in units)
    long = f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
    return [Figure(f"{seconds:.0f} s" if seconds < 90 else long, f"steps of training{speed}")]
