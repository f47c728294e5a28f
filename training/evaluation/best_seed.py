"""Which seed of a training is the best: by what chose its model on dev, otherwise by the scores of the evaluation.

Seeds differ by chance alone, so the choice must not depend on the order in which they are evaluated, and dev chooses
rather than the pairs that are reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.encoders.settings import BY_LOSS, score_in_words
from training.evaluation.run import METRICS_FILE
from training.evaluation.suites import scored_suites
from training.runs import ENCODER, TRAINING_FILE
from training.writing import read_json

_BY_RATINGS, _RECORDED_LOSS = "spearman", "total"  # keys of the dev scores in training.json


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
    if len(runs) == 1:
        return BestSeed(runs[0], "", {})
    recorded = [_dev_score(read_json(run / ENCODER / TRAINING_FILE)) for run in runs]
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
    key = _BY_RATINGS if rated else _RECORDED_LOSS if by == BY_LOSS and by not in dev else by
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
