"""Results of the suite of judged pairs, as tables of text and in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from features.core.counting import all_of
from training.evaluation.measures import MEASURES, without_looking
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
    title = "F1 × 100 of pairs that are paraphrases, at the thresholds below"
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
        return f"{said}, best for F1 on its {pairs}"
    return f"{said}, best for F1 on the {pairs} of {', '.join(chosen['corpora'])}, because it has none with both labels"


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
    """Return a caveat on an F1 or an accuracy to be had without looking at the pairs; nothing where both are above."""
    answers, said = _trivial(each), []
    for name in ("f1", "accuracy"):
        answer, value = max(((answer, values[name] or 0.0) for answer, values in answers.items()), key=lambda of: of[1])
        interval = each["scores"][name]["encoder_interval"]
        if interval is not None and interval["low"] <= value:
            said.append(f"{SHORT[name]} is not clearly above that of calling {answer} a paraphrase ({hundred(value)})")
    return f"{each['name']}: {' and '.join(said)}; AP, MCC and AUROC say more here." if said else ""


def _trivial(each: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return answer → its measures, for the answers that take no look at the pairs of a set."""
    pairs, positives = each["pairs"], each["positives"]
    every, none = (without_looking(pairs, positives, positive=positive) for positive in (True, False))
    return {"every pair": every, "no pair": none, "most frequent label": every if 2 * positives >= pairs else none}


def _answers(each: Mapping[str, Any]) -> dict[str, Mapping[str, float | None]]:
    """Return who answers → the measures of the answers, in the order of the rows of a set."""
    encoder, start = ({name: each["scores"][name][model] for name in MEASURES} for model in ("encoder", "start"))
    probable = each["more_probable"]
    return {
        "encoder, chosen threshold": encoder,
        **({"encoder, more probable label": probable} if probable else {}),
        **({"start model, chosen threshold": start} if _has_start(each) else {}),
        **_trivial(each),
    }


def _all_measures(result: Mapping[str, Any]) -> ScoreTable:
    answers, rows = [_answers(each) for each in result["corpora"]], []
    for each, of_set in zip(result["corpora"], answers, strict=True):
        swaps = tell_share(each["swapped"]), *[""] * len(of_set)  # counted at the chosen threshold
        rows += [
            (f"{each['name']}: {who}", *(hundred(values[name]) for name in MEASURES), swapped)
            for (who, values), swapped in zip(of_set.items(), swaps, strict=False)
        ]
    for who in answers[0] if len(answers) > 1 else ():
        if all(who in of_set for of_set in answers):
            rows.append((f"mean: {who}", *(_mean([of_set[who][name] for of_set in answers]) for name in MEASURES), ""))
    columns = ("judged pairs: who answers", *(SHORT[name] for name in MEASURES), "swapped")
    return ScoreTable("All measures × 100", columns, tuple(rows), _note_on_answers(result["corpora"]))


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return hundred(sum(known) / len(known)) if len(known) == len(values) else UNDEFINED


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


def _note_on_answers(corpora: Sequence[Mapping[str, Any]]) -> str:
    said = (
        "Chosen threshold: that of the notes above. Every pair, no pair: all are called paraphrases, or none is; the "
        "most frequent label does one of these. AP: average precision. MCC: Matthews' correlation. AUROC: how often a "
        "paraphrase scores above another pair. Swapped: share of the predictions that change when the sentences are "
        "swapped."
    )
    if any(each.get("more_probable") for each in corpora):
        said += (
            "\nMore probable label: threshold .5, as in `facetflow predict`; with `--threshold dev` it takes the one "
            "with the best F1 on the dev pairs of the training."
        )
    changed = [f"{each['name']} {each['changed']:,} of {each['pairs']:,}" for each in corpora if each["changed"]]
    return f"{said}\nPredictions that change when the sentences are swapped: {', '.join(changed)}." if changed else said


def tell_share(share: float | None) -> str:
    """Return a share in percent, a dash where it is undefined; "< 0.1 %" for one that would round to zero."""
    if share is None:
        return UNDEFINED
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else "< 0.1 %"
