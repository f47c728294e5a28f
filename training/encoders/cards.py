"""Parts of the model cards of all kinds of encoders: where the data come from, and the terms of their use."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.encoders.settings import is_chosen, score_in_words
from training.markdown import table
from training.modules.calibration import NEEDED, Calibration
from training.runs import flattened
from training.thresholds import LabelThreshold

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


def pair_card(
    training: Mapping[str, Any], *, tag: str, title: str, structure: str, analyses: str | None, lesson: str
) -> str:
    """Return the model card of an encoder trained on judged pairs; an evaluation writes its scores into it.

    Args:
        training: content of `training.json`.
        tag: tag of the method on model hubs.
        title: title, to which the backbone is added.
        structure: the structure of a sentence that the encoder uses.
        analyses: how it analyses its input, and with what; None for an encoder that does not.
        lesson: its training objective.
    """
    settings = training["settings"]
    usage = _PLAIN if analyses is None else _ANALYSING.format(analyses=analyses)
    parts = [
        front_matter(tag),
        f"# {title}, from {layers_kept(settings)}{settings['backbone']}",
        structure,
        usage + _SENTENCES,
        *data_parts(training, unit="pairs", exported="judged pairs"),
        "## Training",
        lesson,
        course(training, chosen_by(training)),
        *closing_parts(settings),
    ]
    return "\n\n".join(parts) + "\n"


def closing_parts(settings: Mapping[str, Any]) -> list[str]:
    """Return the end of every card, as Markdown: all settings, and a placeholder for the scores."""
    rows = [(name, f"`{value}`") for name, value in flattened(settings).items()]
    return [table(("setting", "value"), rows), "## Scores", "Not evaluated yet."]


def front_matter(tag: str) -> str:
    """Return the front matter of a model card, which model hubs read.

    Args:
        tag: tag of the method.
    """
    return (
        f"---\nlibrary_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- facetflow\n- {tag}\n---"
    )


def data_parts(training: Mapping[str, Any], *, unit: str, exported: str) -> list[str]:
    """Return the paragraphs on the training data, as Markdown.

    Args:
        training: content of `training.json`.
        unit: unit of the counts: "pairs".
        exported: training data that are not from a release: "measured pairs".
    """
    settings = training["settings"]
    return [
        "## Training data",
        _origin(training["source"], exported),
        table(
            ("corpus", f"training {unit}", f"dev {unit}", "licence"),
            [
                (name, counts["train"], counts["dev"], counts["licence"] or "not recorded; ask its source")
                for name, counts in training["corpora"].items()
            ],
        ),
        _TERMS.format(backbone=settings["backbone"], licence=training["backbone_licence"] or "not recorded"),
    ]


def classifier_part(training: Mapping[str, Any], *, usual: Sequence[str]) -> str:
    """Return a few sentences on the classifier of an encoder: its input, labels, calibration and threshold.

    Args:
        training: content of `training.json`.
        usual: its input when the settings do not say.
    """
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


def layers_kept(settings: Mapping[str, Any]) -> str:
    """Return a phrase before the name of the backbone that says how many of its layers are kept; empty for all.

    Args:
        settings: of the encoder; `layers` is absent when all are kept.
    """
    layers = settings.get("layers")
    return f"the first {'layer' if layers == 1 else f'{layers} layers'} of " if layers else ""


def layer_of_words(settings: Mapping[str, Any]) -> str:
    """Return a phrase that follows the noun and names the layer of the word vectors; empty for the last layer.

    Args:
        settings: of the encoder; `words_below` is absent when it is 0.
    """
    below = settings.get("words_below", 0)
    return f", from the layer {below} below the last one," if below else ""


def chosen_by(training: Mapping[str, Any]) -> str:
    """Return a sentence on how the best model of an encoder trained on judged pairs was chosen.

    Args:
        training: content of `training.json`.
    """
    dev, ratings, settings = training["dev"], training["chosen_by"], training["settings"]
    if dev is None:
        return "There were no dev pairs to choose by."
    told = ", ".join(f"{score_in_words(name)} {value:.4f}" for name, value in dev.items())
    score = f"the dev {score_in_words(settings['choose_by'])}"
    if ratings["set"]:
        score = f"Spearman on the {ratings['pairs']:,} pairs of {ratings['set']}"
    return f"Chosen by {score}: {told}." if is_chosen(settings) else f"{LAST_KEPT}; its dev scores: {told}."


def course(training: Mapping[str, Any], chosen: str) -> str:
    """Return a few sentences on the course of the training, and the table of a search if there was one.

    Args:
        training: content of `training.json`.
        chosen: sentence on how the model was chosen.
    """
    said = (
        f"{training['steps']} steps in {training['seconds']:.0f} s, {training['precision']} on {training['device']}; "
        f"the model of step {training['best_step']} was kept. {chosen} Start weights "
        f"`{training['backbone_digest'][:16]}`, data `{training['data_digest']}`."
    )
    return f"{said}\n\n{_search(training['search'])}" if "search" in training else said


def _search(search: Mapping[str, Any]) -> str:
    """Return the results of a search as a table; the values of the encoder are marked."""
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


def _origin(source: Mapping[str, Any], exported: str) -> str:
    if "release" not in source:
        return f"An exported table of {exported}, " + ", ".join(f"{k} `{v}`" for k, v in source.items()) + "."
    versions = ", ".join(f"{table} {version}" for table, version in source["versions"].items())
    return f"Release {source['release']} of a facetflow store; table versions: {versions}."
