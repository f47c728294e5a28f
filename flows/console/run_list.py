"""What `runs` and the explorer list: trainings with their releases, states and scores."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from features.core.errors import FacetflowError
from features.core.faults import EncoderDamaged, RecordUnreadable
from flows.project import Project
from training.evaluation.promotion import current_runs, refusal
from training.evaluation.run import read_scores
from training.evaluation.suites import load_suite, scored_suites
from training.evaluation.tables import ScoreTable, hundred
from training.run_records import evaluation_of, state_of
from training.runs import ENCODER, METRICS_FILE, all_runs, encoder_name, release_of, run_id, seed_of, training_of

_UNSCORED: dict[str, Any] = {"evaluated": False, "scores": {}, "elsewhere": []}
_ELSEWHERE = "*"
_OTHERS = (
    " on other data than in the newest evaluation: such scores do not compare. `facetflow compare A B` takes what two "
    "runs were both scored on."
)
_REFUSED = "refused: its scores did not hold against those of the run that was current then; promotion.json says why."


def list_runs(settings: Project, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return what is known of each training, by default of all encoders, in the order of their ids."""
    runs, current = all_runs(settings.runs), set(current_runs(settings.runs).values())
    scores = _scores(runs)
    listed = [
        _described(settings.runs, run) | scores.get(run, _UNSCORED) | {"current": run.resolve() in current}
        for run in runs
        if not names or encoder_name(run) in names
    ]
    for name in names:
        if not any(run["name"] == name for run in listed):
            settings.encoder(name)  # an encoder that was never trained has no run; another name is refused
    return listed


def runs_table(settings: Project, listed: Sequence[Mapping[str, Any]]) -> ScoreTable:
    """Return the trainings as a table, one a row."""
    named = ((suite, name) for run in listed for suite, numbers in run["scores"].items() for name in numbers)
    scored = list(dict.fromkeys(named))
    searched = ("found by search",) if any(run["chosen"] for run in listed) else ()
    rows = tuple(
        (
            run["run"],
            "" if run["release"] is None else str(run["release"]),
            f"{run['state']}{', current' if run['current'] else ', refused' if run['refused'] else ''}",
            run["at"][:16].replace("T", " "),
            *([] if not searched else [", ".join(f"{name} {value:g}" for name, value in run["chosen"].items())]),
            *(_cell(run, suite, name) for suite, name in scored),
        )
        for run in listed
    )
    columns = ("run", "release", "state", "when (UTC)", *searched, *(name for _, name in scored))
    others = f"{_ELSEWHERE}{_OTHERS}" if any(run["elsewhere"] for run in listed) else ""
    refused = _REFUSED if any(run["refused"] and not run["current"] for run in listed) else ""
    note = "\n".join(filter(None, [_explained(scored), others, refused]))
    return ScoreTable(f"Trainings of {settings.name}", columns, rows, note)


def run_messages(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what trainings and evaluations that did not finish say."""
    messages = [f"{run['run']} {run['state']}: {run['message']}" for run in listed if run["message"]]
    failed = [run for run in listed if run["evaluation_failed"]]
    return messages + [f"{run['run']} could not be evaluated: {run['evaluation_failed']}" for run in failed]


def _cell(run: Mapping[str, Any], suite: str, name: str) -> str:
    """Return the score of a run, marked where it is on other data than those of the newest evaluation."""
    if not run["evaluated"]:
        return ""
    score = run["scores"].get(suite, {}).get(name)
    return hundred(score) + (_ELSEWHERE if score is not None and suite in run["elsewhere"] else "")


def _scores(runs: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Return the scores of each evaluated run, and the suites with other data than in the newest evaluation."""
    evaluated: list[tuple[str, Path, dict[str, tuple[Any, Any]]]] = []
    for run in runs:
        try:
            read = read_scores(run / METRICS_FILE)
            results = {suite.name: (suite.headline(result), result["data"]) for suite, result in scored_suites(read)}
            evaluated.append((str(read.get("date", "")), run, results))
        except (FacetflowError, KeyError, TypeError):  # there is none, or it is of another version
            continue
    newest: dict[str, Any] = {}
    scores: dict[Path, dict[str, Any]] = {}
    for _, run, results in sorted(evaluated, key=itemgetter(0), reverse=True):
        elsewhere = [name for name, (_, data) in results.items() if newest.setdefault(name, data) != data]
        numbers = {name: headline for name, (headline, _) in results.items()}
        scores[run] = {"evaluated": True, "scores": numbers, "elsewhere": elsewhere}
    return scores


def _explained(scored: Sequence[tuple[str, str]]) -> str:
    lines = []
    for suite in dict.fromkeys(suite for suite, _ in scored):
        kind = load_suite(suite)
        names = ", ".join(name for scoring, name in scored if scoring == suite)
        lines.append(f"{names}: {kind.measure} × 100{f', the {kind.mean} over all' if kind.mean else ''}.")
    return "\n".join(lines)


def _described(runs: Path, run: Path) -> dict[str, Any]:
    state = state_of(run)
    try:
        search, message = training_of(run / ENCODER).get("search", {}), state.message
    except (EncoderDamaged, RecordUnreadable) as error:
        search, message = {}, str(error)
    return {
        "name": encoder_name(run),
        "run": run_id(runs, run),
        "release": release_of(run),
        "seed": seed_of(run),
        "state": state.state,
        "message": message,
        "at": state.at,
        "refused": refusal(run) is not None,
        "evaluation_failed": evaluation_of(run).message,
        "chosen": search.get("chosen", {}),
        "tried": search.get("tried", []),
    }
