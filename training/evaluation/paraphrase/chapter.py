"""The chapter of the report on judged pairs: bars, curves, and the worst mistakes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.pages import render
from training.evaluation.figures import draw_precision, draw_reliability
from training.evaluation.paired import draw, tell_start, with_mean
from training.evaluation.paraphrase.tables import tell_seen_pairs, tell_share, tell_threshold, tell_trivial
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import hundred

WRONG = 5
"""Pairs shown per set for each kind of error."""
_POINTS = 200  # of a curve: more would not be visible


def paraphrase_chapter(result: Mapping[str, Any], table: pl.DataFrame) -> Chapter:
    """Return the chapter.

    Args:
        result: result of `ParaphraseSuite`.
        table: scores and predictions of each pair.
    """
    sets = result["rows"]
    shown = []
    for row in sets:
        rows = table.filter(set=row["name"])
        wrong = {kind: most_wrong(row, rows, row["labels"][kind]).to_dicts() for kind in ("positive", "negative")}
        caveats = f"{tell_threshold(row)} {tell_trivial(row)}".rstrip()
        shown.append({"row": row, "about": caveats, "plots": _curves(row, rows), "wrong": wrong})
    names = [f"{row['name']} ({row['pairs']:,} pairs{row['split'] and ' of ' + row['split']})" for row in sets]
    about = [f"{row['pairs']:,} pairs, {row['positives']:,} of them paraphrases" for row in sets]
    bars = with_mean(sets, result["mean"], "mean")
    return Chapter(
        about="How well paraphrases are distinguished from other pairs. A bar is the F1 of the predicted paraphrases; "
        "the thresholds are given below.",
        charts={"": draw(bars, [*about, f"of {len(sets)} sets"][: len(bars)], "F1 × 100 of the paraphrases")},
        more=render("training.evaluation/paraphrase.html", sets=shown),
        facts={"Judged pairs": ", ".join(names)},
        warnings=tell_seen_pairs(result),
        figures=[_figure(result)],
        origin={f"pairs of {name}": digest for name, digest in result["data"].items()},
    )


def precision_curve(
    positive: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return recall and precision at each score, from the highest down, (n_points,) each; 200 points at most.

    Args:
        positive: whether each pair is positive, (n_pairs,); at least one is.
        scores: (n_pairs,).
    """
    from sklearn.metrics import precision_recall_curve  # here, since its import takes a second

    # Without the last point, which has no threshold, and from the highest score down.
    precision, recall = (values[-2::-1] for values in precision_recall_curve(positive, scores)[:2])
    points = np.unique(np.linspace(0, len(recall) - 1, _POINTS).astype(int))
    return recall[points], precision[points]


def most_wrong(row: Mapping[str, Any], rows: pl.DataFrame, predicted: str) -> pl.DataFrame:
    """Return the pairs of a set that are wrongly given a label, those furthest beyond the threshold first."""
    wrong = rows.filter((pl.col("predicted") == predicted) & (pl.col("label") != predicted))
    by = ["score", "text_a", "text_b"]
    return wrong.sort(*by, descending=[predicted == row["labels"]["positive"], False, False]).head(WRONG)


def _curves(row: Mapping[str, Any], rows: pl.DataFrame) -> list[str]:
    """Return the precision-recall curves of a set, and those of its probabilities where it has any."""
    positive = (rows["label"] == row["labels"]["positive"]).to_numpy()
    if positive.all() or not positive.any():
        return []
    curves = {"encoder": precision_curve(positive, rows["score"].to_numpy())}
    if not rows["start_score"].null_count():
        curves["start model"] = precision_curve(positive, rows["start_score"].to_numpy())
    calibrated = [draw_reliability(row["reliability"]["bins"], row["name"])] if row["reliability"] else []
    return [draw_precision(curves, row["name"]), *calibrated]


def _figure(result: Mapping[str, Any]) -> Figure:
    """Return the mean F1, or the only one, for the head of the report."""
    sets = result["rows"]
    score = result["mean"] or (sets[0] if len(sets) == 1 else None)
    if score is None:
        return Figure("–", "mean F1 of paraphrases: one of the sets has none")
    of = f"mean F1 of paraphrases over {len(sets)} sets" if len(sets) > 1 else f"F1 on {sets[0]['name']}"
    text = tell_start(score, f"{of}.")
    if swapped := [row for row in sets if row["swapped"] is not None]:
        pairs, changed = (sum(row[counted] for row in swapped) for counted in ("pairs", "changed"))
        text += f" Swapping the sentences changes {tell_share(changed / pairs)} of the predictions."
    return Figure(hundred(score["encoder"]), text)
