"""The README.md of an encoder with dependency trees: what it sees of a sentence, what it learnt from, and how."""

from collections.abc import Mapping
from typing import Any

from training.encoders.cards import chosen_by, classifier_part, course, data_parts, front_matter
from training.encoders.settings import USUAL_PARTS
from training.markdown import table
from training.runs import flattened

_WITH_GRAPH = """\
```python
import facetflow

encoder = facetflow.load_encoder("path/to/this/folder")  # parses by spaCy, with {parser}
embeddings = encoder.encode(["The dog chases the cat.", "The cat chases the dog."])
```"""
_WITHOUT_GRAPH = """\
```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
embeddings = encoder.encode(["The dog chases the cat.", "The cat chases the dog."])
```"""


def write_card(training: Mapping[str, Any]) -> str:
    """Return the model card as Markdown; an evaluation writes its scores into it.

    Args:
        training: content of `training.json`.
    """
    settings = training["settings"]
    parts = [
        front_matter("sbert-rgcn"),
        f"# {'SBERT-RGCN' if settings['graph'] else 'Twin of SBERT-RGCN without a graph'}, from {settings['backbone']}",
        _structure(training),
        _WITH_GRAPH.format(parser=training["parser"]["identity"]) if settings["graph"] else _WITHOUT_GRAPH,
        *data_parts(training, unit="pairs", exported="judged pairs"),
        "## Training",
        _objective(training),
        course(training, chosen_by(training)),
        table(("setting", "value"), [(name, f"`{value}`") for name, value in flattened(settings).items()]),
        "## Scores",
        "Not evaluated yet.",
    ]
    return "\n\n".join(parts) + "\n"


def _structure(training: Mapping[str, Any]) -> str:
    settings, parser = training["settings"], training["parser"]
    if not settings["graph"]:
        return (
            "The pooling of the backbone, and LayerNorm: trained as an SBERT-RGCN is (Peng et al. 2021), without its "
            "graph, to compare one with."
        )
    edges = {"both": "in both directions", "down": "from heads to dependents", "up": "from dependents to heads"}
    relations = "a relation for each label" if settings["relations"] == "all" else "all labels as one relation"
    trees = "trees drawn at random in place of its parses" if settings["trees"] == "random" else "its dependency trees"
    return (
        "A sentence embedding with syntax (Peng et al. 2021): LayerNorm of [pooling of the backbone; mean of the words "
        f"after {settings['graph_layers']} graph convolutions over {trees}, {edges[settings['direction']]}, "
        f"{relations}]. Parser: {parser['identity']}; of the {parser['sentences']:,} sentences that it learnt from "
        f"{parser['trees']:,} had a tree. A sentence without one is embedded by its word pieces alone."
    )


def _objective(training: Mapping[str, Any]) -> str:
    settings, pairs = training["settings"], training["pairs"]
    if settings["objective"] == "softmax":
        return classifier_part(settings, usual=USUAL_PARTS)
    if settings["objective"] == "distillation":
        return "The cosines of the start model were to be kept; labels were not looked at."
    return (
        f"Multiple negatives: {pairs['train']:,} pairs with the label {settings['positive_label']}, of which "
        f"{pairs['with_hard']:,} have hard negatives, what is a {settings['negative_label']} to the same sentence."
    )
