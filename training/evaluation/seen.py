"""Whether an encoder has seen the data it is scored on, in words: such scores are higher than those on other pairs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from features.core.pages import tell
from features.corpora.reading import EvaluationPairs
from training.encoders.settings import BY_LOSS, is_chosen, score_in_words
from training.evaluation.tables import NOTES


def seen_part(training: Mapping[str, Any], split: str, corpora: Collection[str]) -> dict[str, Any] | None:
    """Return how a training, by its training.json, used a split of the pairs of some corpora."""
    settings = training.get("settings", {})
    names = settings.get("splits")
    if not names:
        return None
    learnt, dev = names
    by_dev = is_chosen(settings) and not training.get("chosen_by", {}).get("set")
    by_dev &= training.get("dev", {}) is not None  # else the last model was kept, as nothing on dev could be scored
    used = "chosen" if by_dev else "calibrated" if training.get("calibration") else ""
    for part, of_training, counts in (("learnt", learnt, "train"), (used, dev, "dev")):
        common = [
            name for name, entry in training.get("corpora", {}).items() if name in corpora and entry.get(counts, 0) > 0
        ]
        if split == of_training and common and part:
            return {"part": part, "corpora": common}
    return None


def sets_chosen_by(training: Mapping[str, Any], sets: "Sequence[EvaluationPairs]") -> list[str]:
    """Return which sets of human ratings chose the model, by its training.json, even if they have been renamed."""
    settings, chosen_by = training.get("settings", {}), training.get("chosen_by", {})
    if not chosen_by.get("set") or not is_chosen(settings):
        return []
    return [rated.name for rated in sets if chosen_by["set"] == rated.name or chosen_by["digest"] == rated.digest]


def tell_choice(training: Mapping[str, Any]) -> str:
    """Return how a training, by its training.json, chose the model that it kept; nothing where that is unknown."""
    settings, chosen_by = training.get("settings", {}), training.get("chosen_by", {})
    if not settings or "dev" not in training:
        return ""
    if not is_chosen(settings):
        return "nothing: the model of the last step was kept"
    kept = {"average": "average of models", "last": "last model"}.get(settings.get("loop", {}).get("keep", ""), "model")
    unit = next((entry.get("unit", "pairs") for entry in training.get("corpora", {}).values()), "pairs")
    score = score_in_words(settings.get("choose_by", BY_LOSS))
    return tell(NOTES, "choice", kept, settings.get("search"), chosen_by, training["dev"] is None, score, unit)


def tell_seen(result: Mapping[str, Any], *, unit: str = "pairs", chosen: str = "on") -> str:
    """Return a caveat on scores of data that the training used; nothing where it did not.

    A suite's result has what `seen_part` returns as `seen`, the `split`, and splits that the training did not use, with
    their sizes, as `others`; `chosen` says how the model was chosen on them.
    """
    return tell(NOTES, "seen", result, unit, chosen)


def uses_of(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return how a training used the data of any suite's result: learnt, chosen or calibrated, and on which part."""
    uses = [("chosen", name) for name in result.get("chosen_by", ())]
    if (seen := result.get("seen")) is not None:
        uses.append((seen["part"], f"the split {result['split']} of {', '.join(seen['corpora'])}"))
    return uses


def tell_source(source: Mapping[str, Any]) -> str:
    """Return where pairs come from, in words, from the `source` of their data."""
    return f"release {source['release']} of the store" if "release" in source else "an exported table"
