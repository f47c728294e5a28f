"""Which run of an encoder is the current one: a new one replaces it only if its scores hold up.

    runs/syntax/00002-4f1c9a/seed-0/metrics.json ──┐
                                                   ├── hold? ──> runs/syntax/current ──> 00002-4f1c9a/seed-0
    runs/syntax/current/metrics.json ──────────────┘

Both must have been scored on the same pairs and the same sets of ratings; otherwise their numbers are not comparable.
Of several seeds the best is compared. Seeds differ by chance alone, so the choice must not depend on the order in which
they are evaluated, and what chose their models on dev chooses, if possible, rather than the pairs that are reported.
"""

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from features.core.faults import RunGone, ScoredDifferently
from features.core.leftovers import beside, held_folder
from training.encoders.settings import BY_LOSS, score_in_words
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import load_suite, scored_suites
from training.evaluation.tables import hundred
from training.runs import (
    CURRENT,
    ENCODER,
    METRICS_FILE,
    all_runs,
    encoder_name,
    find_encoder,
    is_finished,
    newest,
    run_id,
    training_of,
)
from training.writing import read_json, writing

PROMOTION_FILE = "promotion.json"
"""Next to the scores of a run: whether it was promoted, against which run, and why."""


class Verdict(BaseModel, frozen=True):
    """Whether an encoder may replace the current one, as in `promotion.json`, and a clause for each comparison."""

    holds: bool | None  # None where it was not compared, since a seed of its training is the current run
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoneRun:
    """A promoted run that is gone, or whose encoder is: the link that is left, and its id, or its path elsewhere."""

    link: Path
    run: str


def compare_scores(new: Mapping[str, Any], current: Mapping[str, Any], limits: PromotionSettings) -> Verdict:
    """Compare the content of `metrics.json` of a new and of the current encoder, on the same pairs.

    A score that one of them lacks, because a set is too small for a correlation or its values are all equal, is left
    out for both; where nothing is left to compare, the new encoder does not hold.
    """
    verdicts: list[tuple[bool, str]] = []
    for name, allowed in limits.model_dump().items():
        if name not in new["suites"] or name not in current["suites"]:
            continue
        suite, results = load_suite(name), (new["suites"][name], current["suites"][name])
        if results[0]["data"] != results[1]["data"]:
            raise ScoredDifferently(
                "The two encoders were scored on different pairs; evaluate both on one release and split."
            )
        for what, before, after in suite.compared(*results):
            lost = 100 * (before - after)
            holds = lost <= allowed + 1e-9
            limit = "" if holds else f": {lost:.2f} less, and {allowed:g} is allowed"
            verdicts.append((holds, f"{what} {hundred(before)} → {hundred(after)}{limit}"))
    if not verdicts:
        return Verdict(holds=False, reasons=("the two encoders have no comparable score in common",))
    return Verdict(holds=all(holds for holds, _ in verdicts), reasons=tuple(reason for _, reason in verdicts))


def on_same_pairs(new: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
    """Return whether two `metrics.json` can be compared: by the same suites, each on the same pairs."""
    first, second = (
        {name: result["data"] for name, result in scores["suites"].items() if name in PromotionSettings.model_fields}
        for scores in (new, current)
    )
    return first == second


def current_run(runs: Path, name: str) -> Path | None:
    """Return the current run of an encoder, None where none was promoted or it is gone (`gone_runs` tells which)."""
    link = runs / name / CURRENT
    return link.resolve() if link.is_symlink() and (link / ENCODER).is_dir() else None


def refusal(run: Path) -> str | None:
    """Return why the scores of a run did not hold when it was last to be promoted; None where nothing says so."""
    try:
        decision = Verdict.model_validate_json((run / PROMOTION_FILE).read_bytes())
    except (OSError, ValidationError):  # it was never judged, or this was written by hand since
        return None
    return "; ".join(decision.reasons) if decision.holds is False else None


def encoder_in_use(runs: Path, name: str) -> Path:
    """Return the encoder of the current run, or the one finished last where none was ever promoted."""
    current = current_run(runs, name)
    return find_encoder(runs, name) if current is None else current / ENCODER


def encoder_in_use_with(runs: Path, suits: Callable[[Path], bool], among: Collection[str] = ()) -> Path | None:
    """Return the folder of the encoder to use where none is named, of those whose folder `suits`; None without any.

    Candidates are the current runs that suit and, of each name without a current run, the run finished last that
    suits; where there are none, the latter of every name. Names `among` those of the project go before all others.
    Of the candidates, the only current run is returned, otherwise the run finished last.
    """
    promoted = {name: run for name, run in current_runs(runs).items() if is_finished(run)}
    current = {name: run for name, run in promoted.items() if suits(run / ENCODER)}
    by_name: dict[str, list[Path]] = {}
    for run in all_runs(runs):
        if is_finished(run) and suits(run / ENCODER):
            by_name.setdefault(encoder_name(run), []).append(run)
    last = {name: newest(of_name) for name, of_name in by_name.items()}
    in_use = {name: run for name, run in last.items() if name not in promoted} | current or last
    in_use = {name: run for name, run in in_use.items() if name in among} or in_use
    chosen = [current[name] for name in in_use if name in current]
    if len(chosen) == 1:
        return chosen[0] / ENCODER
    return newest([*in_use.values()]) / ENCODER if in_use else None


def current_runs(runs: Path) -> dict[str, Path]:
    """Return name → current run, for each encoder that has one."""
    return {name: run for name in _names(runs) if (run := current_run(runs, name)) is not None}


def gone_runs(runs: Path) -> dict[str, GoneRun]:
    """Return name → current run, for each encoder that was promoted and whose current run has no encoder any more."""
    base, gone = runs.resolve(), {}
    for name in _names(runs):
        if current_run(runs, name) is None:
            link = runs / name / CURRENT
            gone[name] = GoneRun(link, run_id(base, link.resolve()))
    return gone


def promote(run: Path, name: str) -> None:
    """Make a run the current one of its encoder, in one step."""
    link = run.parents[2] / name / CURRENT
    if link.exists() and not link.is_symlink():
        raise RunGone(f"{str(link)!r} is not a link to a run and was not touched; rename it and promote again")
    link.parent.mkdir(parents=True, exist_ok=True)
    with writing(link), held_folder(temporary := beside(link)):  # a link itself cannot be held
        made = temporary / CURRENT
        made.symlink_to(os.path.relpath(run, link.parent), target_is_directory=True)
        made.replace(link)


def _names(runs: Path) -> list[str]:
    """Return the names of all encoders of which a run was ever promoted, sorted."""
    # A pattern with the name of the link would not find one whose run is gone.
    return sorted(folder.name for folder in runs.glob("*") if (folder / CURRENT).is_symlink())


@dataclass(frozen=True, slots=True)
class BestSeed:
    """The folder of the best run, what decided (empty if nothing did), and by run the values that did."""

    run: Path
    by: str
    values: Mapping[Path, float]


def best_seed(runs: Sequence[Path]) -> BestSeed:
    """Return the best of some seeds of one training, at least one, by their evaluated runs; of equal ones the first.

    It has the best dev score of those that `choose_by` names. If that is not recorded for all, the best mean of the
    headline numbers that all have; without any, it is the first.
    """
    recorded = [_dev_score(training_of(run / ENCODER)) for run in runs]
    scores = [score for score in recorded if score is not None]
    if len(scores) == len(runs) and len({by for by, _, _ in scores}) == 1:
        values = {run: value for run, (_, value, _) in zip(runs, scores, strict=True)}
        better = {run: -value if lower else value for run, (_, value, lower) in zip(runs, scores, strict=True)}
        return BestSeed(max(runs, key=better.__getitem__), scores[0][0], values)
    headlines = [_headline(read_json(run / METRICS_FILE)) for run in runs]
    common = set(headlines[0]).intersection(*headlines[1:])
    if not common:
        return BestSeed(runs[0], "", {})
    means = {
        run: 100 * math.fsum(numbers[name] for name in common) / len(common)
        for run, numbers in zip(runs, headlines, strict=True)
    }
    return BestSeed(max(runs, key=means.__getitem__), "mean score", means)


def _dev_score(training: Mapping[str, Any]) -> tuple[str, float, bool] | None:
    """Return the recorded dev score that chooses models: its name, its value, and whether lower is better."""
    dev, settings = training.get("dev") or {}, training.get("settings", {})
    rated = training.get("chosen_by", {}).get("set")
    by = settings.get("choose_by", BY_LOSS)
    key = "spearman" if rated else "total" if by == BY_LOSS and by not in dev else by
    value = dev.get(key)
    if value is None or not math.isfinite(value):
        return None
    return f"Spearman on {rated}" if rated else f"dev {score_in_words(by)}", value, not rated and by == BY_LOSS


def _headline(scores: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    return {
        (suite.name, name): number
        for suite, result in scored_suites(scores)
        for name, number in suite.headline(result).items()
        if number is not None
    }
