"""Parts of the model cards of all kinds of encoders: where the data come from, and the terms of their use."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.encoders.settings import is_chosen, score_in_words
from training.markdown import table
from training.modules.calibration import NEEDED, Calibration
from training.runs import flattened
from training.thresholds import LabelThreshold

_FRONT_MATTER = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags:
- facetflow
- {tag}
---"""
_TERMS = """\
The encoder was trained on these corpora; the terms of the strictest of them may apply to its use. The licence of the
backbone ({backbone}) is {licence}."""

LAST_KEPT = "The model of the last step was kept, whatever its dev score"
"""Start of a sentence on an encoder that dev did not choose."""

_SENTENCES = """\
embeddings = encoder.encode(["The dog chases the cat.", "The cat chases the dog."])
```"""
_ANALYSING = """\
```python
import facetflow

encoder = facetflow.load_encoder("path/to/this/folder")  # {analyses}
"""
_PLAIN = """\
```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
"""


def model_card(
    training: Mapping[str, Any],
    *,
    tag: str,
    title: str,
    about: str,
    usage: str,
    learns_from: str,
    chosen: str,
    unit: str = "pairs",
    labels: str = "",
    lesson: str = "",
) -> str:
    """Return a model card as Markdown, from the content of `training.json`; an evaluation writes its scores into it."""
    settings = training["settings"]
    layers = settings.get("layers")  # absent when all are kept
    kept = f"the first {'layer' if layers == 1 else f'{layers} layers'} of " if layers else ""
    corpora = [
        (name, counts["train"], counts["dev"], counts["licence"] or "not recorded; ask its source")
        for name, counts in training["corpora"].items()
    ]
    course = (
        f"{training['steps']} steps in {training['seconds']:.0f} s, {training['precision']} on {training['device']}; "
        f"the model of step {training['best_step']} was kept. {chosen} Start weights "
        f"`{training['backbone_digest'][:16]}`, data `{training['data_digest']}`."
    )
    parts = [
        _FRONT_MATTER.format(tag=tag),
        f"# {title}, from {kept}{settings['backbone']}",
        about,
        usage,
        "## Training data",
        _origin(training["source"], learns_from),
        table(("corpus", f"training {unit}", f"dev {unit}", "licence"), corpora),
        _TERMS.format(backbone=settings["backbone"], licence=training["backbone_licence"] or "not recorded"),
        labels,
        "## Training",
        lesson,
        course,
        _search(training["search"]) if "search" in training else "",
        table(("setting", "value"), [(name, f"`{value}`") for name, value in flattened(settings).items()]),
        "## Scores",
        "Not evaluated yet.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _origin(source: Mapping[str, Any], exported: str) -> str:
    if "release" not in source:
        return f"An exported table of {exported}, " + ", ".join(f"{k} `{v}`" for k, v in source.items()) + "."
    versions = ", ".join(f"{table} {version}" for table, version in source["versions"].items())
    return f"Release {source['release']} of a facetflow store; table versions: {versions}."


def _search(search: Mapping[str, Any]) -> str:
    chosen, tried = search["chosen"], search["tried"]
    measures = list(tried[0]["dev"])
    rows = [
        (
            *(f"{value:g}" for value in each["values"].values()),
            *(f"{each['dev'][measure]:.4f}" for measure in measures),
            each["best_step"],
            "this encoder" if each["values"] == chosen else "",
        )
        for each in tried
    ]
    said = "Several values were tried, each from the same start; the dev score decided."
    return f"{said}\n\n" + table((*chosen, *(f"dev {name}" for name in measures), "best step", ""), rows)


def pair_card(
    training: Mapping[str, Any], *, tag: str, title: str, about: str, analyses: str | None, lesson: str
) -> str:
    """Return the model card of an encoder trained on judged pairs; `analyses` is None for one that does not."""
    usage = (_PLAIN if analyses is None else _ANALYSING.format(analyses=analyses)) + _SENTENCES
    return model_card(
        training,
        tag=tag,
        title=title,
        about=about,
        usage=usage,
        learns_from="judged pairs",
        chosen=_chosen_by(training),
        lesson=lesson,
    )


def classifier_part(training: Mapping[str, Any], *, usual: Sequence[str]) -> str:
    """Return a few sentences on a classifier: its input (`usual` by default), labels, calibration, threshold."""
    settings = training["settings"]
    parts = settings.get("classifier", usual)
    order = "counts" if {"u", "v"} & set(parts) else "does not count"
    threshold = LabelThreshold.read(training["threshold"])
    chosen = f" With `facetflow predict --threshold dev`: {threshold.told}" if threshold else ""
    return (
        f"A classifier over [{'; '.join(parts)}] was trained with cross-entropy on the labels "
        f"{', '.join(settings['labels'])}; it is saved with the encoder (`classifier.safetensors`). The order of a "
        f"pair {order}. "
        f"{_told_calibration(training['calibration'])}{chosen}"
    )


def _told_calibration(recorded: Mapping[str, Any] | None) -> str:
    if recorded is None:
        return f"Its probabilities are not calibrated and may be too high or too low: calibration takes {NEEDED}."
    calibration = Calibration.read(recorded)
    return f"Its probabilities {calibration.told}. {calibration.doubt}".rstrip()


def layer_of_words(settings: Mapping[str, Any]) -> str:
    """Return a phrase that follows the noun and names the layer of the word vectors; empty for the last layer."""
    below = settings.get("words_below", 0)
    return f", from the layer {below} below the last one," if below else ""


def _chosen_by(training: Mapping[str, Any]) -> str:
    dev, ratings, settings = training["dev"], training["chosen_by"], training["settings"]
    if dev is None:
        return "There were no dev pairs to choose by."
    told = ", ".join(f"{score_in_words(name)} {value:.4f}" for name, value in dev.items())
    score = f"the dev {score_in_words(settings['choose_by'])}"
    if ratings["set"]:
        score = f"Spearman on the {ratings['pairs']:,} pairs of {ratings['set']}"
    return f"Chosen by {score}: {told}." if is_chosen(settings) else f"{LAST_KEPT}; its dev scores: {told}."
