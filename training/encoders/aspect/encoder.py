"""The encoder of aspects to train: the backbone with the chosen pooling, and a layer for each route.

    transformer ── pooling ──┬── country   linear layer, at first the identity     encode(texts, task="country")
                             └── industry  likewise                                normalisation, as in the backbone

Without routes there is such a layer only where no layer of the transformer is tuned. The encoder has only modules of
sentence-transformers: plain `SentenceTransformer(folder)` loads it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.core.faults import BackboneUnfit
from training.encoders.aspect.settings import AspectSettings
from training.encoders.loading import load_encoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

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
        positions = [position for position, module in enumerate(modules) if isinstance(module, Pooling)]
        if not positions:
            raise BackboneUnfit(
                f"the backbone {settings.backbone!r} has no pooling to replace by {settings.pooling!r}; leave "
                f"`pooling` of the encoder {settings.name!r} out"
            )
        modules[positions[0]] = Pooling(modules[positions[0]].embedding_dimension, pooling_mode=settings.pooling)
    if routes or not settings.layers_tuned:
        width = int(model.get_embedding_dimension() or 0)
        layers = {route: [_identity(width)] for route in routes}
        end = len(modules) - 1 if isinstance(modules[-1], Normalize) else len(modules)
        modules.insert(end, Router(layers, default_route=routes[0]) if routes else _identity(width))
    return SentenceTransformer(modules=modules, device=device)


def position_of_layers(model: "SentenceTransformer", settings: AspectSettings) -> int | None:
    """Return the position of the module with the linear layers; None if there are none."""
    from sentence_transformers.base.modules import Normalize

    if settings.combine != "routes" and settings.layers_tuned:
        return None
    return len(model) - (2 if isinstance(model[-1], Normalize) else 1)


def _identity(width: int) -> Any:
    import torch
    from sentence_transformers.base.modules import Dense
    from torch import nn

    return Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width))
