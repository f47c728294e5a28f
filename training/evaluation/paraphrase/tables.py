"""Results of the suite of judged pairs, as tables of text and in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from features.counting import all_of
from training.evaluation.measures import MEASURES, all_positive
from training.evaluation.paired import COLUMNS, cells
from training.evaluation.paraphrase.reliability import BINS
from training.evaluation.seen import tell_chosen_by, tell_seen
from training.evaluation.tables import UNDEFINED, ScoreTable, hundred

SHORT: Mapping[str, str] = {
    "accuracy": "accuracy",
    "f1": "F1",
    "average_precision": "AP",
    "mcc": "MCC",
    "auroc": "AUROC",
}
"""Measure → its name in tables."""


def paraphrase_tables(result: Mapping[str, Any]) -> list[ScoreTable]:
    """Return F1 next to that of the start model, all measures of both, and the calibration of the probabilities.

    Args:
        result: result of `ParaphraseSuite`.
    """
    rows = [
        (each["name"], f"{each['pairs']:,}", f"{each['positives']:,}", *cells(each["scores"]["f1"]))
        for each in result["corpora"]
    ]
    if (mean := result["averages"]["f1"]) is not None:
        rows.append((f"mean of {len(rows)}", "", "", *cells(mean)))
    columns = ("judged pairs", "pairs", "positive", *COLUMNS)
    title = "F1 × 100 of pairs that are paraphrases"
    return [
        ScoreTable(title, columns, tuple(rows), tell_pairs(result)),
        _all_measures(result),
        *_probabilities(result),
    ]


def tell_seen_pairs(result: Mapping[str, Any]) -> list[str]:
    """Return caveats to read before any number, a sentence each: scored pairs that also chose a model or threshold."""
    said = [
        tell_seen(result["seen"], result["split"], result["others"], chosen="on"),
        tell_chosen_by(result["chosen_by"]),
    ]
    same = [each["name"] for each in result["corpora"] if each["threshold_from"]["same"]]
    if same:
        said.append(
            f"Thresholds of {', '.join(same)} were chosen on the scored pairs themselves: on others accuracy, F1 and "
            "MCC may be lower."
        )
    return [sentence for sentence in said if sentence]


def tell_pairs(result: Mapping[str, Any]) -> str:
    """Return how pairs were scored, and what could not be scored, a line each."""
    said = [*tell_seen_pairs(result), *(tell_threshold(each) for each in result["corpora"])]
    said += [sentence for each in result["corpora"] if (sentence := _tell_single(each) or tell_trivial(each))]
    return "\n".join([*said, *result["skipped"]])


def tell_threshold(each: Mapping[str, Any]) -> str:
    """Return how a set was scored, and where its thresholds come from."""
    labels = each["labels"]
    what = (
        f"the classifier's probability of {labels['positive']!r}"
        if each["scored_by"] == "classifier"
        else "the cosine of the embeddings"
    )
    first = f"{each['name']}: scored by {what}, {_tell_from(each['threshold'], each['threshold_from'])}"
    if each["start_threshold_from"] is None:
        return f"{first}."
    return f"{first}; start model by its cosine, {_tell_from(each['start_threshold'], each['start_threshold_from'])}."


def _tell_from(value: float | None, chosen: Mapping[str, Any]) -> str:
    if value is None:
        return (
            "without a threshold, because no dev pairs with both labels have such scores: measures that need one are "
            "undefined"
        )
    said = f"threshold {value:.3f}"
    if chosen["by"] == "half":
        return f"{said}, because no dev pairs with both labels have such scores"
    pairs = f"{chosen['pairs']:,} dev pairs"
    if chosen["by"] == "dev":
        return f"{said}, best on its {pairs}"
    return f"{said}, best on the {pairs} of {', '.join(chosen['corpora'])}, because it has none with both labels"


def _tell_single(each: Mapping[str, Any]) -> str:
    """Return a caveat on pairs that all have one label; nothing for others."""
    if 0 < each["positives"] < each["pairs"]:
        return ""
    label = each["labels"]["positive" if each["positives"] else "negative"]
    have = "has" if each["pairs"] == 1 else "have"
    return (
        f"{all_of(each['pairs'], 'pair')} of {each['name']} {have} the label {label!r}: AP, MCC and AUROC, which "
        "compare two labels, are undefined."
    )


def tell_trivial(each: Mapping[str, Any]) -> str:
    """Return a caveat on an F1 that is to be had without looking at the pairs; nothing for others."""
    trivial, interval = all_positive(each["pairs"], each["positives"])["f1"], each["scores"]["f1"]["encoder_interval"]
    if trivial is None or interval is None or interval["low"] > trivial:
        return ""
    return (
        f"{each['name']}: F1 is not clearly above that of calling every pair a paraphrase ({hundred(trivial)}); AP, "
        "MCC and AUROC say more here."
    )


def _all_measures(result: Mapping[str, Any]) -> ScoreTable:
    known = ["encoder", "start"] if any(_has_start(each) for each in result["corpora"]) else ["encoder"]
    names = {"encoder": "encoder", "start": "start model"}
    rows = []
    for each in result["corpora"]:
        for model in known:
            changed = each["swapped"] if model == "encoder" else None
            values = (hundred(each["scores"][name][model]) for name in MEASURES)
            rows.append((f"{each['name']}: {names[model]}", *values, tell_share(changed) if model == "encoder" else ""))
        without = all_positive(each["pairs"], each["positives"])
        rows.append((f"{each['name']}: every pair", *map(hundred, without.values()), ""))
    averages = result["averages"]
    if any(mean is not None for mean in averages.values()):
        for model in known:
            values = (UNDEFINED if (mean := averages[name]) is None else hundred(mean[model]) for name in MEASURES)
            rows.append((f"mean: {names[model]}", *values, ""))
    columns = ("judged pairs: model", *(SHORT[name] for name in MEASURES), "swapped")
    return ScoreTable("All measures × 100", columns, tuple(rows), _note_on_swaps(result["corpora"]))


def _probabilities(result: Mapping[str, Any]) -> list[ScoreTable]:
    """Return the calibration of a classifier; nothing without one."""
    rows = [
        (each["name"], hundred(found["said"]), hundred(found["so"]), hundred(found["error"]))
        for each in result["corpora"]
        if (found := each.get("reliability"))
    ]
    columns = ("judged pairs", "predicted", "observed", "error")
    title = "Probabilities of a paraphrase × 100"
    return [ScoreTable(title, columns, tuple(rows), tell_reliability(result))] if rows else []


def tell_reliability(result: Mapping[str, Any]) -> str:
    """Return what the numbers on probabilities mean, and how the probabilities were calibrated.

    Args:
        result: result of `ParaphraseSuite`, with a classifier.
    """
    pairs = result["classifier"]["calibrated_by"]
    by = (
        f"They were calibrated on {pairs:,} dev pairs when the training ended."
        if pairs
        else "They were not calibrated, because there were too few dev pairs when the training ended."
    )
    return (
        "Predicted: mean probability. Observed: share of paraphrases. Error: mean difference of the two over pairs of "
        f"similar probability (expected calibration error, {BINS} bins). {by}"
    )


def _has_start(each: Mapping[str, Any]) -> bool:
    return each["start_threshold_from"] is not None


def _note_on_swaps(corpora: Sequence[Mapping[str, Any]]) -> str:
    said = (
        "Every pair: all are called paraphrases. AP: average precision. MCC: Matthews' correlation. AUROC: how often a "
        "paraphrase scores above another pair. Swapped: share of the predictions that change when the sentences are "
        "swapped."
    )
    changed = [f"{each['name']} {each['changed']:,} of {each['pairs']:,}" for each in corpora if each["changed"]]
    return f"{said}\nPredictions that change when the sentences are swapped: {', '.join(changed)}." if changed else said


def tell_share(share: float | None) -> str:
    """Return a share in percent, a dash where it is undefined; "< 0.1 %" for one that would round to zero."""
    if share is None:
        return UNDEFINED
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else "< 0.1 %"
