"""The README.md of an encoder of aspects: what its similarity means, its training data, and its training."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.encoders.cards import LAST_KEPT, model_card
from training.encoders.settings import is_chosen, score_in_words
from training.markdown import table


def write_card(training: Mapping[str, Any]) -> str:
    """Return the model card of `training.json` as Markdown; an evaluation writes its scores into it."""
    return model_card(
        training,
        tag="aspectcse",
        title="Encoder of aspects",
        about=f"A text encoder trained like AspectCSE (Schopf et al. 2023): {_meaning(training['settings'])}",
        usage=_usage(training["routes"]),
        learns_from="texts with labels",
        chosen=_chosen(training),
        unit="texts",
        labels=_labels(training["labels"]),
    )


def _meaning(settings: Mapping[str, Any]) -> str:
    aspects = [f"`{aspect}`" for aspect in settings["aspects"]]
    listed = " and ".join(aspects)
    if settings["objective"] == "simcse":
        return "a baseline trained without labels (SimCSE): similarity means what the backbone makes of it."
    if settings["combine"] == "routes":
        return (
            f"the similarity of two texts is trained to be high if they share a label in one aspect; routes: {listed}."
        )
    how = {"intersection": "in each of the aspects", "union": "in any of the aspects"}
    where = f"{how[settings['combine']]} {listed}" if settings["combine"] else f"in the aspect {listed}"
    return f"the similarity of two texts is trained to be high if they share a label {where}."


def _usage(routes: Sequence[str]) -> str:
    task = f', task="{routes[0]}"' if routes else ""
    return f"""\
```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
embeddings = encoder.encode(["A maker of steel in Luxembourg.", "A bank in Luxembourg."]{task})
encoder.similarity(embeddings[0], embeddings[1])
```"""


def _labels(labels: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (
            aspect,
            counts["labels"],
            counts["texts"],
            f"{counts['rare_labels']} ({counts['rare_label_texts']} texts)",
            ", ".join(counts["held_out_labels"]) or "none",
        )
        for aspect, counts in labels.items()
    ]
    return table(("aspect", "labels", "texts with one", "too rare to learn from", "held out"), rows)


def _chosen(training: Mapping[str, Any]) -> str:
    dev = training["dev"]
    if dev is None:
        return "There were no dev texts to choose by."
    told = ", ".join(f"{score_in_words(name)} {value:.4f}" for name, value in dev.items())
    settings = training["settings"]
    chosen = f" Chosen by {score_in_words(settings['choose_by'])}." if is_chosen(settings) else f" {LAST_KEPT}."
    return f"On the dev texts, with up to ten neighbours each: {told}.{chosen}"
