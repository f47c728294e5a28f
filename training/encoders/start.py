"""Backbone of an encoder with modules of its own: one transformer and one pooling."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from features.core.faults import BackboneUnfit
from training.encoders.loading import load_encoder, transformer_folder

if TYPE_CHECKING:
    from torch import nn

    from training.encoders.settings import PairSettings
    from training.modules.structured_transformer import StructuredTransformer

TransformerT = TypeVar("TransformerT", bound="StructuredTransformer")


def transformer_and_pooling(folder: Path, settings: "PairSettings") -> "tuple[nn.Module, Any, int]":
    """Return the transformer of a backbone with the layers that it keeps, its pooling, and its maximum of tokens.

    A final normalisation is dropped: the modules that follow determine the length of embeddings.
    """
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.sentence_transformer.modules import Pooling

    from training.modules.layers import keep_layers

    plain = load_encoder(folder, device="cpu")
    first, *others = plain
    pooling = [module for module in others if isinstance(module, Pooling)]
    if len(pooling) != 1 or any(not isinstance(module, (Pooling, Normalize)) for module in others):
        made_of = ", ".join(type(module).__name__ for module in plain)
        raise BackboneUnfit(
            f"the backbone {settings.backbone!r} is made of {made_of}; an encoder of kind {settings.kind!r} needs one "
            "of a transformer and one pooling, such as all-MiniLM-L6-v2"
        )
    if settings.layers is not None:
        keep_layers(plain.transformers_model, settings.layers)
    return first, pooling[0], min(settings.max_tokens, int(plain.max_seq_length or settings.max_tokens))


def structured(kind: "type[TransformerT]", folder: Path, settings: "PairSettings", **options: Any) -> "TransformerT":
    """Return the transformer of a backbone, with the layers that it keeps, as one of a kind that adds a structure."""
    subfolder = transformer_folder(folder)
    options["words_below"] = settings.words_below
    transformer: TransformerT = kind.load(
        str(folder), subfolder=subfolder, local_files_only=True, init_defaults=options
    )
    if settings.layers is not None:
        transformer.keep_layers(settings.layers)
    return transformer
