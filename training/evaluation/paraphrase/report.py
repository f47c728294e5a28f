"""Results of the suite of judged pairs: tables, and the chapter of the report with curves and the worst mistakes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.pages import render, tell
from training.evaluation.bars import PAIRED, draw, tell_start, with_mean
from training.evaluation.figures import draw_precision, draw_reliability
from training.evaluation.measures import BINS, MEASURES, without_looking
from training.evaluation.seen import tell_chosen_by, tell_seen
from training.evaluation.suites import Chapter, Figure
from training.evaluation.tables import NOTES, UNDEFINED, Column, ScoreTable, count, hundred, lines, table

Row = Mapping[str, Any]
_SHORT = dict(zip(MEASURES, ("accuracy", "F1", "AP", "MCC", "AUROC"), strict=True))


WRONG = 5
"""Pairs shown per set for each kind of error."""
_POINTS = 200  # of a curve: more would not be visible


def tell_share(share: float | None) -> str:
    """Return a share in percent, a dash where it is undefined; "< 0.1 %" for one that would round to zero."""
    if share is None:
        return UNDEFINED
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else "< 0.1 %"


_COLUMNS = (
    Column("judged pairs", "name"),
    Column("pairs", "pairs", count),
    Column("positive", "positives", count),
    *PAIRED,
)
_ANSWERS = (
    Column("judged pairs: who answers", "name"),
    *(Column(short, name, hundred, higher=True) for name, short in _SHORT.items()),
    Column("swapped", "swapped", tell_share, higher=False, about="share that changes when the sentences are swapped"),
)
_PROBABILITIES = (
    Column("judged pairs", "name"),
    Column("predicted", "reliability.said", hundred),
    Column("observed", "reliability.so", hundred),
    Column("error", "reliability.error", hundred, higher=False),
)


def paraphrase_tables(result: Row) -> list[ScoreTable]:
    """Return F1 next to that of the start model, all measures of both, and the calibration of the probabilities."""
    sets = result["rows"]
    rows = with_mean(sets, result["mean"], f"mean of {len(sets)}")
    calibrated = [row for row in sets if row["reliability"]]
    caveats = [_tell_single(row) or tell_trivial(row) for row in sets]
    note = lines(*tell_seen_pairs(result), *map(tell_threshold, sets), *caveats, *result["skipped"])
    tables = [
        table("F1 × 100 of pairs that are paraphrases, at the thresholds below", _COLUMNS, rows, note),
        table("All measures × 100", _ANSWERS, _answers(sets), tell(NOTES, "answers", sets)),
    ]
    if calibrated:
        note = tell(NOTES, "reliability", result["classifier"]["calibrated_by"], BINS)
        tables.append(table("Probabilities of a paraphrase × 100", _PROBABILITIES, calibrated, note))
    return tables


def tell_seen_pairs(result: Row) -> list[str]:
    """Return caveats to read before any number, a sentence each: scored pairs that also chose a model or threshold."""
    sentences = [tell_seen(result), tell_chosen_by(result["chosen_by"])]
    same = [row["name"] for row in result["rows"] if row["thresholds"]["encoder"]["same"]]
    return [sentence for sentence in (*sentences, tell(NOTES, "same_pairs", same)) if sentence]


def tell_threshold(row: Row) -> str:
    """Return how a set was scored, and where its thresholds come from."""
    return tell(NOTES, "threshold", row)


def _tell_single(row: Row) -> str:
    """Return a caveat on pairs that all have one label; nothing for others."""
    return "" if 0 < row["positives"] < row["pairs"] else tell(NOTES, "single", row)


def tell_trivial(row: Row) -> str:
    """Return a caveat on an F1 or an accuracy to be had without looking at the pairs; nothing where both are above."""
    answers, clauses = _trivial(row), []
    for name in ("f1", "accuracy"):
        answer, value = max(
            ((answer, values[name] or 0.0) for answer, values in answers.items()), key=lambda entry: entry[1]
        )
        interval = row["scores"][name]["encoder_interval"]
        if interval is not None and interval["low"] <= value:
            above = f"{_SHORT[name]} is not clearly above that of calling {answer} a paraphrase ({hundred(value)})"
            clauses.append(above)
    return f"{row['name']}: {' and '.join(clauses)}; AP, MCC and AUROC say more here." if clauses else ""


def _trivial(row: Row) -> dict[str, dict[str, float | None]]:
    """Return answer → its measures, for the answers that take no look at the pairs of a set."""
    pairs, positives = row["pairs"], row["positives"]
    every, none = (without_looking(pairs, positives, positive=positive) for positive in (True, False))
    return {"every pair": every, "no pair": none, "most frequent label": every if 2 * positives >= pairs else none}


def _answers(sets: Sequence[Row]) -> list[Row]:
    of_sets: list[dict[str, Mapping[str, float | None]]] = []
    rows: list[Row] = []
    for row in sets:
        encoder, start = ({name: row["scores"][name][model] for name in MEASURES} for model in ("encoder", "start"))
        answers: dict[str, Mapping[str, Any]] = {"encoder, chosen threshold": {**encoder, "swapped": row["swapped"]}}
        if row["more_probable"]:
            answers["encoder, more probable label"] = row["more_probable"]
        if "start" in row["thresholds"]:
            answers["start model, chosen threshold"] = start
        of_sets.append(answers | _trivial(row))
        rows += [{**values, "name": f"{row['name']}: {who}"} for who, values in of_sets[-1].items()]
    for who in of_sets[0] if len(of_sets) > 1 else ():
        if all(who in answers for answers in of_sets):
            means = {name: _mean([answers[who][name] for answers in of_sets]) for name in MEASURES}
            rows.append({**means, "name": f"mean: {who}"})
    return rows


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if len(defined) == len(values) else None


def paraphrase_chapter(result: Row, pairs: pl.DataFrame) -> Chapter:
    """Return the chapter from the result of `ParaphraseSuite` and the scores and predictions of each pair."""
    sets = result["rows"]
    shown = []
    for row in sets:
        rows = pairs.filter(set=row["name"])
        wrong = {kind: _most_wrong(row, rows, row["labels"][kind]).to_dicts() for kind in ("positive", "negative")}
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


def _precision_curve(
    positive: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return recall and precision at each score, from the highest down, (n_points,) each; 200 points at most."""
    from sklearn.metrics import precision_recall_curve  # here, since its import takes a second

    # Without the last point, which has no threshold, and from the highest score down.
    precision, recall = (values[-2::-1] for values in precision_recall_curve(positive, scores)[:2])
    points = np.unique(np.linspace(0, len(recall) - 1, _POINTS).astype(int))
    return recall[points], precision[points]


def _most_wrong(row: Row, rows: pl.DataFrame, predicted: str) -> pl.DataFrame:
    """Return the pairs of a set that are wrongly given a label, those furthest beyond the threshold first."""
    wrong = rows.filter((pl.col("predicted") == predicted) & (pl.col("label") != predicted))
    by = ["score", "text_a", "text_b"]
    return wrong.sort(*by, descending=[predicted == row["labels"]["positive"], False, False]).head(WRONG)


def _curves(row: Row, rows: pl.DataFrame) -> list[str]:
    positive = (rows["label"] == row["labels"]["positive"]).to_numpy()
    if positive.all() or not positive.any():
        return []
    curves = {"encoder": _precision_curve(positive, rows["score"].to_numpy())}
    if not rows["start_score"].null_count():
        curves["start model"] = _precision_curve(positive, rows["start_score"].to_numpy())
    calibrated = [draw_reliability(row["reliability"]["bins"], row["name"])] if row["reliability"] else []
    return [draw_precision(curves, row["name"]), *calibrated]


def _figure(result: Row) -> Figure:
    sets = result["rows"]
    score = result["mean"] or (sets[0] if len(sets) == 1 else None)
    if score is None:
        return Figure("–", "mean F1 of paraphrases: one of the sets has none")
    measure = f"mean F1 of paraphrases over {len(sets)} sets" if len(sets) > 1 else f"F1 on {sets[0]['name']}"
    text = tell_start(score, f"{measure}.")
    if swapped := [row for row in sets if row["swapped"] is not None]:
        pairs, changed = (sum(row[counted] for row in swapped) for counted in ("pairs", "changed"))
        text += f" Swapping the sentences changes {tell_share(changed / pairs)} of the predictions."
    return Figure(hundred(score["encoder"]), text)
