"""The view of trainings: releases, states and scores; of one or two of them the course, all scores, and the report.

    progress.jsonl   {"step": 40, "loss": 0.31, …}   {"step": 40, "dev_mean": 0.52, "best": true}
                     ──> one small chart for each number, over the steps; both trainings in one chart

The list, and the page of a training that runs, are asked for again every few seconds, and keep their place.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from features.core.errors import FacetflowError
from features.core.faults import NoProjectFile
from features.core.pages.plots import Axis, draw_plot
from flows.console.run_list import list_runs, run_messages, runs_table
from flows.explorer.session import Session
from flows.explorer.views import Answer, Parameter, Query, View
from flows.project import Project
from training.evaluation.run import REPORT_FILE, read_scores
from training.evaluation.suites import score_tables
from training.loop.course import read_course
from training.runs import METRICS_FILE, all_runs, run_id

REPORT = "/report"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
"""A report is one file: it has its style inside, loads nothing, and sends nothing, also that of somebody else's run."""


def project_of(session: Session) -> Project:
    """Return the project that is explored; a SettingsError where there is none."""
    if session.here.project is None:
        raise NoProjectFile(
            "There is no project here: start `facetflow explore` in its folder, or make one with `facetflow new`."
        )
    return session.here.project


class RunsView(View):
    """Trainings of the project."""

    name = "runs"
    title = "Runs"
    gives = "the trainings; of one, its scores and its course; of two, also their comparison"
    parameters = (
        Parameter("run", "a training: its scores, and its course by step"),
        Parameter("beside", "another training, to compare it with"),
    )

    def answer(self, query: Query) -> Answer | None:
        """List the trainings, or show the chosen ones."""
        if (settings := self.session.here.project) is None:
            return None
        listed = list_runs(settings)
        states = {run["run"]: run["state"] for run in listed}
        chosen = list(dict.fromkeys(filter(None, (query.choice(key, states) for key in ("run", "beside")))))
        courses = {name: read_course(settings.runs / name) for name in chosen}
        values: dict[str, Any] = {
            "listed": listed,
            "table": runs_table(settings, listed),
            "messages": run_messages(listed),
            "reports": [run for run in states if (settings.runs / run / REPORT_FILE).is_file()],
            "states": states,
            "is_live": "running" in (states[name] for name in chosen),
            "charts": _charts(list(courses.values())),
            "tables": [],
            "note": "",
        }
        if not chosen:
            return Answer(values, listed)
        if len(chosen) == 2:
            values |= self._comparison(settings.runs, chosen, query)
        elif (scores := settings.runs / chosen[0] / METRICS_FILE).is_file():
            try:
                values["tables"] = score_tables(read_scores(scores))
            except FacetflowError as error:  # of another version
                values["note"] = str(error)
        tables = [{"title": table.title, "rows": table.values or table.rows} for table in values["tables"]]
        return Answer(values, {"run": chosen[0], "beside": chosen[1:], "scores": tables, "courses": courses})

    def _comparison(self, runs: Path, chosen: Sequence[str], query: Query) -> dict[str, Any]:
        """Return the scores of two trainings as a table; why there is none, where they have none in common."""
        from training.evaluation.comparison import compare_runs, comparison_table

        folders = [runs / name for name in chosen]
        if lacking := [name for name in chosen if not (runs / name / METRICS_FILE).is_file()]:
            return {"note": f"Not evaluated yet: {' and '.join(lacking)}. `facetflow evaluate` takes the scores."}
        try:
            compared = self.session.reading.result_of(
                ("compare", *chosen, *((folder / METRICS_FILE).stat().st_mtime_ns for folder in folders)),
                lambda _: compare_runs(folders[:1], folders[1:]),
                "Comparing the scores",
                patience=query.patience,
            )
        except FacetflowError as error:  # they were evaluated on different data
            return {"note": str(error)}
        return {"tables": [comparison_table(compared, *chosen)]}


def _charts(courses: Sequence[Mapping[str, Mapping[int, float]]]) -> list[dict[str, Any]]:
    """Return a chart for each number of some trainings, with a line for each training."""
    charts = []
    for name in dict.fromkeys(name for course in courses for name in course):
        drawn = [course.get(name, {}) for course in courses]
        steps = [step for course in drawn for step in course]
        values = [value for course in drawn for value in course.values()]
        title, ends = name.replace("_", " "), f"between {min(values):.3g} and {max(values):.3g}"
        plot = draw_plot(
            f"{title} from step {min(steps)} to {max(steps)}, {ends}",
            Axis.over(f"step, up to {max(steps):,}", steps, 3),
            Axis.over("", values, 3),
            lines=[sorted(course.items()) for course in drawn],
        )
        last = [list(course.values())[-1] if course else None for course in drawn]
        charts.append({"name": title, "last_values": last, "plot": plot})
    return charts


def report(session: Session, request: Request) -> Response:
    """Return the report of a run, as the evaluation wrote it."""
    folder = project_of(session).runs
    run = next((run for run in all_runs(folder) if run_id(folder, run) == request.query_params.get("run")), None)
    if run is None or not (run / REPORT_FILE).is_file():
        return PlainTextResponse("This run has no report: `facetflow evaluate` writes one.", 404)
    page = (run / REPORT_FILE).read_bytes()  # here, where an error is told
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _POLICY})
