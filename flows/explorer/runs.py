"""The view of trainings: releases, states and scores; of one of them, all scores with intervals, and its report."""

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from features.core.errors import FacetflowError
from features.core.faults import EvaluationDamaged, NoProjectFile
from flows.explorer.session import Session
from flows.explorer.views import Answer, Query, View
from flows.project import Project

REPORT = "/report"
_REPORT_FILE = "report.html"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""A report is one file: it has its style inside, and loads nothing."""


def project_of(session: Session) -> Project:
    """Return the project that is explored.

    Raises:
        SettingsError: when there is none.
    """
    if session.here.project is None:
        raise NoProjectFile(
            "There is no project here: start `facetflow explore` in its folder, or make one with `facetflow new`."
        )
    return session.here.project


class RunsView(View):
    """Trainings of the project."""

    name = "runs"
    title = "Runs"

    def form(self, query: Query) -> dict[str, Any]:
        """Return whether there is a project, and which run was chosen."""
        return {"in_project": self.session.here.project is not None, "chosen": query.text("run")}

    def answer(self, query: Query) -> Answer | None:
        """List the trainings, or the scores of the chosen one."""
        from flows.console.run_list import list_runs, run_messages, runs_table

        if self.session.here.project is None:
            return None
        settings = project_of(self.session)
        listed = list_runs(settings)
        chosen = query.choice("run", [run["run"] for run in listed])
        tables = _scores(settings.runs / chosen) if chosen else []
        reports = [run["run"] for run in listed if (settings.runs / run["run"] / _REPORT_FILE).is_file()]
        values = {
            "listed": listed,
            "table": runs_table(settings, listed),
            "messages": run_messages(listed),
            "tables": tables,
            "reports": reports,
            "report": REPORT,
        }
        scores = [{"title": table.title, "rows": table.values or table.rows} for table in tables]
        return Answer(values, {"run": chosen, "scores": scores} if chosen else listed)


def _scores(run: Path) -> list[Any]:
    """Return the tables of the evaluation of a run; none if it has none."""
    from training.evaluation.run import METRICS_FILE, read_scores
    from training.evaluation.suites import scored_suites

    if not (run / METRICS_FILE).is_file():
        return []
    try:
        scored = scored_suites(read_scores(run / METRICS_FILE))
        return [table for suite, result in scored for table in suite.tables(result)]
    except (KeyError, TypeError) as error:
        raise EvaluationDamaged(f"The scores of {run.name!r} are of another version: evaluate it again.") from error


def report(session: Session, request: Request) -> Response:
    """Return the report of a run, as the evaluation wrote it."""
    from training.runs import all_runs, run_id

    try:
        folder = project_of(session).runs
        run = next((run for run in all_runs(folder) if run_id(folder, run) == request.query_params.get("run")), None)
    except FacetflowError as error:
        return PlainTextResponse(error.with_code(), 400)
    if run is None or not (run / _REPORT_FILE).is_file():
        return PlainTextResponse("This run has no report: `facetflow evaluate` writes one.", 404)
    return FileResponse(run / _REPORT_FILE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})
