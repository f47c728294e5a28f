"""The chapter of the report on judged pairs: bars, numbers, curves, and the worst mistakes."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.page import folded
from training.evaluation.figures import draw_precision, draw_reliability
from training.evaluation.page import tables_html
from training.evaluation.paired import draw, tell
from training.evaluation.paraphrase.tables import (
    paraphrase_tables,
    tell_seen_pairs,
    tell_share,
    tell_threshold,
    tell_trivial,
)
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import hundred

WRONG = 5
"""Pairs shown per set for each kind of error."""
_POINTS = 200  # of a curve: more would not be visible
_ABOUT = (
    "How well paraphrases are distinguished from other pairs. A bar is the F1 of the predicted paraphrases; the "
    "thresholds are given below."
)


def paraphrase_chapter(result: Mapping[str, Any], table: pl.DataFrame) -> Chapter:
    """Return the chapter.

    Args:
        result: result of `ParaphraseSuite`.
        table: scores and predictions of each pair.
    """
    parts = []
    for each in result["corpora"]:
        rows = table.filter(corpus=each["name"])
        about = f"{tell_threshold(each)} {tell_trivial(each)}".rstrip()
        parts += [f"<h3>{escape(each['name'])}</h3>", f'<p class="quiet">{escape(about)}</p>']
        parts += [_curves(each, rows), _wrong(each, rows)]
    names = ", ".join(f"{each['name']} ({each['pairs']:,} pairs{_of_split(each)})" for each in result["corpora"])
    return Chapter(
        body=f"<p>{_ABOUT}</p>"
        + _chart(result)
        + folded("The numbers", tables_html(paraphrase_tables(result)))
        + "".join(parts),
        facts={"Judged pairs": names},
        warnings=tell_seen_pairs(result),
        figures=[_figure(result)],
        origin={f"pairs of {each['name']}": each["digest"] for each in result["corpora"]},
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


def most_wrong(each: Mapping[str, Any], rows: pl.DataFrame, predicted: str) -> pl.DataFrame:
    """Return the pairs that are wrongly given a label, those furthest beyond the threshold first.

    Args:
        each: the set.
        rows: scores and predictions of its pairs.
        predicted: the label.
    """
    wrong = rows.filter((pl.col("predicted") == predicted) & (pl.col("label") != predicted))
    by = ["score", "text_a", "text_b"]
    return wrong.sort(*by, descending=[predicted == each["labels"]["positive"], False, False]).head(WRONG)


def _of_split(each: Mapping[str, Any]) -> str:
    """Return the split of a set's pairs, as a phrase; nothing for an evaluation set."""
    return f" of {each['split']}" if each["split"] else ""


def _chart(result: Mapping[str, Any]) -> str:
    known = [
        (each["name"], f"{each['pairs']:,} pairs, {each['positives']:,} of them paraphrases", each["scores"]["f1"])
        for each in result["corpora"]
    ]
    if (mean := result["averages"]["f1"]) is not None:
        known.append(("mean", f"of {len(known)} sets", mean))
    return draw(known, "F1 × 100 of the paraphrases")


def _curves(each: Mapping[str, Any], rows: pl.DataFrame) -> str:
    positive = (rows["label"] == each["labels"]["positive"]).to_numpy()
    if positive.all() or not positive.any():
        return ""
    curves = {"encoder": precision_curve(positive, rows["score"].to_numpy())}
    if not rows["start_score"].null_count():
        curves["start model"] = precision_curve(positive, rows["start_score"].to_numpy())
    drawn = [draw_precision(curves, each["name"])]
    if found := each.get("reliability"):
        drawn.append(draw_reliability(found["bins"], each["name"]))
    plots = "".join(f'<div class="plot curve">{plot}</div>' for plot in drawn)
    return f'<div class="curves">{plots}</div>'


def _wrong(each: Mapping[str, Any], rows: pl.DataFrame) -> str:
    """Return the worst mistakes, collapsed."""
    what = "probability" if each["scored_by"] == "classifier" else "cosine"
    titles = {
        "positive": "Predicted as paraphrases, judged as not",
        "negative": "Judged as paraphrases, predicted as not",
    }
    cards = []
    for kind, title in titles.items():
        wrong = most_wrong(each, rows, each["labels"][kind])
        pairs = "".join(
            f'<div class="example"><p>{escape(row["text_a"])}</p><p>{escape(row["text_b"])}</p>'
            f'<p class="quiet">{what} {row["score"]:.3f}</p></div>'
            for row in wrong.iter_rows(named=True)
        )
        cards += [f"<h4>{title}</h4>{pairs}"] if pairs else []
    return folded(f"Worst mistakes, {each['name']}", "".join(cards)) if cards else ""


def _figure(result: Mapping[str, Any]) -> Figure:
    """Return the mean F1, or the only one, for the head of the report."""
    corpora = result["corpora"]
    score = result["averages"]["f1"] or (corpora[0]["scores"]["f1"] if len(corpora) == 1 else None)
    if score is None:
        return Figure("–", "mean F1 of paraphrases: one of the sets has none")
    of = (
        f"mean F1 of paraphrases over {len(corpora)} sets"
        if len(corpora) > 1
        else f"F1 on {escape(corpora[0]['name'])}"
    )
    said = f"{of}."
    if score["start"] is not None:
        said += f" Start model: {hundred(score['start'])}. This encoder relative to it: {tell(score)}."
    known = [each for each in corpora if each["swapped"] is not None]
    if known:
        pairs, changed = (sum(each[what] for each in known) for what in ("pairs", "changed"))
        said += f" Swapping the sentences changes {tell_share(changed / pairs)} of the predictions."
    return Figure(hundred(score["encoder"]), said)
