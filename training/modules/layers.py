"""The layers of a transformer, and the states of its word pieces that the structure uses."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from features.core.faults import ModelUnfit, WrongValue

WORDS = "word_embeddings"
"""Key of these states if they are not those of the last layer, (n_sentences, longest, d)."""


def words_of(features: Mapping[str, Any]) -> Tensor:
    """Return the states of the word pieces that the structure uses, (n_sentences, longest, d)."""
    states: Tensor = features.get(WORDS, features["token_embeddings"])
    return states


def find_attention(layers: nn.Module) -> list[nn.Module]:
    """Return the modules of layers whose only dropout is that of attention weights; empty if unknown."""
    return [module for module in layers.modules() if type(module).__name__.endswith("SelfAttention")]


def find_layers(transformer: nn.Module | None) -> nn.ModuleList:
    """Return the list of a transformer's layers, found by the length that its configuration gives."""
    count = getattr(getattr(transformer, "config", None), "num_hidden_layers", None)
    for module in transformer.modules() if transformer is not None else ():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise ModelUnfit(
        f"no list of layers found in a {type(transformer).__name__}, so its last layers cannot be tuned separately; "
        "choose a BERT-like backbone"
    )


def keep_layers(transformer: Any, count: int) -> None:
    """Remove all layers of a transformer except the first ones; a SettingsError if it has fewer."""
    layers = find_layers(transformer)
    if count > len(layers):
        raise WrongValue(f"layers is {count}, but the backbone has {len(layers)}: set it to at most {len(layers)}")
    del layers[count:]
    transformer.config.num_hidden_layers = count
