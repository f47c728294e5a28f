"""Whether an encoder has seen what it is scored on, in words: such scores are better than those on other pairs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any


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
    # The last or averaged weights are not chosen, and others may be chosen by a set of ratings.
    by_loss = settings.get("loop", {}).get("keep", "best") == "best" and settings.get("choose_by", "loss") == "loss"
    for part, of_training, counts in (("learnt", learnt, "train"), ("chosen", dev, "dev")):
        common = [
            name for name, known in training.get("corpora", {}).items() if name in corpora and known.get(counts, 0) > 0
        ]
        if split == of_training and common and (part == "learnt" or by_loss):
            return {"part": part, "corpora": common}
    return None


def tell_seen(seen: Mapping[str, Any] | None, split: str, others: Mapping[str, int], unit: str = "pairs") -> str:
    """Return what a reader must know of scores on pairs that had a part in the training; nothing where they had none.

    Args:
        seen: as `seen_part` returns it.
        split: the pairs that are scored.
        others: split that had no part in the training → its pairs.
        unit: what is scored, in the plural.
    """
    if seen is None:
        return ""
    of = f"{split} {unit} of {_listed(seen['corpora'])}"
    said = (
        f"The encoder learnt from the {of}: these scores do not show how good it is on others."
        if seen["part"] == "learnt"
        else f"The model was chosen by its loss on the {of}: on {unit} that had no part in its training, its scores "
        "may be lower."
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
