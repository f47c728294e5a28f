"""Whether an encoder has seen what it is scored on, in words: such scores are better than those on other pairs."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from training.encoders.settings import BY_LOSS
from training.evaluation_sets import rating_digest

if TYPE_CHECKING:
    from features.corpora import EvaluationPairs


def seen_part(training: Mapping[str, Any], split: str, corpora: Collection[str]) -> dict[str, Any] | None:
    """Return which part a split of pairs had in a training.

    Args:
        training: content of training.json.
        split: the pairs that are scored.
        corpora: likewise.

    Returns:
        `part`, learnt or chosen, and `corpora`; None where the split had no part in the training.
    """
    settings = training.get("settings", {})
    names = settings.get("splits")
    if not names:
        return None
    learnt, dev = names
    by_dev = is_chosen(settings) and not training.get("chosen_by", {}).get("set")
    for part, of_training, counts in (("learnt", learnt, "train"), ("chosen", dev, "dev")):
        common = [
            name for name, known in training.get("corpora", {}).items() if name in corpora and known.get(counts, 0) > 0
        ]
        if split == of_training and common and (part == "learnt" or by_dev):
            return {"part": part, "corpora": common}
    return None


def is_chosen(settings: Mapping[str, Any]) -> bool:
    """Return whether a training chose among its models: all do but those that keep the last one."""
    return bool(settings.get("loop", {}).get("keep", "best") != "last")


def sets_chosen_by(training: Mapping[str, Any], sets: "Sequence[EvaluationPairs]") -> list[str]:
    """Return which sets of human ratings the model was chosen by, whatever they are called now.

    Args:
        training: content of training.json.
        sets: that are evaluated.
    """
    settings, chosen_by = training.get("settings", {}), training.get("chosen_by", {})
    if not chosen_by.get("set") or not is_chosen(settings):
        return []
    return [
        rated.name for rated in sets if chosen_by["set"] == rated.name or chosen_by["digest"] == rating_digest(rated)
    ]


def tell_choice(training: Mapping[str, Any]) -> str:
    """Return by what a training chose the model that it kept; nothing where that is not known.

    Args:
        training: content of training.json.
    """
    settings, chosen_by = training.get("settings", {}), training.get("chosen_by", {})
    if not settings or "dev" not in training:
        return ""
    if not is_chosen(settings):
        return "nothing, the model of the last step was kept"
    what = "average of models" if settings.get("loop", {}).get("keep") == "average" else "model"
    if chosen_by.get("set"):
        return f"its score on {chosen_by['set']} ({chosen_by['pairs']:,} rated pairs), the best {what} of all looks"
    unit = next((known.get("unit", "pairs") for known in training.get("corpora", {}).values()), "pairs")
    if training["dev"] is None:
        return f"nothing, there were no dev {unit}"
    return f"its {settings.get('choose_by', BY_LOSS)} on the dev {unit}, the best {what} of all looks"


def tell_seen(
    seen: Mapping[str, Any] | None,
    split: str,
    others: Mapping[str, int],
    *,
    unit: str = "pairs",
    chosen: str = "by its loss on",
) -> str:
    """Return what a reader must know of scores on data that had a part in the training; nothing where they had none.

    Args:
        seen: as `seen_part` returns it.
        split: what is scored.
        others: split that had no part in the training → how much it has.
        unit: what is scored, in the plural.
        chosen: how the model was chosen on them.
    """
    if seen is None:
        return ""
    of = f"{split} {unit} of {_listed(seen['corpora'])}"
    said = (
        f"The encoder learnt from the {of}: these scores do not show how good it is on others."
        if seen["part"] == "learnt"
        else f"The model was chosen {chosen} the {of}: on {unit} that had no part in its training, its scores may be "
        "lower."
    )
    if not others:
        return f"{said} There are no {unit} of another split to evaluate on."
    counted = ", ".join(f"{name} ({count:,} {unit})" for name, count in others.items())
    return f"{said} To evaluate on others: --split with {counted}."


def tell_chosen_by(sets: Sequence[str]) -> str:
    """Return what a reader must know where the model was chosen by a set of human ratings.

    Args:
        sets: those of the evaluated sets that it was chosen by.
    """
    if not sets:
        return ""
    return f"The model was chosen by its score on {_listed(sets)}: on other ratings it may do worse than that shows."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
