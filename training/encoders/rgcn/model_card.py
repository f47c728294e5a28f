"""The README.md of an encoder with dependency trees: the structure it uses, its training data, and its training."""

from collections.abc import Mapping
from typing import Any

from training.encoders.cards import classifier_part, layer_of_words, pair_card
from training.types import USUAL_PARTS


def write_card(training: Mapping[str, Any]) -> str:
    """Return the model card of `training.json` as Markdown; an evaluation writes its scores into it."""
    graph = training["settings"]["graph"]
    return pair_card(
        training,
        tag="sbert-rgcn",
        title="SBERT-RGCN" if graph else "Twin of SBERT-RGCN without a graph",
        about=_about(training),
        analyses=f"parses with spaCy ({training['parser']['identity']})" if graph else None,
        lesson=_objective(training),
    )


def _about(training: Mapping[str, Any]) -> str:
    settings, parser = training["settings"], training["parser"]
    if not settings["graph"]:
        return (
            "The pooling of the backbone, and LayerNorm: trained like an SBERT-RGCN (Peng et al. 2021) but without its "
            "graph, for comparison."
        )
    edges = {"both": "in both directions", "down": "from heads to dependents", "up": "from dependents to heads"}
    relations = "a relation for each label" if settings["relations"] == "all" else "all labels as one relation"
    trees = "random trees instead of its parses" if settings["trees"] == "random" else "its dependency trees"
    layers = settings["graph_layers"]
    return (
        "A sentence embedding with syntax (Peng et al. 2021): LayerNorm of [pooling of the backbone; mean of the words"
        f"{layer_of_words(settings)} after {layers} graph convolution{'' if layers == 1 else 's'} over {trees}, "
        f"{edges[settings['direction']]}, "
        f"{relations}]. Parser: {parser['identity']}; {parser['trees']:,} of the {parser['sentences']:,} training "
        "sentences had a tree. A sentence without a tree is embedded from its word pieces alone."
    )


def _objective(training: Mapping[str, Any]) -> str:
    settings, pairs = training["settings"], training["pairs"]
    if settings["objective"] == "softmax":
        return classifier_part(training, usual=USUAL_PARTS)
    if settings["objective"] == "distillation":
        return "Trained to preserve the cosines of the start model; labels were not used."
    return (
        f"Multiple negatives: {pairs['train']:,} pairs with the label {settings['positive_label']}, of which "
        f"{pairs['with_hard']:,} have hard negatives, from pairs of the same sentence with the label "
        f"{settings['negative_label']}."
    )
