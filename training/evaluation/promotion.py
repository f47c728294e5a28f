"""Which encoder is the current one: a new one takes its place only if its scores hold against it.

    runs/release-00002-4f1c9a/metrics.json ──┐
                                             ├── hold? ──> runs/current ──> release-00002-4f1c9a
    runs/current/metrics.json ───────────────┘

Both must have been scored on the same pairs and the same sets of ratings; otherwise numbers that differ say nothing.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.errors import InputError, ModelError
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import load_suite
from training.runs import ENCODER, latest_encoder

CURRENT = "current"
"""Name of the link in a folder of runs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an encoder may take the place of the current one.

    Args:
        holds: whether it may.
        reasons: one clause for each comparison: what was compared, by how much it differs, what is allowed.
    """

    holds: bool
    reasons: tuple[str, ...]


def compare_scores(new: Mapping[str, Any], current: Mapping[str, Any], limits: PromotionSettings) -> Verdict:
    """Compare the scores of two encoders.

    Args:
        new: `metrics.json` of the encoder that was trained last.
        current: that of the current encoder, on the same pairs.
        limits: points (Spearman × 100) that may be lost.

    Returns:
        The verdict. A score that one of them lacks, because a set is too small for a correlation or its values are all
        equal, is left out on both sides; where nothing is left to compare, the new encoder does not hold.

    Raises:
        InputError: when they were scored on different pairs.
    """
    verdicts: list[tuple[bool, str]] = []
    for name, allowed in limits.model_dump().items():
        if name not in new["suites"] or name not in current["suites"]:
            continue
        suite, results = load_suite(name), (new["suites"][name], current["suites"][name])
        if not suite.same_data(*results):
            raise InputError("The two encoders were scored on different pairs; evaluate both on one release and split.")
        verdicts += [_judge(what, before, after, allowed) for what, before, after in suite.compared(*results)]
    if not verdicts:
        return Verdict(holds=False, reasons=("the two have no score in common that could be compared",))
    return Verdict(holds=all(holds for holds, _ in verdicts), reasons=tuple(reason for _, reason in verdicts))


def on_same_pairs(new: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
    """Return whether two `metrics.json` can be compared: by the same suites, each on the same pairs."""
    if new["format"] != current.get("format"):
        return False
    judged = [name for name in PromotionSettings.model_fields if name in {*new["suites"], *current["suites"]}]
    return all(
        name in new["suites"]
        and name in current["suites"]
        and load_suite(name).same_data(new["suites"][name], current["suites"][name])
        for name in judged
    )


def current_run(runs: Path) -> Path | None:
    """Return the folder of the current run in a folder of runs, None where none was promoted or it is gone."""
    link = runs / CURRENT
    return link.resolve() if link.is_symlink() and link.is_dir() else None


def encoder_in_use(runs: Path) -> Path:
    """Return the encoder of the current run, or the one that was finished last where none was ever promoted.

    Args:
        runs: folder of runs.

    Raises:
        ModelError: when no run has an encoder yet.
    """
    current = current_run(runs)
    return latest_encoder(runs) if current is None else current / ENCODER


def promote(run: Path) -> None:
    """Make a run the current one of its folder of runs, in one step.

    Args:
        run: folder of the run.

    Raises:
        ModelError: when something that is no link has that name.
    """
    link = run.parent / CURRENT
    if link.exists() and not link.is_symlink():
        raise ModelError(f"{str(link)!r} is no link to a run, so it was not touched; rename it and promote again")
    temporary = run.parent / f".{CURRENT}.{uuid.uuid4().hex}"
    temporary.symlink_to(run.name, target_is_directory=True)
    temporary.replace(link)


def _judge(what: str, before: float, after: float, allowed: float) -> tuple[bool, str]:
    lost = 100 * (before - after)
    holds = lost <= allowed + 1e-9
    limit = "" if holds else f", more than the {allowed:g} points allowed"
    return holds, f"{what} {100 * before:.1f} → {100 * after:.1f}{limit}"
