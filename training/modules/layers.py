"""The layers of a transformer, and the states of its word pieces that structure is made of."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from features.errors import ModelError

WORDS = "word_embeddings"
"""Key of these states where they are not the last ones, (n_sentences, longest, d)."""


def words_of(features: Mapping[str, Any]) -> Tensor:
    """Return the states of the pieces that structure is made of, (n_sentences, longest, d)."""
    found: Tensor = features.get(WORDS, features["token_embeddings"])
    return found


def find_attention(layers: nn.Module) -> list[nn.Module]:
    """Return the modules of layers that drop attention weights, and nothing else, while they train; none if unknown."""
    return [module for module in layers.modules() if type(module).__name__.endswith("SelfAttention")]


def find_layers(transformer: nn.Module | None) -> nn.ModuleList:
    """Return the list of a transformer's layers: the one that is as long as its configuration says."""
    count = getattr(getattr(transformer, "config", None), "num_hidden_layers", None)
    for module in transformer.modules() if transformer is not None else ():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise ModelError(
        f"the layers of a {type(transformer).__name__} were not found, so the last ones cannot be tuned alone; "
        "choose a BERT-like backbone"
    )
