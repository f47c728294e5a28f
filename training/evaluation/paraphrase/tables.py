"""What the suite of judged pairs found, as tables of text and in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.evaluation.measures import MEASURES
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
"""Measure → what tables call it."""


def paraphrase_tables(result: Mapping[str, Any]) -> list[ScoreTable]:
    """Return F1 beside that of the start model, all measures of both, and how true the probabilities are.

    Args:
        result: what `ParaphraseSuite` found.
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
    """Return what a reader must know before any number, a sentence each: pairs that chose something on themselves."""
    said = [
        tell_seen(result["seen"], result["split"], result["others"], chosen="on"),
        tell_chosen_by(result["chosen_by"]),
    ]
    same = [each["name"] for each in result["corpora"] if each["threshold_from"]["same"]]
    if same:
        said.append(
            f"Thresholds of {', '.join(same)} were chosen on the pairs that are scored: on others accuracy, F1 and "
            "MCC may be lower."
        )
    return [sentence for sentence in said if sentence]


def tell_pairs(result: Mapping[str, Any]) -> str:
    """Return how pairs were scored, and what could not be, a line each."""
    said = [*tell_seen_pairs(result), *(tell_threshold(each) for each in result["corpora"])]
    said += [sentence for each in result["corpora"] if (sentence := _tell_single(each))]
    return "\n".join([*said, *result["skipped"]])


def tell_threshold(each: Mapping[str, Any]) -> str:
    """Return by what a set was scored, and where its thresholds are from."""
    labels = each["labels"]
    what = (
        f"the classifier's probability of {labels['positive']!r}"
        if each["scored_by"] == "classifier"
        else "the cosine of the embeddings"
    )
    first = f"{each['name']}: by {what}, {_tell_from(each['threshold'], each['threshold_from'])}"
    if each["start_threshold_from"] is None:
        return f"{first}."
    return f"{first}; start model by its cosine, {_tell_from(each['start_threshold'], each['start_threshold_from'])}."


def _tell_from(value: float | None, chosen: Mapping[str, Any]) -> str:
    if value is None:
        return "without a threshold, as no dev pairs of both labels are scored so: what needs one is undefined"
    said = f"from {value:.3f}"
    if chosen["by"] == "half":
        return f"{said}, as no dev pairs of both labels are scored so"
    pairs = f"{chosen['pairs']:,} dev pairs"
    if chosen["by"] == "dev":
        return f"{said}, best on its {pairs}"
    return f"{said}, best on the {pairs} of {', '.join(chosen['corpora'])}, as it has none of both labels itself"


def _tell_single(each: Mapping[str, Any]) -> str:
    """Return what a reader must know of pairs that all have one label; nothing of others."""
    if 0 < each["positives"] < each["pairs"]:
        return ""
    label = each["labels"]["positive" if each["positives"] else "negative"]
    return (
        f"All {each['pairs']:,} pairs of {each['name']} have the label {label!r}: AP, MCC and AUROC, which compare two "
        "labels, are undefined."
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
    averages = result["averages"]
    if any(mean is not None for mean in averages.values()):
        for model in known:
            values = (UNDEFINED if (mean := averages[name]) is None else hundred(mean[model]) for name in MEASURES)
            rows.append((f"mean: {names[model]}", *values, ""))
    columns = ("judged pairs: model", *(SHORT[name] for name in MEASURES), "swapped")
    return ScoreTable("All measures × 100", columns, tuple(rows), _note_on_swaps(result["corpora"]))


def _probabilities(result: Mapping[str, Any]) -> list[ScoreTable]:
    """Return how true the probabilities of a classifier are; nothing where none was asked, or by an earlier version."""
    rows = [
        (each["name"], hundred(found["said"]), hundred(found["so"]), hundred(found["error"]))
        for each in result["corpora"]
        if (found := each.get("reliability"))
    ]
    columns = ("judged pairs", "said", "so", "error")
    title = "Probabilities of a paraphrase × 100"
    return [ScoreTable(title, columns, tuple(rows), tell_reliability(result))] if rows else []


def tell_reliability(result: Mapping[str, Any]) -> str:
    """Return what the numbers on probabilities mean, and what these were put right by.

    Args:
        result: what `ParaphraseSuite` found, with a classifier.
    """
    pairs = result["classifier"]["calibrated_by"]
    by = (
        f"They were put right by {pairs:,} dev pairs when the training ended."
        if pairs
        else "Nothing put them right, as there were too few dev pairs when the training ended."
    )
    return (
        "Said: their mean. So: share of paraphrases. Error: by how much the two differ, in the mean over pairs of like "
        f"probability (expected calibration error, {BINS} bins). {by}"
    )


def _has_start(each: Mapping[str, Any]) -> bool:
    return each["start_threshold_from"] is not None


def _note_on_swaps(corpora: Sequence[Mapping[str, Any]]) -> str:
    said = (
        "AP: average precision. MCC: Matthews' correlation. AUROC: how often a paraphrase stands above another pair. "
        "Swapped: share of the predictions that are others with the sentences swapped."
    )
    changed = [f"{each['name']} {each['changed']:,} of {each['pairs']:,}" for each in corpora if each["changed"]]
    return f"{said}\nOther predictions with the sentences swapped: {', '.join(changed)}." if changed else said


def tell_share(share: float | None) -> str:
    """Return a share in percent, a dash where it is undefined; some that rounds to none has more digits."""
    if share is None:
        return UNDEFINED
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else "< 0.1 %"
