"""The encoder of aspects to train: the backbone with the chosen pooling, and a layer for each route.

    transformer ── pooling ──┬── country   linear layer, at first the identity     encode(texts, task="country")
                             └── industry  likewise                                normalisation, as in the backbone

It has only modules of sentence-transformers: plain `SentenceTransformer(folder)` loads it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.core.faults import BackboneUnfit
from training.encoders.aspect.settings import AspectSettings
from training.encoders.loading import load_encoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

# Their positions start after that of the padding.
_FROM_PADDING = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})


def start_model(folder: Path, settings: AspectSettings, routes: Sequence[str], device: str) -> "SentenceTransformer":
    """Return the encoder before training; each route, if there are any, gives the embeddings of the backbone."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Router
    from sentence_transformers.sentence_transformer.modules import Pooling

    model = load_encoder(folder, device=device)
    config: Any = getattr(model.transformers_model, "config", None)
    longest = int(getattr(config, "max_position_embeddings", None) or model.max_seq_length or 512)
    longest -= 2 if getattr(config, "model_type", "") in _FROM_PADDING else 0
    model.max_seq_length = min(settings.max_tokens, longest)
    modules = list(model)
    if settings.pooling is not None:
        places = [place for place, module in enumerate(modules) if isinstance(module, Pooling)]
        if not places:
            raise BackboneUnfit(
                f"the backbone {settings.backbone!r} has no pooling to replace by {settings.pooling!r}; leave "
                f"`pooling` of the encoder {settings.name!r} out"
            )
        modules[places[0]] = Pooling(modules[places[0]].embedding_dimension, pooling_mode=settings.pooling)
    if routes:
        width = int(model.get_embedding_dimension() or 0)
        router = Router({route: [_identity(width)] for route in routes}, default_route=routes[0])
        place = len(modules) - 1 if isinstance(modules[-1], Normalize) else len(modules)
        modules.insert(place, router)
    return SentenceTransformer(modules=modules, device=device)


def route_parameters(model: "SentenceTransformer") -> "dict[str, nn.Parameter]":
    """Make the layers of routes trainable and return their parameters; empty if there are no routes."""
    from sentence_transformers.base.modules import Router

    found: dict[str, nn.Parameter] = {}
    for module in model:
        if isinstance(module, Router):
            module.requires_grad_(requires_grad=True)
            found |= {f"routes.{name}": parameter for name, parameter in module.named_parameters()}
    return found


def _identity(width: int) -> Any:
    import torch
    from sentence_transformers.base.modules import Dense
    from torch import nn

    return Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width))
