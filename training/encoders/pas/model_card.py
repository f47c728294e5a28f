"""The README.md of an encoder with predicate-argument spans: the structure it uses, and its training."""

from collections.abc import Mapping
from typing import Any

from training.encoders.cards import classifier_part, layer_of_words, pair_card

_DRAWN = {
    "tagged": "each argument with its predicate",
    "random": "random words, as many as in an argument and its predicate",
    "continuous": "random runs of words, as long as an argument and its predicate",
}
_WEIGHTS = {
    "learnt": "weighted by softmax(W h)",
    "by_role": "weighted by softmax(W h + b), b by the role of the argument",
    "equal": "all with the same weight",
}
_HARM = {"dropped": "were dropped", "moved": "had their argument moved to another place"}


def write_card(training: Mapping[str, Any]) -> str:
    """Return the model card of `training.json` as Markdown; an evaluation writes its scores into it."""
    tagger = training["tagger"]
    return pair_card(
        training,
        tag="pas-sbert",
        title="PAS-SBERT" if tagger else "Twin of PAS-SBERT without spans",
        about=_about(training),
        analyses=f"tags semantic roles, with {tagger['identity']}" if tagger else None,
        lesson=classifier_part(training, usual=()),
    )


def _about(training: Mapping[str, Any]) -> str:
    settings, tagger = training["settings"], training["tagger"]
    if not tagger:
        return (
            "The pooling of the backbone: trained like a PAS-SBERT (Peng et al. 2022) but without its spans, for "
            "comparison."
        )
    harmed = (
        f" {settings['harmed']:.0%} of the spans {_HARM[settings['harm']]}, to measure the cost of errors."
        if settings["harmed"]
        else ""
    )
    before = "[pooling of the backbone; sum of spans]" if settings["pooled"] else "the sum of spans"
    return (
        f"A sentence embedding with semantic roles (Peng et al. 2022): {before}. Spans are "
        f"{_DRAWN[settings['spans']]}; each is the mean of its word pieces{layer_of_words(settings) or ','} "
        f"{_WEIGHTS[settings['weights']]}.{harmed} "
        f"Tagger: {tagger['identity']} (digest `{tagger['weights'][:16]}`); of the {tagger['sentences']:,} training "
        f"sentences {tagger['tagged']:,} were tagged, and {tagger['with_spans']:,} had spans. A sentence without spans "
        "has the mean of its word pieces in their place."
    )
